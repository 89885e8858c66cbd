package features

import (
	"encoding/binary"
	"math/bits"
)

// siphash is SipHash-2-4 of Aumasson and Bernstein ("SipHash: a fast short-input PRF", INDOCRYPT 2012, section 2): 64
// bits that nobody foretells without the key, so that no text is written to make its terms collide.
func siphash(key [2]uint64, b []byte) uint64 {
	v := [4]uint64{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
		key[1] ^ 0x7465646279746573}
	last := uint64(len(b)) << 56
	for ; len(b) >= 8; b = b[8:] {
		v = sipBlock(v, binary.LittleEndian.Uint64(b))
	}
	for i, c := range b {
		last |= uint64(c) << (8 * i)
	}
	v = sipBlock(v, last)
	v[2] ^= 0xff
	v = sipRound(sipRound(sipRound(sipRound(v))))
	return v[0] ^ v[1] ^ v[2] ^ v[3]
}

func sipBlock(v [4]uint64, m uint64) [4]uint64 {
	v[3] ^= m
	v = sipRound(sipRound(v))
	v[0] ^= m
	return v
}

func sipRound(v [4]uint64) [4]uint64 {
	v0, v1, v2, v3 := v[0], v[1], v[2], v[3]
	v0 += v1
	v2 += v3
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v1
	v0 += v3
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 = bits.RotateLeft64(v2, 32)
	return [4]uint64{v0, v1, v2, v3}
}
