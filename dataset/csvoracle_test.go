package dataset

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// naiveCSV reads a whole file of label, text and weight line by line with encoding/csv. fatal is the
// offset of the record that no skipping gets past, or -1.
func naiveCSV(data []byte, in protocol.Input) (rows []row, skipped []int64, fatal int64) {
	off, columns := int64(0), 0
	for _, raw := range bytes.SplitAfter(data, []byte("\n")) {
		at := off
		off += int64(len(raw))
		text := strings.TrimSuffix(string(raw), "\n")
		long := len(text) > int(in.MaxRecordBytes)
		text = strings.TrimSuffix(text, "\r")
		if at == 0 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if text == "" && !long {
			continue
		}
		fields, err := csvLine(text)
		_, closed := csvLine(text + `"`)
		if strings.HasPrefix(text, "\ufeff") && !long { // whatever follows
			fields, closed, err = nil, errors.New("marked"), errors.New("marked")
		} else if err == nil && returnOutside(text) {
			err = errors.New("a carriage return")
		}
		isOpen := !long && err != nil && closed == nil
		if isOpen || columns == 0 && (long || err != nil || len(fields) < 3) {
			return rows, skipped, at
		}
		if columns == 0 {
			columns = len(fields)
		}
		if r, ok := naiveRow(at, fields, columns); !long && err == nil && ok {
			rows = append(rows, r)
		} else {
			skipped = append(skipped, at)
		}
	}
	return rows, skipped, -1
}

// returnOutside reports a CR outside of quotes, in a line that encoding/csv reads.
func returnOutside(text string) bool {
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 0 && strings.Contains(part, "\r") {
			return true
		}
	}
	return false
}

// csvLine reads one line. A stray CR is content to us, and to encoding/csv at the end of its input an
// end of line; the x keeps it inside.
func csvLine(text string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(text + ",x"))
	fields, err := r.Read()
	if err != nil {
		return nil, err
	}
	return fields[:len(fields)-1], nil
}

func naiveRow(at int64, fields []string, columns int) (row, bool) {
	if len(fields) != columns || fields[0] == "" || !utf8.ValidString(fields[0]+"\n"+fields[1]) ||
		strings.Contains(fields[0]+fields[1], "\x00") {
		return row{}, false
	}
	number := strings.Trim(fields[2], " \t")
	weight, err := strconv.ParseFloat(number, 32)
	if err != nil || strings.Trim(number, "0123456789+-.eE") != "" || weight < 0 {
		return row{}, false
	}
	return row{Offset: at, Label: fields[0], Text: fields[1], Weight: float32(weight)}, true
}

func oracleInput() protocol.Input {
	return formatInput("csv", func(in *protocol.Input) {
		in.Label.Number, in.Text.Number, in.Weight.Number = 1, 2, 3
		in.OnBadRecord.SkipMax = math.MaxInt64
	})
}

type failer interface {
	Fatalf(format string, args ...any)
}

// checkCSV compares the reader with naiveCSV: cut and buffered at will, nothing may change.
func checkCSV(t failer, data []byte, in protocol.Input, buffer int, gz bool) {
	want, skips, fatal := naiveCSV(data, in)
	key, stored := "f", data
	if gz {
		key, stored = "f.gz", []byte(zipped(string(data)))
	}
	store := &datasettest.Store{Seed: uint64(len(data))}
	if _, err := store.PutContent(key, datasettest.Literal(stored)); err != nil {
		t.Fatalf("%v", err)
	}
	s, shards, err := openInput(store, in)
	if isCode(err, protocol.CodeInputEmpty) && len(data) == 0 {
		return
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	s.buffer = buffer
	got, skipped, err := readRowsAll(s, shards)
	if fatal >= 0 {
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Class != protocol.ClassInput {
			t.Fatalf("%v, want a fault of the input", err)
		}
		if at, known := fault.Offset(); !known || at < fatal {
			t.Fatalf("%v, want a fault from byte %d on", err, fatal)
		}
		return
	}
	var offsets []int64
	for _, skip := range skipped {
		offsets = append(offsets, skip.ID.Offset)
	}
	if err != nil || !equalRows(got, want) || !slices.Equal(offsets, skips) {
		t.Fatalf("got %v %v %v\nwant %v %v", got, offsets, err, want, skips)
	}
}

func TestCSVAgainstTheStandardLibrary(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"a,", "b,", "\"c\",", "\"d,\"\"e\"\"\",", "1\n", "2.5\r\n", "\"3\"\n", "1e2\n", "\n",
			"\r", "\"", ",", "\"\"", "x", "é", "\xff", "\x00", "a,b,1\n", "a,b,2\n", "a,b,1\n"}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 2), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		data := "l,t,0\n" + strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
		in := oracleInput()
		in.ShardBytes = protocol.ByteSize(rapid.IntRange(1, 100).Draw(t, "shard_bytes"))
		in.MaxRecordBytes = protocol.ByteSize(rapid.SampledFrom([]int{6, 20, 1 << 20}).Draw(t, "max_record_bytes"))
		buffer := rapid.SampledFrom([]int{1, 7, 64, bufferBytes}).Draw(t, "buffer")
		checkCSV(t, []byte(data), in, buffer, rapid.Bool().Draw(t, "gzip"))
	})
}

// With multiline, fields of any content written by encoding/csv come back as they were.
func TestMultilineAgainstTheStandardLibrary(t *testing.T) {
	field := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\"", "\n", ",", " ", "é", "\"\""}), 0, 6),
		func(s []string) string { return strings.Join(s, "") })
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(field, 1, 20).Draw(t, "texts")
		var file bytes.Buffer
		w := csv.NewWriter(&file)
		for i, text := range texts {
			if err := w.Write([]string{"l", text, strconv.Itoa(i)}); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
		in := oracleInput()
		in.Multiline, in.ShardBytes, in.OnBadRecord.SkipMax = true, 10, 0
		store := &datasettest.Store{Seed: uint64(file.Len())}
		if _, err := store.Put(t.Context(), "f", file.Bytes()); err != nil {
			t.Fatal(err)
		}
		s, shards, err := openInput(store, in)
		if err != nil || len(shards) != 1 {
			t.Fatalf("%d shards, %v; want 1", len(shards), err)
		}
		s.buffer = rapid.SampledFrom([]int{1, 7, bufferBytes}).Draw(t, "buffer")
		got, _, err := readRowsAll(s, shards)
		if err != nil || len(got) != len(texts) {
			t.Fatalf("%d rows, %v; want %d of %q", len(got), err, len(texts), file.String())
		}
		for i, r := range got {
			if r.Text != texts[i] || r.Weight != float32(i) {
				t.Fatalf("row %d: %+v, want %q", i, r, texts[i])
			}
		}
	})
}

// Every short decimal is rounded as if it were exact: checked against math/big.
func TestNumbersAreRoundedCorrectly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,9}(\.[0-9]{0,12})?(e-?[0-9]{1,2})?`).Draw(t, "number")
		exact, _, err := big.ParseFloat(text, 10, 400, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := exact.Float32()
		got, bad := parseNumber([]byte(text))
		if math.IsInf(float64(want), 0) {
			if bad.reason != beyond32 {
				t.Fatalf("%s: %v %v, want a flaw", text, got, bad)
			}
		} else if bad.reason != "" || math.Float32bits(got.value) != math.Float32bits(want) {
			t.Fatalf("%s: %v %v, want %v", text, got, bad, want)
		}
	})
}

func readRowsAll(s *Source, shards []Shard) ([]row, []Skip, error) {
	return readRows(context.Background(), s, shards)
}

// FuzzCSV checks the reader against naiveCSV on any bytes.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"a,b,1\n", "a,\"b\"\"\",1\r\n\"\n", "\ufeffa,b,\"1\"\n,x,\n\xff,b,1",
		"a,b,1\na,\"b\nc\",2\n"} {
		f.Add([]byte(seed), uint16(7), uint16(30), uint16(5))
	}
	f.Fuzz(func(t *testing.T, data []byte, shard, record, buffer uint16) {
		in := oracleInput()
		in.ShardBytes, in.MaxRecordBytes = protocol.ByteSize(shard)+1, protocol.ByteSize(record)+1
		checkCSV(t, data, in, int(buffer)+1, false)
	})
}
