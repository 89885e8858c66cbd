package protocol

import (
	"encoding/json"
	"strings"
	"testing"
)

// A column is a number from 1, or a name; both are written as they were read.
func TestColumnsAreReadAndWritten(t *testing.T) {
	for text, want := range map[string]Column{
		"null": {}, "1": {Number: 1}, "1048576": {Number: 1 << 20}, `"a b"`: {Name: "a b"}, `"1"`: {Name: "1"},
	} {
		var c Column
		if err := json.Unmarshal([]byte(text), &c); err != nil || c != want {
			t.Errorf("%s: %+v (%v), want %+v", text, c, err, want)
		}
		if again, err := json.Marshal(c); err != nil || string(again) != text {
			t.Errorf("%+v is written %s (%v), want %s", c, again, err, text)
		}
	}
	for text, says := range map[string]string{
		"0": "from 1 to 1048576", "-1": "from 1", "1048577": "from 1", "1.5": "not 1.5", "[1]": "from 1", `""`: "empty",
	} {
		var c Column
		if err := json.Unmarshal([]byte(text), &c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	for c, want := range map[Column]string{{Number: 3}: "3", {Name: `a"b`}: `"a\"b"`} {
		if c.String() != want {
			t.Errorf("%v, want %s", c, want)
		}
	}
}

// Whole numbers are kept to the byte up to the largest, in every unit; fractions are cut to a byte.
func TestParseByteSize(t *testing.T) {
	for text, want := range map[string]ByteSize{
		"0": 0, "0.0": 0, "0KiB": 0, "524288": 524288, "7B": 7, "512KiB": 512 << 10,
		"2 MB": 2e6, " 3 GiB ": 3 << 30, "1TiB": 1 << 40,
		"2kB": 2000, "2KB": 2000, "3GB": 3e9, "4TB": 4e12, "1.5KiB": 1536, "0.1KiB": 102, "1e3": 1000,
		"9007199254740993":    1<<53 + 1, // which float64 does not have
		"9223372036854775807": 1<<63 - 1, "9007199254740991KiB": 1<<63 - 1<<10,
	} {
		if got, err := ParseByteSize(text); err != nil || got != want {
			t.Errorf("%q: %d (%v), want %d", text, int64(got), err, int64(want))
		}
	}
	for _, text := range []string{
		"", "KiB", "many", "1XB", "-1", "-0.5KiB", "NaN", "Inf", "1e19",
		"9223372036854775808", "9007199254740992KiB", "9007199254740991.5KiB", "8388608TiB",
	} {
		if got, err := ParseByteSize(text); err == nil || !strings.Contains(err.Error(), "count of bytes") {
			t.Errorf("%q passes as %d (%v)", text, int64(got), err)
		}
	}
}

// In a spec a size ends at 2^53, which every reader of JSON keeps whole.
func TestByteSizesOfASpec(t *testing.T) {
	for text, want := range map[string]ByteSize{
		"9007199254740992": 1 << 53, `"8192TiB"`: 1 << 53, `"1.5MiB"`: 3 << 19, "0": 0,
	} {
		var got ByteSize
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %d (%v), want %d", text, int64(got), err, int64(want))
		}
	}
	for text, says := range map[string]string{
		"9007199254740993": "at most 2^53", `"8193TiB"`: "at most 2^53",
		"-1": "count of bytes", `"x"`: "count of bytes", "true": "count of bytes",
	} {
		var got ByteSize
		if err := json.Unmarshal([]byte(text), &got); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %d (%v), want %q", text, int64(got), err, says)
		}
	}
}

func TestByteSizesAreShownInTheLargestUnit(t *testing.T) {
	for size, want := range map[ByteSize]string{
		0: "0B", 1: "1B", 1023: "1023B", 1 << 10: "1KiB", 1536: "1536B", 1<<20 + 1<<10: "1025KiB",
		64 << 20: "64MiB", 3 << 30: "3GiB", 1 << 40: "1TiB", 1 << 50: "1024TiB", 1e6: "1000000B",
	} {
		if got := size.String(); got != want {
			t.Errorf("%d: %s, want %s", int64(size), got, want)
		}
		if again, err := ParseByteSize(want); err != nil || again != size {
			t.Errorf("%s is read as %d (%v), want %d", want, int64(again), err, int64(size))
		}
	}
}

// Names have to be equal; numbers may be others, but ascend alike.
func TestSameColumnsByHand(t *testing.T) {
	a, b := Column{Name: "a"}, Column{Name: "b"}
	one, two, three := Column{Number: 1}, Column{Number: 2}, Column{Number: 3}
	for i, c := range []struct {
		x, y []Column
		same bool
	}{
		{nil, nil, true}, {[]Column{a}, nil, false}, {[]Column{a, b}, []Column{a, b}, true},
		{[]Column{a, b}, []Column{b, a}, false}, {[]Column{one, two}, []Column{two, three}, true},
		{[]Column{one, two}, []Column{three, two}, false}, {[]Column{one}, []Column{a}, false},
		{[]Column{a, two}, []Column{a, one}, true},
	} {
		if got := SameColumns(c.x, c.y); got != c.same {
			t.Errorf("%d: %v and %v: %v", i, c.x, c.y, got)
		}
	}
}
