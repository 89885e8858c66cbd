package dataset

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// linesOf reads all lines, and copies their texts.
func linesOf(t *testing.T, l *lines) (all []line) {
	t.Helper()
	for {
		ln, ok, err := l.wait()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return all
		}
		ln.text = slices.Clone(ln.text)
		all = append(all, ln)
	}
}

func sameLine(a, b line) bool {
	return string(a.text) == string(b.text) && a.off == b.off && a.number == b.number && a.long == b.long
}

// A line may have max bytes. One with more is long, whether it fits the buffer or not, and counts as a line.
func TestLinesByHand(t *testing.T) {
	text := func(text string, off, number int64) line { return line{text: []byte(text), off: off, number: number} }
	long := func(off, number int64) line { return line{off: off, number: number, long: true} }
	digits := strings.Repeat("1", 99)
	for _, c := range []struct {
		name, data string
		quoted     bool
		want       []line
	}{
		{"up to max", "1234\nx\n1234", false, []line{text("1234", 0, 1), text("x", 5, 2), text("1234", 7, 3)}},
		{"one more", "12345\nx\n12345", false, []line{long(0, 1), text("x", 6, 2), long(8, 3)}},
		{"far more", digits + "\nx\n", false, []line{long(0, 1), text("x", 100, 2)}},
		{"a line, and far more", "ab\n" + digits + "\nx\n", false,
			[]line{text("ab", 0, 1), long(3, 2), text("x", 103, 3)}},
		{"LF in quotes", "\"\n\"\nx\n", true, []line{text("\"\n\"", 0, 1), text("x", 4, 3)}},
	} {
		for size := 1; size <= 16; size++ {
			l := newLines(strings.NewReader(c.data), make([]byte, size), 0, int64(len(c.data)), 4)
			l.quoted = c.quoted
			if got := linesOf(t, l); !slices.EqualFunc(got, c.want, sameLine) {
				t.Errorf("%s, a buffer of %d: %+v, want %+v", c.name, size, got, c.want)
			}
		}
	}
}

// The last line that begins before the end is read to its own end; one that begins at the end is not.
func TestLinesBeginBeforeTheEnd(t *testing.T) {
	for end, want := range map[int64]int{0: 0, 1: 1, 3: 1, 4: 2, 5: 3, 7: 3, 8: 4, 9: 4} {
		if got := linesOf(t, newLines(strings.NewReader("12\n\n34\n5\n"), make([]byte, 2), 0, end, 4)); len(
			got) != want {
			t.Errorf("end at %d: %+v, want %d", end, got, want)
		}
	}
}

// If a line ends at the end, nothing beyond is read.
func TestLinesThatEndAtTheEnd(t *testing.T) {
	for size := 1; size <= 16; size++ {
		in := io.MultiReader(strings.NewReader("ab\n012345\n"), iotest.ErrReader(errors.New("read beyond the end")))
		if got := linesOf(t, newLines(in, make([]byte, size), 0, 10, 16)); len(got) != 2 ||
			string(got[1].text) != "012345" {
			t.Errorf("a buffer of %d: %+v", size, got)
		}
	}
}

// A long line that goes on beyond the end is not read beyond it.
func TestLongLineIsReadToTheEndAlone(t *testing.T) {
	beyond := errors.New("read beyond the end")
	in := io.MultiReader(strings.NewReader("0123456789"), iotest.ErrReader(beyond))
	l := newLines(in, make([]byte, 4), 0, 10, 4)
	if got := linesOf(t, l); len(got) != 1 || !got[0].long {
		t.Errorf("%+v, want one long line", got)
	}
}
