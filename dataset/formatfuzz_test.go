package dataset

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// naiveLibSVM reads one line with the standard library; false where it is no record.
func naiveLibSVM(text string, base, width int) (r row, ok bool) {
	fields := strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' })
	r.Label = strings.TrimPrefix(fields[0], "+")
	if r.Label != fields[0] && r.Label != "" && strings.ContainsAny(r.Label[:1], "+-") ||
		strings.HasPrefix(text, "\ufeff") || strings.Contains(text, "\r") {
		return r, false
	}
	if r.Label == "" || !utf8.ValidString(r.Label) || strings.ContainsAny(r.Label, ":\x00") {
		return r, false
	}
	last := -1
	for _, pair := range fields[1:] {
		index, value, _ := strings.Cut(pair, ":")
		i, err := strconv.ParseUint(index, 10, 31)
		v, valueErr := strconv.ParseFloat(value, 32)
		if err != nil || valueErr != nil || strings.Trim(value, "0123456789+-.eE") != "" || int(i)-base <= last ||
			int(i)-base >= width {
			return r, false
		}
		last = int(i) - base
		r.Indices, r.Vector = append(r.Indices, int32(last)), append(r.Vector, float32(v))
	}
	return r, true
}

// FuzzLibSVM checks the reader against naiveLibSVM, cut and buffered at will.
func FuzzLibSVM(f *testing.F) {
	for _, seed := range []string{"1 1:2 3:4\n-1 2:1e3 # x\n", "+1\t1:0.5\r\n\n#\n",
		"a 3:1 2:1\na 9:1\na 1:\na :1\n1:1", "+ 0:1\n\xff 1:nan"} {
		f.Add([]byte(seed), uint16(3), uint16(30), uint16(5), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, shard, record, buffer uint16, one bool) {
		base := 0
		if one {
			base = 1
		}
		in := libsvmInput(base, 4)
		in.ShardBytes, in.MaxRecordBytes = protocol.ByteSize(shard)+1, protocol.ByteSize(record)+1
		in.OnBadRecord.SkipMax = math.MaxInt64
		store := storeOf(t, map[string]string{"f": string(data)})
		s, shards, err := openInput(store, in)
		if len(data) == 0 && isCode(err, protocol.CodeInputEmpty) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		s.buffer = int(buffer) + 1
		got, skipped, err := readRowsAll(s, shards)
		if err != nil {
			t.Fatal(err)
		}
		var want []row
		bad, off := 0, 0
		for _, line := range strings.SplitAfter(string(data), "\n") {
			at := off
			off += len(line)
			text := strings.TrimSuffix(line, "\n")
			long := len(text) > int(in.MaxRecordBytes)
			text = strings.TrimSuffix(text, "\r")
			if at == 0 {
				text = strings.TrimPrefix(text, "\ufeff")
			}
			if !strings.Contains(text, "\r") {
				text, _, _ = strings.Cut(text, "#")
			}
			if text = strings.Trim(text, " \t"); text == "" && !long {
				continue
			}
			r := row{}
			ok := false
			if !long {
				r, ok = naiveLibSVM(text, base, 4)
			}
			if r.Offset = int64(at); ok {
				want = append(want, r)
			} else {
				bad++
			}
		}
		if !equalRows(got, want) || len(skipped) != bad {
			t.Fatalf("got %v, %d skipped\nwant %v, %d", got, len(skipped), want, bad)
		}
	})
}

// FuzzBinary takes any bytes for an object of a binary format: they are rows, the same in any
// shards and as gzip, or a fault of class input; and memory follows the bytes there are.
func FuzzBinary(f *testing.F) {
	npy := datasettest.NPY("<f4", "(2, 3)", one6)
	vecs := append(datasettest.Vecs(3, one6[:3]), datasettest.Vecs(3, one6[3:])...)
	f.Add(uint8(0), datasettest.IDX(8, []uint32{2, 3}, integers[uint8]()), uint16(3))
	f.Add(uint8(0), []byte("\x00\x00\x08\x02\x80\x00\x00\x00\x00\x00\x00\x04"), uint16(3))
	f.Add(uint8(1), npy, uint16(3))
	f.Add(uint8(1), datasettest.NPY("<i8", "(6,)", integers[int64]()), uint16(9))
	f.Add(uint8(2), datasettest.NPZ(false, datasettest.Array{Name: "X", NPY: npy}), uint16(0))
	f.Add(uint8(2), datasettest.NPZ(true, datasettest.Array{Name: "X", NPY: npy}), uint16(0))
	f.Add(uint8(3), vecs, uint16(15))
	f.Add(uint8(4), []byte("\x02\x00\x00\x00ab\x02\x00\x00\x00cd"), uint16(5))
	f.Add(uint8(5), vecs, uint16(1))
	f.Fuzz(func(t *testing.T, kind uint8, data []byte, shard uint16) {
		if len(data) == 0 {
			return
		}
		format := []string{"idx", "npy", "npz", "fvecs", "bvecs", "ivecs"}[kind%6]
		in := formatInput(format, func(in *protocol.Input) {
			if format == "npz" {
				in.Features = []protocol.Column{{Name: "X"}}
			}
		})
		in.MaxRecordBytes = 64 << 10
		in.OnBadRecord.SkipMax = math.MaxInt64
		whole, err := readBinary(t, in, "f", string(data))
		in.ShardBytes = protocol.ByteSize(shard) + 1
		pieces, cutErr := readBinary(t, in, "f", string(data))
		if (err == nil) != (cutErr == nil) || err == nil && !equalRows(whole, pieces) {
			t.Fatalf("whole %v %v, in pieces %v %v", whole, err, pieces, cutErr)
		}
		if format == "npz" {
			return
		}
		packed, zipErr := readBinary(t, in, "f.gz", zipped(string(data)))
		if (err == nil) != (zipErr == nil) || err == nil && !equalRows(whole, packed) {
			t.Fatalf("whole %v %v, as gzip %v %v", whole, err, packed, zipErr)
		}
	})
}

func readBinary(t *testing.T, in protocol.Input, key, data string) ([]row, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, shards, err := openInput(storeOf(t, map[string]string{key: data}), in)
	var rows []row
	for _, shard := range shards {
		if err != nil {
			break
		}
		more, _, oneErr := readRows(context.Background(), s, []Shard{shard})
		if rows = append(rows, more...); oneErr != nil {
			err = oneErr
			break
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20+uint64(len(shards))*(256<<10) {
		t.Fatalf("%d bytes allocated for %d", used, len(data))
	}
	var fault *protocol.Fault
	if err != nil && (!errors.As(err, &fault) || fault.Class != protocol.ClassInput) {
		t.Fatalf("%v is not a fault of class input", err)
	}
	return rows, err
}
