package dataset

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// named is what names a record, and where it lies.
type named struct{ id, at Identity }

// readNamed reads the folder "d/" in shards of several sizes, and demands the same names of each.
func readNamed(t *testing.T, in protocol.Input, files map[string]string) (all []named, skipped []Skip, err error) {
	t.Helper()
	for _, size := range []int{1 << 20, 40, 9, 1} {
		in.ShardBytes = protocol.ByteSize(size)
		again, skippedAgain, errAgain := readNamedIn(t, in, files)
		for i := range skippedAgain {
			skippedAgain[i].Line = 0 // known only to the first piece of an object
		}
		if size == 1<<20 {
			all, skipped, err = again, skippedAgain, errAgain
		} else if !slices.Equal(all, again) || !slices.Equal(skipped, skippedAgain) ||
			(err == nil) != (errAgain == nil) {
			t.Errorf("shards of %d: %v %v %v; whole: %v %v %v", size, again, skippedAgain, errAgain, all, skipped, err)
		}
	}
	return all, skipped, err
}

func readNamedIn(t *testing.T, in protocol.Input, files map[string]string) (all []named, skipped []Skip, err error) {
	store := storeOf(t, files)
	m, shards, err := Plan(t.Context(), store, "d/", in)
	if err != nil {
		return nil, nil, err
	}
	stored, err := MarshalManifest(m)
	if err != nil {
		return nil, nil, err
	}
	if m, err = UnmarshalManifest(stored); err != nil {
		return nil, nil, err
	}
	s, err := NewSource(store, "d/", m, in)
	if err != nil {
		return nil, nil, err
	}
	for _, shard := range shards {
		for b, err := range s.Blocks(t.Context(), shard) {
			if err != nil {
				return all, skipped, err
			}
			for i, id := range b.IDs {
				at := id
				if b.Places != nil {
					at = b.Places[i]
				}
				all = append(all, named{id, at})
			}
			if b.Places != nil && len(b.Places) != len(b.IDs) {
				t.Fatalf("%d ids and %d places", len(b.IDs), len(b.Places))
			}
			skipped = append(skipped, b.Skipped...)
		}
	}
	return all, skipped, nil
}

func idsInput(format string, set func(*protocol.Input)) protocol.Input {
	in := protocol.Input{URI: "mem://test/d/", Format: format}
	set(&in)
	return in.WithDefaults()
}

func idsURI(in *protocol.Input) { in.IDsURI = "mem://test/i/" }

// npyTexts are strings as npy holds them: in bytes, or in characters of four bytes.
func npyTexts(size, width int, texts ...string) string {
	var cells []byte
	for _, text := range texts {
		cell := make([]byte, width*size)
		at := 0
		if size == 1 {
			copy(cell, text)
		} else {
			for _, c := range text {
				cell[at], cell[at+1], cell[at+2] = byte(c), byte(c>>8), byte(c>>16)
				at += 4
			}
		}
		cells = append(cells, cell...)
	}
	return string(datasettest.NPY(fmt.Sprintf(map[int]string{1: "|S%d", 4: "<U%d"}[size], width),
		fmt.Sprintf("(%d,)", len(texts)), cells))
}

// One table has the same ids in every format.
func TestIDsByHand(t *testing.T) {
	matrix := datasettest.NPY("<f4", "(2, 2)", []float32{1, 2, 3, 0})
	ints := string(datasettest.NPY("<i8", "(2,)", []int64{17, -3}))
	npz := func(ids string) string {
		return string(datasettest.NPZ(true, datasettest.Array{Name: "X", NPY: matrix},
			datasettest.Array{Name: "k", NPY: []byte(ids)}))
	}
	arrays := func(in *protocol.Input) {
		in.Features, in.ID.Name = []protocol.Column{{Name: "X"}}, "k"
	}
	number := func(in *protocol.Input) { in.ID.Number = 2 }
	one := 1
	for _, c := range []struct {
		name, format, data, ids string
		set                     func(*protocol.Input)
		second                  int64 // offset or row of the second record
	}{
		{"csv", "csv", "1,17,2\n3,\"-3\",0\n", "", number, 7},
		{"header", "csv", "a,k,b\n1,17,2\n3,-3,0\n", "", func(in *protocol.Input) {
			in.Header, in.ID.Name = true, "k"
		}, 13},
		{"tsv", "tsv", "x\t17\ty\nx\t-3\n", "", func(in *protocol.Input) { in.ID.Number, in.Text.Number = 2, 1 }, 7},
		{"jsonl", "jsonl", `{"k":17,"x":[1,2]}` + "\n" + `{"x":[3,0],"k":"-3"}`, "", func(in *protocol.Input) {
			in.ID.Name, in.Features = "k", []protocol.Column{{Name: "x"}}
		}, 19},
		{"libsvm", "libsvm", "a 1:1 2:2 # 17\nb 1:3 #-3\t\n", "", func(in *protocol.Input) {
			in.ID.Name, in.Width, in.IndexBase = protocol.CommentID, 2, &one
		}, 15},
		{"npy", "npy", string(matrix), ints, idsURI, 1},
		{"npy of bytes", "npy", string(matrix), npyTexts(1, 4, "17", "-3"), idsURI, 1},
		{"npy of characters", "npy", string(matrix), npyTexts(4, 2, "17", "-3"), idsURI, 1},
		{"npz", "npz", npz(ints), "", arrays, 1},
		{"npz of characters", "npz", npz(npyTexts(4, 9, "17", "-3")), "", arrays, 1},
		{"idx", "idx", string(datasettest.IDX(8, []uint32{2, 3}, integers[uint8]())),
			string(datasettest.IDX(0x0c, []uint32{2}, []int32{17, -3})), idsURI, 1},
		{"idx by npy", "idx", string(datasettest.IDX(8, []uint32{2, 3}, integers[uint8]())), ints, idsURI, 1},
		{"fvecs", "fvecs", string(datasettest.Vecs(1, float32(1))) + string(datasettest.Vecs(1, float32(2))), ints,
			idsURI, 1},
		{"ivecs", "ivecs", string(datasettest.Vecs(1, int32(1))) + string(datasettest.Vecs(1, int32(2))),
			string(datasettest.Vecs(1, int32(17))) + string(datasettest.Vecs(1, int32(-3))), idsURI, 1},
	} {
		for _, suffix := range []string{"", ".gz"} {
			pack := zipped
			if suffix == "" {
				pack = func(s string) string { return s }
			} else if c.format == "npz" {
				continue
			}
			files := map[string]string{"d/f" + suffix: pack(c.data)}
			if c.ids != "" {
				files["i/f"+suffix] = pack(c.ids)
			}
			got, _, err := readNamed(t, idsInput(c.format, c.set), files)
			first := int64(strings.Index(c.data, "1,17,2"))
			want := []named{{ByID("17"), ByPlace("f"+suffix, max(first, 0))},
				{ByID("-3"), ByPlace("f"+suffix, c.second)}}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s%s: %v, %v; want %v", c.name, suffix, got, err, want)
			}
		}
	}
}

// Without ids, rows are counted over all objects, those in gzip, without rows and skipped ones included.
func TestRowsAreCountedOverAllObjects(t *testing.T) {
	vec := func(v ...float32) (s string) {
		for _, x := range v {
			s += string(datasettest.Vecs(1, x))
		}
		return s
	}
	nan := float32(0)
	nan /= nan
	in := idsInput("fvecs", func(in *protocol.Input) { in.OnBadRecord.SkipMax = 1 })
	got, skipped, err := readNamed(t, in, map[string]string{"d/a": vec(1, 2), "d/b.gz": zipped(vec(3)), "d/c": "",
		"d/d": vec(4, nan, 5)})
	var want []named
	for _, row := range []int64{0, 1, 2, 3, 5} {
		want = append(want, named{ByRow(row), ByRow(row)})
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if len(skipped) != 1 || skipped[0].ID != ByPlace("d", 1) {
		t.Errorf("skipped %v", skipped)
	}
	m := Manifest{Objects: []Object{{Key: "a", Rows: 2}, {Key: "b"}, {Key: "c", Rows: 1}}}
	for row, at := range map[int64]string{0: "a 0 true", 1: "a 1 true", 2: "c 0 true", 3: " 0 false", -1: " 0 false"} {
		object, within, ok := m.RowOf(row)
		if !ok {
			object, within = "", 0
		}
		if got := fmt.Sprint(object, " ", within, " ", ok); got != at {
			t.Errorf("row %d is %s, want %s", row, got, at)
		}
	}
}

// Bad ids are named with row and column, or passed over where that is allowed.
func TestBadIDs(t *testing.T) {
	long := strings.Repeat("x", protocol.MaxIDBytes+1)
	one := 1
	csv := func(in *protocol.Input) { in.ID.Number = 1 }
	json := func(in *protocol.Input) { in.ID.Name, in.Features = "k", []protocol.Column{{Name: "x"}} }
	svm := func(in *protocol.Input) { in.ID.Name, in.Width, in.IndexBase = protocol.CommentID, 2, &one }
	matrix := string(datasettest.NPY("<f4", "(2, 1)", []float32{1, 2}))
	surrogate := string(datasettest.NPY("<U1", "(2,)", []uint32{'a', 0xd800}))
	for _, c := range []struct {
		format, data, ids string
		set               func(*protocol.Input)
		says              string
	}{
		{"csv", "a,1\n,2\n", "", csv, "line 2, column 1 (byte 4): the id is empty"},
		{"csv", "a,1\n" + long + ",2\n", "", csv, "line 2, column 1 (byte 4): the id has more than 128 bytes"},
		{"csv", "a,1\nb\x00,2\n", "", csv, "line 2, column 1 (byte 4): a NUL byte"},
		{"csv", "a,1\n\xff,2\n", "", csv, "line 2, column 1 (byte 4): not valid UTF-8"},
		{"tsv", "a\tb\nb\n", "", func(in *protocol.Input) { in.ID.Number, in.Text.Number = 2, 1 }, "column 2"},
		{"tsv", "a\tb\nb\t\n", "", func(in *protocol.Input) { in.ID.Number, in.Text.Number = 2, 1 }, "the id is empty"},
		{"jsonl", `{"k":1,"x":1}` + "\n" + `{"x":1}`, "", json, `"k": the value is missing or null`},
		{"jsonl", `{"k":1,"x":1}` + "\n" + `{"x":1,"k":1.5}`, "", json, `"k": the id is neither a string nor an integer`},
		{"jsonl", `{"k":1,"x":1}` + "\n" + `{"x":1,"k":-0}`, "", json, `"k": the id is neither`},
		{"jsonl", `{"k":1,"x":1}` + "\n" + `{"x":1,"k":[1]}`, "", json, `"k": the id is neither`},
		{"jsonl", `{"k":1,"x":1}` + "\n" + `{"x":1,"k":""}`, "", json, `"k": the id is empty`},
		{"libsvm", "a 1:1 # x\nb 1:1\n", "", svm, "line 2 (byte 10): the line has no comment, which holds its id"},
		{"libsvm", "a 1:1 # x\nb 1:1 # \n", "", svm, "line 2 (byte 10): the id is empty"},
		{"npy", matrix, npyTexts(1, 3, "a", ""), idsURI, "row 1: the id is empty"},
		{"npy", matrix, npyTexts(1, 3, "a", "b\x00c"), idsURI, "row 1: a NUL byte"},
		{"npy", matrix, npyTexts(1, 3, "a", "\xff"), idsURI, "row 1: not valid UTF-8"},
		{"npy", matrix, surrogate, idsURI, "row 1: not valid UTF-8"},
		{"npy", matrix, npyTexts(4, 200, "a", long), idsURI, "row 1: the id has more than 128 bytes"},
	} {
		files := map[string]string{"d/f": c.data}
		if c.ids != "" {
			files["i/f"] = c.ids
		}
		_, _, err := readNamedIn(t, idsInput(c.format, c.set), files)
		if !isFault(err, protocol.CodeBadRecord, "") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %q: %v; want %s", c.format, c.data, err, c.says)
		}
		in := idsInput(c.format, c.set)
		in.OnBadRecord.SkipMax = 1
		got, skipped, err := readNamed(t, in, files)
		if err != nil || len(got) != 1 || len(skipped) != 1 || skipped[0].ID.Way() != Place {
			t.Errorf("%s %q passed over: %v, %v, %v", c.format, c.data, got, skipped, err)
		}
	}
}

// Ids that do not fit the data are refused before any is read.
func TestIDsThatDoNotFit(t *testing.T) {
	matrix := string(datasettest.NPY("<f4", "(2, 1)", []float32{1, 2}))
	for name, c := range map[string]struct {
		ids  map[string]string
		code protocol.Code
		says string
	}{
		"floats": {map[string]string{"f": matrix}, protocol.CodeBadRecord, "the ids are no whole numbers"},
		"bools": {map[string]string{"f": string(datasettest.NPY("|b1", "(2,)", []uint8{0, 1}))}, protocol.CodeBadRecord,
			"no whole numbers"},
		"objects": {map[string]string{"f": string(datasettest.NPY("|O", "(2,)", []uint64{0, 1}))},
			protocol.CodeBadRecord, "whole numbers, and strings"},
		"no characters": {map[string]string{"f": string(datasettest.NPY("<U0", "(2,)", []uint8{}))},
			protocol.CodeBadRecord, "strings"},
		"fewer": {map[string]string{"f": npyTexts(1, 1, "a")}, protocol.CodeBadRecord, "1 ids for the 2 rows of f"},
		"more":  {map[string]string{"f": npyTexts(1, 1, "a", "b", "c")}, protocol.CodeBadRecord, "3 ids for the 2 rows of f"},
		"wide": {map[string]string{"f": string(datasettest.NPY("<i4", "(2, 2)", make([]int32, 4)))},
			protocol.CodeBadRecord, "one value a row"},
		"two objects": {map[string]string{"f": matrix, "g": matrix}, protocol.CodeSpecInvalid, "2 objects hold ids for the 1"},
	} {
		files := map[string]string{"d/f": matrix}
		for key, data := range c.ids {
			files[path.Join("i", key)] = data
		}
		if _, _, err := readNamedIn(t, idsInput("npy", idsURI), files); !isFault(err, c.code, c.says) {
			t.Errorf("%s: %v; want %s that says %q", name, err, c.code, c.says)
		}
	}
}

// An object's compression is no part of a place; two objects that differ in it alone are refused, unless ids or rows
// name their records.
func TestCompressionIsNoPartOfAPlace(t *testing.T) {
	for key, want := range map[string]string{"x.csv.gz": "x.csv", "x.csv": "x.csv", "x.GZIP": "x", ".gz": ".gz",
		"a/.gz": "a/.gz", "gz": "gz"} {
		if got := placeName(key, "auto"); got != want {
			t.Errorf("%q is called %q, want %q", key, got, want)
		}
		if got := placeName(key, "none"); got != key {
			t.Errorf("%q, not decompressed, is called %q", key, got)
		}
	}
	both := map[string]string{"d/x.csv": "1,a\n", "d/x.csv.gz": zipped("2,b\n")}
	in := idsInput("csv", func(in *protocol.Input) { in.Label.Number = 2 })
	if _, _, err := readNamedIn(t, in, both); !isFault(err, protocol.CodeSpecInvalid, `"x.csv"`) ||
		!strings.Contains(err.Error(), "x.csv.gz: it and") {
		t.Errorf("%v; want a fault that names both", err)
	}
	in.Label, in.ID.Number = protocol.Column{}, 2
	if got, _, err := readNamed(t, in, both); err != nil || len(got) != 2 {
		t.Errorf("with ids: %v, %v", got, err)
	}
}

// Records of libsvm read as dense vectors are those of csv, offsets taken off zeros included.
func TestDenseLibSVM(t *testing.T) {
	one := 1
	for _, subtract := range []map[string]float64{nil, {"2": 0.5}} {
		svm := formatInput("libsvm", func(in *protocol.Input) {
			in.Dense, in.Width, in.IndexBase, in.Subtract = true, 3, &one, subtract
		})
		csv := formatInput("csv", func(in *protocol.Input) { in.Label.Number = 4; in.Subtract = subtract })
		got, skipped, err := readFile(t, svm, map[string]string{"f": "a 1:1.5 3:-2\nb\nc 2:0.1\n"})
		want, _, errCSV := readFile(t, csv, map[string]string{"f": "1.5,0,-2,a\n0,0,0,b\n0,0.1,0,c\n"})
		for i := range want {
			want[i].Offset = got[i].Offset
		}
		if err != nil || errCSV != nil || len(skipped) > 0 || !equalRows(got, want) {
			t.Errorf("%v, %v; want %v, %v", got, err, want, errCSV)
		}
		svm.OnBadRecord.SkipMax = 1
		got, skipped, err = readFile(t, svm, map[string]string{"f": "a 1:1.5 3:-2\nb 1:1 9:1\nc 2:0.1\n"})
		if err != nil || len(skipped) != 1 || len(got) != 2 || got[1].Vector[0] != 0 {
			t.Errorf("passed over: %v, %v, %v", got, skipped, err)
		}
	}
}
