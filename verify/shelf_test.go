package verify

import (
	"os"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// What does not fit into memory comes back from files, the same to the bit; slots are replaced and emptied, and nothing
// stays behind.
func TestShelf(t *testing.T) {
	text := func(s string) jobs.Arrays {
		a := jobs.Arrays{}
		a.PutText("text", s)
		return a
	}
	s := newShelf(text("one").EncodedSize())
	want := map[slot]string{{"p", 0, 1}: "one", {"p", 0, 2}: "two", {"q", 0, 1}: "six", {"", 3, -1}: "ten"}
	for at, x := range want { // the same in any order, whichever is in memory
		if err := s.put(at, text("old")); err != nil {
			t.Fatal(err)
		}
		if err := s.put(at, text(x)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.kept) != 1 || len(s.files) != 3 {
		t.Errorf("%d in memory, %d in files", len(s.kept), len(s.files))
	}
	for at, x := range want {
		got, err := s.get(at)
		if err != nil || got.Digest() != text(x).Digest() {
			t.Errorf("%v: %v, %v", at, got, err)
		}
		if err := s.put(at, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := s.get(at); got != nil || err != nil {
			t.Errorf("%v stays: %v", at, err)
		}
	}
	left, err := os.ReadDir(s.dir)
	if err != nil || len(left) > 0 || s.held != 0 {
		t.Errorf("%v files and %d bytes are left, %v", left, s.held, err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("the folder stays: %v", err)
	}
}
