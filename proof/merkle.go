package proof

import (
	"crypto/sha256"
	"math/bits"
)

// Prefixes of what is hashed, so that a leaf is never taken for a node (RFC 6962, section 2.1).
const (
	leafPrefix = 0x00
	nodePrefix = 0x01
)

// Root returns the Merkle tree hash over the list (RFC 6962, section 2.1): linear time, one hash for each entry and
// each pair. That of an empty list is the SHA-256 of nothing.
func Root(list []Digest) Digest {
	switch len(list) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return sha256.Sum256(append([]byte{leafPrefix}, list[0][:]...))
	}
	half := 1 << (bits.Len(uint(len(list)-1)) - 1) // the largest power of two below the length
	left, right := Root(list[:half]), Root(list[half:])
	return sha256.Sum256(append(append([]byte{nodePrefix}, left[:]...), right[:]...))
}
