package dataset

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gram-compute/gram/protocol"
)

// Fewer bytes than requested are a fault that names the missing number; more are not read.
func TestExactReaderByHand(t *testing.T) {
	broken := errors.New("connection reset")
	for _, c := range []struct {
		body io.Reader
		want string // of the error
	}{
		{strings.NewReader("012"), ""},
		{strings.NewReader("0123"), ""},
		{iotest.DataErrReader(strings.NewReader("012")), ""},
		{strings.NewReader("01"), "the store ended the object 1 bytes early"},
		{io.MultiReader(strings.NewReader("01"), iotest.ErrReader(broken)), broken.Error()},
	} {
		r := &exactReader{body: io.NopCloser(c.body), left: 3, object: "f"}
		data, err := io.ReadAll(r)
		switch {
		case c.want == "" && (err != nil || string(data) != "012"):
			t.Errorf("%q, %v; want 012", data, err)
		case c.want != "" && !isFault(err, protocol.CodeStore, c.want):
			t.Errorf("%q, %v; want STORE that says %q", data, err, c.want)
		case errors.Is(err, broken) && strings.Contains(err.Error(), "early"):
			t.Errorf("a broken connection is said to be an early end: %v", err)
		}
	}
}

// Every read of an object in ranges returns bytes or an error.
func TestPieceReaderByHand(t *testing.T) {
	store := storeOf(t, map[string]string{"f": "0123456789"})
	info, err := store.Stat(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	obj := pinned{store: store, key: "f", obj: Object{Key: "f", Size: 10, ETag: info.ETag}}
	for end := int64(3); end <= 10; end++ {
		r, all, buf := newPieceReader(t.Context(), obj, 2, end), "", make([]byte, 4)
		n, err := 0, error(nil)
		for err == nil {
			if n, err = r.Read(buf); n == 0 && err == nil {
				t.Errorf("up to %d: a read without bytes or an error", end)
			}
			all += string(buf[:n])
		}
		if err != io.EOF || all != "23456789" || r.Close() != nil {
			t.Errorf("up to %d: %q, %v", end, all, err)
		}
	}
}
