package dataset

import (
	"errors"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

func TestFirstInvalidByHand(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "ab": 2, "é": 2, "\xff": 0, "ab\xff": 2, "é\xc3": 2, "a\ufffd\xff": 4, "\ufffd": 3, "x\xe2\x82": 1,
	} {
		if got := firstInvalid([]byte(text)); got != want {
			t.Errorf("%q: byte %d, want %d", text, got, want)
		}
	}
}

// The hint of gzip is for an object that begins with gzip's magic bytes, not for a later line that does.
func TestHintOfGzip(t *testing.T) {
	for data, want := range map[string]string{
		"\x1f\x8b": hintGzip, "\x1f": hintRecord, "b": hintRecord, "a\tx\n\x1f\x8b": hintRecord,
	} {
		_, err := readStore(storeOf(t, map[string]string{"f": data + "\n"}), testInput())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Hint != want {
			t.Errorf("%q: %v, want the hint %q", data, err, want)
		}
	}
}
