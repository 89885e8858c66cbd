package objstore

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"strings"
)

// Digest is what a store says of all bytes of an object: an algorithm and its sum in hexadecimal, such as
// "md5:d41d8cd98f00b204e9800998ecf8427e". An empty one says nothing.
type Digest string

// nvme is the polynomial of the NVM Express specification, reversed, which S3 calls CRC64NVME.
var nvme = crc64.MakeTable(0x9a6c9329ac4bc9b5)

// algorithms are those of Digest, the first being the one that says most.
var algorithms = []struct {
	name string
	new  func() hash.Hash
}{
	{"sha256", sha256.New},
	{"sha1", sha1.New},
	{"md5", md5.New},
	{"crc64nvme", func() hash.Hash { return crc64.New(nvme) }},
	{"crc32c", func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }},
	{"crc32", func() hash.Hash { return crc32.NewIEEE() }},
}

// DigestAlgorithms are the algorithms of a Digest, the first being the one that says most.
func DigestAlgorithms() []string {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = a.name
	}
	return names
}

// Hash makes a hash of the digest's algorithm, whose sum must become sum.
func (d Digest) Hash() (h hash.Hash, sum []byte, err error) {
	name, text, _ := strings.Cut(string(d), ":")
	sum, err = hex.DecodeString(text)
	for _, a := range algorithms {
		if a.name != name {
			continue
		}
		if h = a.new(); err == nil && len(sum) == h.Size() {
			return h, sum, nil
		}
	}
	return nil, nil, fmt.Errorf("%.80q is not a digest such as md5:d41d8cd98f00b204e9800998ecf8427e", string(d))
}
