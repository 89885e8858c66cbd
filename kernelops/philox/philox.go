// Package philox draws random numbers that are functions of what they are for.
//
// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011, section 4.3) maps a 64-bit key and a 128-bit counter to 128 random
// bits. The key stands for (seed, purpose), the counter for an identity: a record, a round, an
// index. There is no state, so a draw cannot depend on which worker makes it, or when,
// or after which others.
//
// How names become words is part of the promise and does not change:
//
//	key     = first 8 bytes of SHA-256("gram/philox/key\x00" + seed as 8 bytes + purpose)
//	counter = (offset, first 8 bytes of SHA-256("gram/philox/object\x00" + object))
//
// all integers little endian. Distinct purposes give independent streams; a collision
// of two 64-bit hashes would make two of them equal, with probability n^2/2^65 among n.
package philox

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Key is the randomness of one purpose under one seed. Comparable; safe for concurrent use.
type Key struct{ k0, k1 uint32 }

// New returns the key for a seed and a purpose, such as "split" or "kmeans/init".
func New(seed uint64, purpose string) Key {
	b := binary.LittleEndian.AppendUint64([]byte("gram/philox/key\x00"), seed)
	k := hash(append(b, purpose...))
	return Key{uint32(k), uint32(k >> 32)}
}

// Uint64 returns 64 random bits for the identity (a, b), for instance (round, index).
func (k Key) Uint64(a, b uint64) uint64 {
	first, _ := k.Block(a, b)
	return first
}

// Float64 returns a number in [0, 1) with 53 random bits for the identity (a, b).
func (k Key) Float64(a, b uint64) float64 { return unit(k.Uint64(a, b)) }

// Block returns all 128 random bits for the identity (a, b); Uint64 is the first half.
func (k Key) Block(a, b uint64) (first, second uint64) {
	x := rounds([4]uint32{uint32(a), uint32(a >> 32), uint32(b), uint32(b >> 32)}, [2]uint32{k.k0, k.k1})
	return uint64(x[0]) | uint64(x[1])<<32, uint64(x[2]) | uint64(x[3])<<32
}

// Object returns the randomness of the records of one object. It hashes the name
// once, which costs more than the draws.
func (k Key) Object(name string) Object {
	return Object{k, hash(append([]byte("gram/philox/object\x00"), name...))}
}

// Float64At returns a number in [0, 1) with 53 random bits for the record of the named
// object whose first byte lies at offset.
func (k Key) Float64At(object string, offset int64) float64 {
	return k.Object(object).Float64(offset)
}

// Object is a key bound to an object's name. Safe for concurrent use.
type Object struct {
	key  Key
	name uint64
}

// Uint64 returns 64 random bits for the record at offset.
func (o Object) Uint64(offset int64) uint64 { return o.key.Uint64(uint64(offset), o.name) }

// Float64 returns a number in [0, 1) with 53 random bits for the record at offset.
func (o Object) Float64(offset int64) float64 { return unit(o.Uint64(offset)) }

// unit scales the upper 53 bits; both steps are exact.
func unit(u uint64) float64 { return float64(float64(u>>11) * 0x1p-53) }

func hash(b []byte) uint64 {
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:8])
}

// rounds is Philox4x32-10: ten rounds of two multiplications, with the key
// stepped by a Weyl sequence between them.
func rounds(c [4]uint32, k [2]uint32) [4]uint32 {
	const (
		m0 = 0xd2511f53
		m1 = 0xcd9e8d57
		w0 = 0x9e3779b9 // golden ratio
		w1 = 0xbb67ae85 // sqrt(3) - 1
	)
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	k0, k1 := k[0], k[1]
	for range 10 {
		hi0, lo0 := bits.Mul32(m0, c0)
		hi1, lo1 := bits.Mul32(m1, c2)
		c0, c1, c2, c3 = hi1^c1^k0, lo1, hi0^c3^k1, lo0
		k0 += w0
		k1 += w1
	}
	return [4]uint32{c0, c1, c2, c3}
}
