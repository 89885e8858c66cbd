package dataset

import (
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// A vector may declare 1 to 2^31 - 1 numbers; max_record_bytes bounds the vectors that are read.
func TestWidthOfAVector(t *testing.T) {
	for data, c := range map[string]struct {
		code protocol.Code
		want string
	}{
		"\x01\x00\x00\x00\x07":         {},
		"\x00\x00\x00\x00":             {protocol.CodeBadRecord, "declares 0 numbers"},
		"\xff\xff\xff\x7f1234":         {protocol.CodeInputLimit, "2147483647 numbers, 2147483651 bytes"},
		"\x00\x00\x00\x801234":         {protocol.CodeBadRecord, "declares 2147483648 numbers"},
		"\x01\x00\x00\x00\x07\x01\x00": {protocol.CodeBadRecord, "rows have 5 bytes, and the last has 2"},
	} {
		rows, _, err := readFile(t, formatInput("bvecs", nil), map[string]string{"f": data})
		if c.code == "" && (err != nil || len(rows) != 1) || c.code != "" && !isFault(err, c.code, c.want) {
			t.Errorf("%x: %v, %v; want %s that says %q", data, rows, err, c.code, c.want)
		}
	}
}
