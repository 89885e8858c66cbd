package dataset

import (
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// Of 100 stored bytes: "1," is a number of four bytes; a byte of mail is up to three of UTF-8; idx and bvecs hold
// bytes; what is compressed is four times as large.
func TestDecodedBytes(t *testing.T) {
	for _, c := range []struct {
		format, compression, key string
		want                     int64
	}{
		{"tsv", "auto", "a.tsv", 100},
		{"csv", "auto", "a.csv", 200},
		{"csv", "auto", "a.csv.gz", 800},
		{"csv", "auto", "A.CSV.GZIP", 800},
		{"csv", "none", "a.csv.gz", 200},
		{"csv", "gzip", "a", 800},
		{"jsonl", "none", "a", 200},
		{"libsvm", "none", "a", 200},
		{"document", "none", "a", 100},
		{"mail", "none", "a", 300},
		{"idx", "none", "a", 400},
		{"bvecs", "none", "a", 400},
		{"fvecs", "none", "a", 100},
		{"ivecs", "none", "a", 100},
		{"npy", "none", "a", 100},
		{"npz", "none", "a", 400},
	} {
		in := protocol.Input{Format: c.format, Compression: c.compression}
		if got := DecodedBytes(&in, c.key, 100); got != c.want {
			t.Errorf("%s, compression %s, %s: %d, want %d", c.format, c.compression, c.key, got, c.want)
		}
	}
}

func TestCountsRows(t *testing.T) {
	for _, format := range protocol.Formats() {
		want := false
		switch format {
		case "idx", "npy", "npz", "fvecs", "bvecs", "ivecs":
			want = true
		}
		if got := CountsRows(format); got != want {
			t.Errorf("%s: %v", format, got)
		}
	}
}
