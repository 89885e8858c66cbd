package dataset

import (
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// A header may declare rows of up to 2^32 numbers; max_record_bytes bounds the rows that are read.
func TestDeclaredRows(t *testing.T) {
	for data, code := range map[string]protocol.Code{
		"\x00\x00\x08\x03\x00\x00\x00\x01\x00\x01\x00\x00\x00\x01\x00\x00": protocol.CodeInputLimit, // 2^32 bytes
		"\x00\x00\x08\x03\x00\x00\x00\x01\x00\x01\x00\x00\x00\x01\x00\x01": protocol.CodeBadRecord,  // 2^16 more
		"\x00\x00\x08\x02\x00\x00\x00\x01\x00\x00\x00\x00":                 protocol.CodeBadRecord,  // no numbers
	} {
		if _, _, err := readFile(t, formatInput("idx", nil), map[string]string{"f": data}); !isCode(err, code) {
			t.Errorf("% x: %v, want %s", data, err, code)
		}
	}
}
