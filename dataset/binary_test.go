package dataset

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// labelled reads labels from an object beside the data.
func labelled(format string) protocol.Input {
	return formatInput(format, func(in *protocol.Input) { in.URI, in.LabelsURI = "mem://test/d/", "mem://test/l/" })
}

// readPair is readFile for a data object "d/f" and labels "l/f", in shards of any size.
func readPair(t *testing.T, in protocol.Input, data, labels string) (rows []row, err error) {
	t.Helper()
	return readPairAt(t, in, "d/f", data, "l/f", labels)
}

// readPairAt is readPair for objects of any name.
func readPairAt(t *testing.T, in protocol.Input, dataKey, data, labelsKey, labels string) (rows []row, err error) {
	t.Helper()
	for _, size := range []int{len(data), 1 + len(data)/2, 9, 3, 1} {
		in.ShardBytes = protocol.ByteSize(size)
		store := storeOf(t, map[string]string{dataKey: data, labelsKey: labels})
		m, shards, err := Plan(t.Context(), store, "d/", in)
		if err != nil {
			return nil, err
		}
		stored, err := MarshalManifest(m)
		if err != nil {
			return nil, err
		}
		if m, err = UnmarshalManifest(stored); err != nil {
			return nil, err
		}
		s, err := NewSource(store, "d/", m, in)
		if err != nil {
			return nil, err
		}
		again, _, err := readRows(t.Context(), s, shards)
		if err != nil {
			return nil, err
		}
		if size != len(data) && !equalRows(rows, again) {
			t.Errorf("shards of %d: %v; whole: %v", size, again, rows)
		}
		rows = again
	}
	return rows, nil
}

var (
	matrix = []row{{Offset: 0, Vector: []float32{1, 2, 3}}, {Offset: 1, Vector: []float32{4, 5, 6}}}
	one6   = []float32{1, 2, 3, 4, 5, 6}
)

func integers[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64]() (n []T) {
	for i := range 6 {
		n = append(n, T(i+1))
	}
	return n
}

// The same two rows of three numbers in every type of every format.
func TestBinaryFormatsByHand(t *testing.T) {
	npy := func(descr string, numbers any) string { return string(datasettest.NPY(descr, "(2, 3)", numbers)) }
	idx := func(code byte, numbers any) string { return string(datasettest.IDX(code, []uint32{2, 3}, numbers)) }
	vecs := func(a, b any) string { return string(datasettest.Vecs(3, a)) + string(datasettest.Vecs(3, b)) }
	for _, c := range []struct{ name, format, data string }{
		{"u1", "npy", npy("|u1", integers[uint8]())}, {"i1", "npy", npy("|i1", integers[int8]())},
		{"u2", "npy", npy("<u2", integers[uint16]())}, {"i2", "npy", npy("<i2", integers[int16]())},
		{"u4", "npy", npy("<u4", integers[uint32]())}, {"i4", "npy", npy("<i4", integers[int32]())},
		{"u8", "npy", npy("<u8", integers[uint64]())}, {"i8", "npy", npy("<i8", integers[int64]())},
		{"f4", "npy", npy("<f4", integers[float32]())}, {"f8", "npy", npy("<f8", integers[float64]())},
		{"three dimensions", "npy", string(datasettest.NPY("<f4", "(2, 1, 3)", one6))},
		{"u1", "idx", idx(0x08, integers[uint8]())}, {"i1", "idx", idx(0x09, integers[int8]())},
		{"i2", "idx", idx(0x0b, integers[int16]())}, {"i4", "idx", idx(0x0c, integers[int32]())},
		{"f4", "idx", idx(0x0d, integers[float32]())}, {"f8", "idx", idx(0x0e, integers[float64]())},
		{"images", "idx", string(datasettest.IDX(0x08, []uint32{2, 3, 1}, integers[uint8]()))},
		{"fvecs", "fvecs", vecs(one6[:3], one6[3:])},
		{"bvecs", "bvecs", vecs(integers[uint8]()[:3], integers[uint8]()[3:])},
		{"ivecs", "ivecs", vecs(integers[int32]()[:3], integers[int32]()[3:])},
	} {
		for key, data := range map[string]string{"f": c.data, "f.gz": zipped(c.data)} {
			got, _, err := readFile(t, formatInput(c.format, nil), map[string]string{key: data})
			if err != nil || !equalRows(got, matrix) {
				t.Errorf("%s of %s, %s: %v, %v; want %v", c.name, c.format, key, got, err, matrix)
			}
		}
	}
}

func TestNPZByHand(t *testing.T) {
	x, y := datasettest.NPY("<f4", "(2, 3)", one6), datasettest.NPY("<i8", "(2,)", []int64{7, -8})
	for _, deflate := range []bool{false, true} {
		data := datasettest.NPZ(deflate, datasettest.Array{Name: "other", NPY: []byte("no array")},
			datasettest.Array{Name: "y", NPY: y}, datasettest.Array{Name: "X", NPY: x})
		in := formatInput("npz", func(in *protocol.Input) {
			in.Features, in.Label.Name = []protocol.Column{{Name: "X"}}, "y"
		})
		got, _, err := readFile(t, in, map[string]string{"f": string(data)})
		want := slices.Clone(matrix)
		want[0].Label, want[1].Label = "7", "-8"
		if err != nil || !equalRows(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
		in.Features[0].Name = "x"
		if _, _, err := readFile(t, in, map[string]string{"f": string(data)}); !isCode(err, protocol.CodeSpecInvalid) ||
			!strings.Contains(err.Error(), `did you mean "X"`) {
			t.Errorf("%v, want SPEC_INVALID with a suggestion", err)
		}
		// Damage anywhere is seen, or has hit what is not read: never a panic, never other numbers.
		in.Features[0].Name = "X"
		for i := range data {
			spoilt := slices.Clone(data)
			spoilt[i] ^= 0x10
			var fault *protocol.Fault
			s, shards, err := openInput(storeOf(t, map[string]string{"f": string(spoilt)}), in)
			if err != nil {
				if !errors.As(err, &fault) {
					t.Fatalf("byte %d flipped: %v", i, err)
				}
				continue
			}
			if got, _, err := readRows(t.Context(), s, shards); err == nil && !equalRows(got, want) || err != nil &&
				!errors.As(err, &fault) {
				t.Fatalf("byte %d flipped: %v, %v", i, got, err)
			}
		}
	}
}

func TestLabelsBesideTheData(t *testing.T) {
	want := slices.Clone(matrix)
	want[0].Label, want[1].Label = "7", "0.25"
	npy := string(datasettest.NPY("<f4", "(2, 3)", one6))
	got, err := readPair(t, labelled("npy"), npy, string(datasettest.NPY("<f8", "(2,)", []float64{7, 0.25})))
	if err != nil || !equalRows(got, want) {
		t.Errorf("npy: %v, %v; want %v", got, err, want)
	}
	want[1].Label = "9"
	idx := string(datasettest.IDX(8, []uint32{2, 3}, integers[uint8]()))
	if got, err = readPair(t, labelled("idx"), idx,
		string(datasettest.IDX(8, []uint32{2}, []uint8{7, 9}))); err != nil || !equalRows(got, want) {
		t.Errorf("idx: %v, %v; want %v", got, err, want)
	}
	for name, labels := range map[string][]byte{
		"too few":      datasettest.IDX(8, []uint32{1}, []uint8{7}),
		"too wide":     datasettest.IDX(8, []uint32{2, 2}, []uint8{7, 7, 7, 7}),
		"cut short":    datasettest.IDX(8, []uint32{2}, []uint8{7}),
		"not a number": datasettest.IDX(0x0d, []uint32{2}, []float32{7, float32(math.NaN())}),
		"empty":        nil,
	} {
		_, err := readPair(t, labelled("idx"), idx, string(labels))
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Class != protocol.ClassInput {
			t.Errorf("%s: %v, want a fault of class input", name, err)
		}
	}
}

// The labels are pinned like the data.
func TestLabelsReplacedAfterThePlan(t *testing.T) {
	in := labelled("idx")
	store := storeOf(t, map[string]string{"d/f": string(datasettest.IDX(8, []uint32{1, 1}, []uint8{3})),
		"l/f": string(datasettest.IDX(8, []uint32{1}, []uint8{3}))})
	m, shards, err := Plan(t.Context(), store, "d/", in)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSource(store, "d/", m, in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Put(t.Context(), "l/f", datasettest.IDX(8, []uint32{1}, []uint8{4})); err != nil {
		t.Fatal(err)
	}
	if rows, _, err := readRows(t.Context(), s, shards); !isCode(err, protocol.CodeInputChanged) {
		t.Errorf("%v, %v; want INPUT_CHANGED", rows, err)
	}
	in.LabelsURI = "mem://other/l/"
	if _, _, err := Plan(t.Context(), store, "d/", in); !isCode(err, protocol.CodeSpecInvalid) {
		t.Errorf("labels in another store: %v, want SPEC_INVALID", err)
	}
}

// Declared sizes are compared with the object's size before anything is allocated for them.
func TestBinaryFaultsByHand(t *testing.T) {
	npy := func(header string) string {
		return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header
	}
	dict := func(descr, order, shape string) string {
		return npy("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + "}\n")
	}
	for _, c := range []struct {
		name, format, data string
		code               protocol.Code
		offset             int64
	}{
		{"2^31 rows in no bytes", "idx", "\x00\x00\x08\x02\x80\x00\x00\x00\x00\x00\x00\x04", protocol.CodeBadRecord, 0},
		{"2^32 dimensions", "idx", "\x00\x00\x08\x04" + strings.Repeat("\xff", 16), protocol.CodeBadRecord, 0},
		{"a wide row", "idx", "\x00\x00\x08\x02\x00\x00\x00\x01\x00\xff\xff\xff", protocol.CodeInputLimit, 0},
		{"an unknown type", "idx", "\x00\x00\x0a\x01\x00\x00\x00\x01x", protocol.CodeBadRecord, 0},
		{"half a header", "idx", "\x00\x00\x08\x02\x00\x00", protocol.CodeBadRecord, 0},
		{"a byte too many", "idx", "\x00\x00\x08\x01\x00\x00\x00\x01xy", protocol.CodeBadRecord, 0},
		{"another file", "npy", "PK\x03\x04....", protocol.CodeBadRecord, 0},
		{"a long header", "npy", "\x93NUMPY\x02\x00\xff\xff\xff\xff", protocol.CodeBadRecord, 0},
		{"10^18 rows", "npy", dict("'<f4'", "False", "(1000000000000000000, 4)"), protocol.CodeBadRecord, 0},
		{"2^63 rows", "npy", dict("'<f4'", "False", "(9223372036854775808, 4)"), protocol.CodeBadRecord, 0},
		{"rows whose bytes overflow", "npy", dict("'<f8'", "False", "(9223372036854775807, 4)"), protocol.CodeBadRecord,
			0},
		{"Fortran order", "npy", dict("'<f4'", "True", "(1, 1)") + "1234", protocol.CodeBadRecord, 0},
		{"big-endian", "npy", dict("'>f4'", "False", "(1, 1)") + "1234", protocol.CodeBadRecord, 0},
		{"objects", "npy", dict("'|O'", "False", "(1, 1)") + "1234", protocol.CodeBadRecord, 0},
		{"a structure", "npy", dict("[('a', '<f4')]", "False", "(1, 1)") + "1234", protocol.CodeBadRecord, 0},
		{"a call", "npy", dict("f('<f4')", "False", "(1, 1)") + "1234", protocol.CodeBadRecord, 0},
		{"a scalar", "npy", dict("'<f4'", "False", "()") + "1234", protocol.CodeBadRecord, 0},
		{"a negative dimension", "npy", dict("'<f4'", "False", "(-1, 1)") + "1234", protocol.CodeBadRecord, 0},
		{"a key twice", "npy", npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}") +
			"1234", protocol.CodeBadRecord, 0},
		{"no shape", "npy", npy("{'descr': '<f4', 'fortran_order': False}") + "1234", protocol.CodeBadRecord, 0},
		{"more after it", "npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)} 1") + "1234",
			protocol.CodeBadRecord, 0},
		{"NaN", "npy", dict("'<f4'", "False", "(2, 1)") + "\x00\x00\x80\x3f\x00\x00\xc0\x7f", protocol.CodeBadRecord,
			72},
		{"beyond float32", "npy", dict("'<f8'", "False", "(1, 1)") + "\xff\xff\xff\xff\xff\xff\xef\x7f",
			protocol.CodeBadRecord, 68},
		{"another width", "fvecs", string(datasettest.Vecs(1, one6[:1])) + string(datasettest.Vecs(2, one6[:1])),
			protocol.CodeBadRecord, 8},
		{"half a vector", "fvecs", string(datasettest.Vecs(1, one6[:1])) + "123", protocol.CodeBadRecord, 8},
		{"no width", "fvecs", "12", protocol.CodeBadRecord, 0},
		{"a width of none", "bvecs", "\x00\x00\x00\x00", protocol.CodeBadRecord, 0},
		{"a negative width", "ivecs", "\xff\xff\xff\xff1234", protocol.CodeBadRecord, 0},
		{"a width beyond the object", "ivecs", "\x00\x01\x00\x001234", protocol.CodeBadRecord, 0},
		{"no zip", "npz", "PK\x03\x04....", protocol.CodeBadRecord, 0},
	} {
		in := formatInput(c.format, func(in *protocol.Input) {
			if c.format == "npz" {
				in.Features = []protocol.Column{{Name: "X"}}
			}
		})
		_, _, err := readFile(t, in, map[string]string{"f": c.data})
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != c.code || fault.Class != protocol.ClassInput ||
			fault.Object != "f" || *fault != *fault.WithOffset(c.offset) || fault.Hint == "" {
			t.Errorf("%s: %v (%+v), want %s at byte %d", c.name, err, fault, c.code, c.offset)
		}
		_, _, err = readFile(t, in, map[string]string{"f.gz": zipped(c.data)})
		if !errors.As(err, &fault) || fault.Class != protocol.ClassInput {
			t.Errorf("%s as gzip: %v, want a fault of class input", c.name, err)
		}
	}
}

// A row that is not finite may be skipped, and the others keep their numbers.
func TestBinaryRowsSkipped(t *testing.T) {
	in := formatInput("npy", func(in *protocol.Input) { in.OnBadRecord.SkipMax = 1 })
	data := datasettest.NPY("<f4", "(3, 2)", []float32{1, 2, 3, float32(math.Inf(1)), 5, 6})
	rows, skipped, err := readFile(t, in, map[string]string{"f": string(data)})
	want := []row{{Vector: []float32{1, 2}}, {Offset: 2, Vector: []float32{5, 6}}}
	if err != nil || !equalRows(rows, want) ||
		!slices.Equal(skipped, []Skip{{ID: Identity{"f", 1}, Column: 2, Reason: notFinite}}) {
		t.Errorf("%v %v %v", rows, skipped, err)
	}
}

// Rest counts what follows in a shard's part of an object that is not compressed, so that a
// caller that gathers records can reserve memory.
func TestRestOfAShardByHand(t *testing.T) {
	const rows = blockRecords + 10
	data := string(datasettest.NPY("<f4", "(4106, 1)", make([]float32, rows)))
	for _, c := range []struct {
		name, key, data string
		shardBytes      protocol.ByteSize
		want            []int // of each block
	}{
		{"two blocks", "a.npy", data, 1 << 20, []int{10, 0}},
		{"two shards", "a.npy", data, protocol.ByteSize(len(data)-4) / 2, []int{0, 0, 0}},
		{"compressed: nobody knows", "a.npy.gz", zipped(data), 1 << 20, []int{0, 0}},
	} {
		in := formatInput("npy", func(in *protocol.Input) { in.ShardBytes = c.shardBytes })
		source, shards, err := openInput(storeOf(t, map[string]string{c.key: c.data}), in)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, shard := range shards {
			for block, err := range source.Blocks(t.Context(), shard) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, block.Rest)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
