package dataset

import (
	"errors"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// What an object may decompress to goes by its stored size: up to 1 MiB freely, then 200 times the size, up to 1 TiB.
func TestBoundOfDecompression(t *testing.T) {
	const most = maxDecodedBytes / maxRatio
	for size, want := range map[int64]int64{
		1: 1 << 20, 5242: 1 << 20, 5243: 1_048_600, most: 200 * most, most + 1: 1 << 40, 1 << 62: 1 << 40,
	} {
		if got := decodedLimit(size); got != want {
			t.Errorf("%d stored bytes: %d, want %d", size, got, want)
		}
	}
}

// An object is read up to its bound, and not a byte further.
func TestGzipUpToItsBound(t *testing.T) {
	for blank, want := range map[int]bool{ratioFreeBytes - 4: true, ratioFreeBytes - 3: false} {
		data := zipped("a\tx\n" + strings.Repeat("\n", blank))
		got, err := readStore(storeOf(t, map[string]string{"f.gz": data}), testInput())
		var fault *protocol.Fault
		switch errors.As(err, &fault); {
		case want && (err != nil || len(got.Records) != 1):
			t.Errorf("%d bytes: %v, %v; want one record", 4+blank, got.Records, err)
		case !want && (fault == nil || fault.Code != protocol.CodeInputLimit ||
			*fault != *fault.WithOffset(ratioFreeBytes)):
			t.Errorf("%d bytes: %v, want INPUT_LIMIT at byte %d", 4+blank, err, ratioFreeBytes)
		}
	}
}
