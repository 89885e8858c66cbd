package objstore_test

import (
	"encoding/hex"
	"testing"

	"github.com/gram-compute/gram/objstore"
)

// The sums of "123456789" are those of the algorithms' definitions and of the catalogue of parametrised CRCs.
func TestDigestsByHand(t *testing.T) {
	known := map[string]string{
		"md5":       "25f9e794323b453885f5181f1b624d0b",
		"sha1":      "f7c3bc1d808e04732adf679965ccc34ca7ae3441",
		"sha256":    "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
		"crc32":     "cbf43926",
		"crc32c":    "e3069283",
		"crc64nvme": "ae8b14860a799888",
	}
	for _, name := range objstore.DigestAlgorithms() {
		h, want, err := objstore.Digest(name + ":" + known[name]).Hash()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		h.Write([]byte("123456789"))
		if got := hex.EncodeToString(h.Sum(nil)); got != hex.EncodeToString(want) || got != known[name] {
			t.Errorf("%s: %s, want %s", name, got, known[name])
		}
	}
	for _, bad := range []objstore.Digest{"", "md5", "md5:", "md5:zz", "md5:25f9",
		"crc32:25f9e794323b453885f5181f1b624d0b", "none:00"} {
		if _, _, err := bad.Hash(); err == nil {
			t.Errorf("%q is taken for a digest", bad)
		}
	}
}
