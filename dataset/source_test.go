package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// record is what a reader says of one line, good or skipped.
type record struct {
	ID          Identity
	Label, Text string
}

// reading is a whole reading of shards.
type reading struct {
	Records []record
	Skipped []Skip
}

func readAll(ctx context.Context, s *Source, shards []Shard) (reading, error) {
	var r reading
	for _, shard := range shards {
		for b, err := range s.Blocks(ctx, shard) {
			if err != nil {
				return r, err
			}
			if len(b.Labels) != len(b.IDs) || len(b.Texts) != len(b.IDs) {
				return r, fmt.Errorf("a block of %d labels, %d texts, %d ids", len(b.Labels), len(b.Texts), len(b.IDs))
			}
			if n := len(b.IDs) + len(b.Skipped); n == 0 || n > blockRecords {
				return r, fmt.Errorf("a block of %d records", n)
			}
			for i, id := range b.IDs {
				r.Records = append(r.Records, record{id, string(b.Labels[i]), string(b.Texts[i])})
			}
			r.Skipped = append(r.Skipped, b.Skipped...)
		}
	}
	return r, nil
}

// testInput is label in column 1, text in column 2.
func testInput() protocol.Input {
	spec := protocol.JobSpec{Spec: protocol.Spec{Input: protocol.Input{URI: "mem://test/", Format: "tsv",
		Label: protocol.Column{Number: 1}, Text: protocol.Column{Number: 2}}}}
	return spec.WithDefaults().Spec.Input
}

// open lists everything in the store, cuts it and makes a source.
func open(store *datasettest.Store, in protocol.Input) (*Source, []Shard, error) {
	m, err := List(context.Background(), store, "mem://test/", "")
	if err != nil {
		return nil, nil, err
	}
	shards, err := Cut(m, int64(in.ShardBytes), in.Compression)
	if err != nil {
		return nil, nil, err
	}
	s, err := NewSource(store, "", m, in)
	return s, shards, err
}

func readStore(store *datasettest.Store, in protocol.Input) (reading, error) {
	s, shards, err := open(store, in)
	if err != nil {
		return reading{}, err
	}
	return readAll(context.Background(), s, shards)
}

func storeOf(t testing.TB, objects map[string]string) *datasettest.Store {
	t.Helper()
	store := &datasettest.Store{}
	for key, data := range objects {
		if _, err := store.Put(t.Context(), key, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// zipped compresses; nothing in it can fail.
func zipped(data string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, write := w.Write([]byte(data))
	if err := errors.Join(write, w.Close()); err != nil {
		panic(err)
	}
	return out.String()
}

func isCode(err error, code protocol.Code) bool {
	var fault *protocol.Fault
	return errors.As(err, &fault) && fault.Code == code
}

// isFault reports a fault of the code whose message contains text.
func isFault(err error, code protocol.Code, text string) bool {
	return isCode(err, code) && strings.Contains(err.Error(), text)
}

func TestReadByHand(t *testing.T) {
	named := testInput()
	named.Header, named.Label, named.Text = true, protocol.Column{Name: "class"}, protocol.Column{Name: "gloss"}
	swapped := testInput()
	swapped.Label, swapped.Text = protocol.Column{Number: 3}, protocol.Column{Number: 1}
	byLabel, byText := named, named
	byLabel.Text, byText.Label = protocol.Column{Number: 1}, protocol.Column{Number: 2}
	headed := testInput()
	headed.Header = true
	for _, c := range []struct {
		name string
		in   protocol.Input
		data string
		want []record
	}{
		{"LF", testInput(), "a\tx y\nb\tz\n", []record{{Identity{"f", 0}, "a", "x y"}, {Identity{"f", 6}, "b", "z"}}},
		{"CRLF", testInput(), "a\tx\r\nb\tz\r\n", []record{{Identity{"f", 0}, "a", "x"}, {Identity{"f", 5}, "b", "z"}}},
		{"no last newline", testInput(), "a\tx\nb\tz",
			[]record{{Identity{"f", 0}, "a", "x"}, {Identity{"f", 4}, "b", "z"}}},
		{"blank lines", testInput(), "\n\r\na\tx\n\n\nb\tz\n\n",
			[]record{{Identity{"f", 3}, "a", "x"}, {Identity{"f", 9}, "b", "z"}}},
		{"an empty text, a surplus column", testInput(), "a\t\nb\tz\tmore\n",
			[]record{{Identity{"f", 0}, "a", ""}, {Identity{"f", 3}, "b", "z"}}},
		{"no quoting, no escapes", testInput(), "\"a\t\\t\"\n", []record{{Identity{"f", 0}, "\"a", "\\t\""}}},
		{"byte order mark", testInput(), "\ufeffa\tx\n", []record{{Identity{"f", 0}, "a", "x"}}},
		{"any order of columns", swapped, "x\t-\ta\n", []record{{Identity{"f", 0}, "a", "x"}}},
		{"a header by number", headed, "a\tx\nb\tz\n", []record{{Identity{"f", 4}, "b", "z"}}},
		{"a header by name", named, "gloss\tclass\r\nx\ta\r\n", []record{{Identity{"f", 13}, "a", "x"}}},
		{"the label alone by name", byLabel, "gloss\tclass\nx\ta\n", []record{{Identity{"f", 12}, "a", "x"}}},
		{"the text alone by name", byText, "gloss\tclass\nx\ta\n", []record{{Identity{"f", 12}, "a", "x"}}},
		{"a header and nothing else", named, "gloss\tclass", nil},
	} {
		for size := 1; size <= len(c.data)+1; size++ {
			c.in.ShardBytes = protocol.ByteSize(size)
			got, err := readStore(storeOf(t, map[string]string{"f": c.data}), c.in)
			if err != nil || !slices.Equal(got.Records, c.want) {
				t.Errorf("%s, shards of %d: %v, %v; want %v", c.name, size, got.Records, err, c.want)
			}
		}
	}
}

func TestReadGzip(t *testing.T) {
	members := zipped("a\tx\nb\t") + zipped("") + zipped("z\nc\tlast")
	want := []record{{Identity{"f", 0}, "a", "x"}, {Identity{"f", 4}, "b", "z"},
		{Identity{"f", 8}, "c", "last"}}
	for _, compression := range []string{"auto", "gzip"} {
		in := testInput()
		in.Compression, in.ShardBytes = compression, 3
		got, err := readStore(storeOf(t, map[string]string{"f.gz": members}), in)
		if err != nil || !slices.Equal(got.Records, want) {
			t.Errorf("%s: %v, %v; want %v", compression, got.Records, err, want)
		}
	}
}

// A cut is no regular end, wherever it falls; but between members it cannot be seen.
func TestGzipCutAnywhere(t *testing.T) {
	var out bytes.Buffer
	for _, name := range []string{"first", "second"} {
		w := gzip.NewWriter(&out)
		w.Name, w.Comment, w.Extra = name, "remark", []byte("extra")
		_, write := w.Write([]byte(name + "\ttext\n"))
		if err := errors.Join(write, w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	whole := out.String()
	second := 1 + strings.Index(whole[1:], "\x1f\x8b")
	for cut := 1; cut <= len(whole); cut++ {
		got, err := readStore(storeOf(t, map[string]string{"f.gz": whole[:cut]}), testInput())
		switch {
		case cut == second && (err != nil || len(got.Records) != 1), cut == len(whole) &&
			(err != nil || len(got.Records) != 2):
			t.Errorf("cut at %d: %v, %v", cut, got.Records, err)
		case cut != second && cut != len(whole) && !isCode(err, protocol.CodeBadRecord):
			t.Errorf("cut at %d of %d: %v, want BAD_RECORD", cut, len(whole), err)
		}
	}
}

// Faults, by hand: what is reported is the record's first byte, its line and the column at fault.
func TestBadRecordByHand(t *testing.T) {
	long, apart := testInput(), testInput()
	long.MaxRecordBytes = 8
	apart.Label, apart.Text = protocol.Column{Number: 4}, protocol.Column{Number: 2}
	for _, c := range []struct {
		name   string
		in     protocol.Input
		data   string
		code   protocol.Code
		offset int64
		line   int64
		column int
	}{
		{"too few columns", testInput(), "a\tx\n\nb\n", protocol.CodeBadRecord, 5, 3, 2},
		{"neither of two columns", apart, "-\tx\t-\ta\nb\n", protocol.CodeBadRecord, 8, 2, 2},
		{"the second of two columns", apart, "-\tx\t-\ta\n-\ty\n", protocol.CodeBadRecord, 8, 2, 4},
		{"empty label", testInput(), "a\tx\n\tz\n", protocol.CodeBadRecord, 4, 2, 1},
		{"label not UTF-8", testInput(), "a\tx\r\nb\xff\tz\n", protocol.CodeBadRecord, 5, 2, 1},
		{"text not UTF-8", testInput(), "a\tx\nb\tz\xc3\n", protocol.CodeBadRecord, 4, 2, 2},
		{"NUL", testInput(), "a\tx\nb\t\x00\nc\tx\n", protocol.CodeBadRecord, 4, 2, 2},
		{"CR within the text", testInput(), "a\tx\nb\ty\rz\n", protocol.CodeBadRecord, 4, 2, 2},
		{"too long", long, "a\t345678\nb\t3456789\nc\tx\n", protocol.CodeInputLimit, 9, 2, 0},
		{"too long, at the end", long, "a\t345678\nb\t3456789", protocol.CodeInputLimit, 9, 2, 0},
		{"gzip taken for text", testInput(), zipped("a\tx\n"), protocol.CodeBadRecord, 0, 1, 1},
	} {
		for size := 1; size <= len(c.data); size++ {
			c.in.ShardBytes = protocol.ByteSize(size)
			_, err := readStore(storeOf(t, map[string]string{"f": c.data}), c.in)
			var fault *protocol.Fault
			if !errors.As(err, &fault) {
				t.Fatalf("%s, shards of %d: %v, want a fault", c.name, size, err)
			}
			got := *fault
			got.What, got.Hint, got.Err = "", "", nil
			if want := protocol.InputFault(c.code, "").In("f").At(c.line, c.column).WithOffset(c.offset); got != *want {
				t.Errorf("%s, shards of %d: %+v", c.name, size, got)
			}
		}
	}
}

func TestSkipMax(t *testing.T) {
	in := testInput()
	in.OnBadRecord.SkipMax = 2
	store := storeOf(t, map[string]string{"f": "a\tx\nbad\nb\t\xff\nc\tz\n"})
	got, err := readStore(store, in)
	want := reading{
		Records: []record{{Identity{"f", 0}, "a", "x"}, {Identity{"f", 12}, "c", "z"}},
		Skipped: []Skip{{Identity{"f", 4}, 2, 2, tooFew}, {Identity{"f", 8}, 3, 2, notUTF8}},
	}
	if err != nil || !slices.Equal(got.Records, want.Records) || !slices.Equal(got.Skipped, want.Skipped) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	in.OnBadRecord.SkipMax = 1
	var fault *protocol.Fault
	if _, err := readStore(store, in); !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord ||
		fault.Line != 3 {
		t.Errorf("with skip_max 1: %v, want BAD_RECORD in line 3", err)
	}
}

func TestHeaderFaults(t *testing.T) {
	in := testInput()
	in.Header, in.Label = true, protocol.Column{Name: "label"}
	for data, want := range map[string]string{
		"lable\ttext\na\tx\n":  `did you mean "lable"?`,
		"label\tlabel\na\tx\n": "twice",
		"\n":                   "no column",
	} {
		_, err := readStore(storeOf(t, map[string]string{"f": data}), in)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid || fault.Line != 1 ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("header %q: %v, want SPEC_INVALID in line 1 with %q", data, err, want)
		}
	}
}

func TestNewSourceRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*protocol.Input){
		"format":        func(in *protocol.Input) { in.Format = "xls" },
		"no text":       func(in *protocol.Input) { in.Text = protocol.Column{} },
		"same column":   func(in *protocol.Input) { in.Text = in.Label },
		"negative":      func(in *protocol.Input) { in.Text.Number = -1 },
		"name":          func(in *protocol.Input) { in.Text = protocol.Column{Name: "x"} },
		"record bound":  func(in *protocol.Input) { in.MaxRecordBytes = 0 },
		"negative skip": func(in *protocol.Input) { in.OnBadRecord.SkipMax = -1 },
	} {
		in := testInput()
		spoil(&in)
		var fault *protocol.Fault
		if _, err := NewSource(&datasettest.Store{}, "", Manifest{}, in); !errors.As(err, &fault) ||
			fault.Code != protocol.CodeSpecInvalid {
			t.Errorf("%s: %v, want SPEC_INVALID", name, err)
		}
	}
}

func TestPlanOfAnotherManifestIsRefused(t *testing.T) {
	s, _, err := open(storeOf(t, map[string]string{"a": "a\tx\n", "b.gz": zipped("b\tz\n")}), testInput())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Piece{{-1, 0, 1}, {2, 0, 1}, {0, 0, 5}, {0, -1, 1}, {0, 2, 2}, {1, 0, 3}, {1, 1, 3}} {
		var fault *protocol.Fault
		if _, err := readAll(t.Context(), s, []Shard{{[]Piece{p}}}); !errors.As(err, &fault) ||
			fault.Code != protocol.CodeCorrupt {
			t.Errorf("piece %v: %v, want CORRUPT", p, err)
		}
	}
}
