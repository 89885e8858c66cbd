package parts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

var two = Table{
	{Name: "object", Texts: []string{"a,b", `say "so"`}},
	{Name: "row", Ints: []int64{0, -7}},
	{Name: "distance", Floats: []float64{0.1, 1e300}},
}

func TestEncodeByHand(t *testing.T) {
	for format, want := range map[string]string{
		CSV:   "object,row,distance\n\"a,b\",0,0.1\n\"say \"\"so\"\"\",-7,1e+300\n",
		JSONL: "{\"object\":\"a,b\",\"row\":0,\"distance\":0.1}\n{\"object\":\"say \\\"so\\\"\",\"row\":-7,\"distance\":1e+300}\n",
	} {
		got, err := two.Encode(format)
		if err != nil || string(got) != want {
			t.Errorf("%s:\n%s\nwant\n%s (%v)", format, got, want, err)
		}
	}
	got, err := Table{{Name: "class", Ints: []int64{3, -1}}}.Encode(NPY)
	want := "\x93NUMPY\x01\x00\x76\x00{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }" + strings.Repeat(" ",
		60) + "\n" +
		"\x03\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"
	if err != nil || string(got) != want {
		t.Errorf("npy: %q\nwant %q (%v)", got, want, err)
	}
}

// An array of one dimension is written in parts as one: one of them without rows, whose type is that of the others.
func TestArraysOfOneDimensionByHand(t *testing.T) {
	s, all := store{}, List{}
	for leaf, ends := range [][]int64{{0, 2}, {}, {5}} {
		l, err := WriteArray(t.Context(), s.emit, "ends", leaf, Array{Name: "end", Ints: ends})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l...)
	}
	got, err := joined(s, Index{Format: NPY, Columns: []string{"end"}, Rows: all.Rows(), Parts: all})
	want, _ := Table{{Name: "end", Ints: []int64{0, 2, 5}}}.Encode(NPY)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q, want %q (%v)", got, want, err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, encode := range map[string]func() ([]byte, error){
		"npy of texts":   func() ([]byte, error) { return two[:1].Encode(NPY) },
		"no such format": func() ([]byte, error) { return two.Encode("xls") },
		"infinity as JSON": func() ([]byte,
			error) {
			return Table{{Name: "x", Floats: []float64{math.Inf(1)}}}.Encode(JSONL)
		},
	} {
		if _, err := encode(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// store keeps what is emitted.
type store map[string][]byte

func (s store) emit(_ context.Context, name string, data []byte) (jobs.File, error) {
	s[name] = bytes.Clone(data)
	sum := sha256.Sum256(data)
	return jobs.File{Name: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}, nil
}

// written writes a table of rows 0..7 in three parts, one of them empty, and returns its index as stored.
func written(t *testing.T, s store, format string) Index {
	t.Helper()
	var all List
	for leaf, rows := range [][]int64{{0, 1, 2}, {}, {3, 4, 5, 6, 7}} {
		floats := make([]float64, len(rows))
		for i, r := range rows {
			floats[i] = float64(r) / 4
		}
		l, err := Write(t.Context(), s.emit, "out", leaf, format,
			Table{{Name: "row", Ints: rows}, {Name: "value", Floats: floats}})
		if err != nil {
			t.Fatal(err)
		}
		a := jobs.Arrays{}
		jobs.Add(a, &l)
		if l, err = ReadList(a); err != nil {
			t.Fatal(err)
		}
		all = append(all, l...)
	}
	if _, err := WriteIndex(t.Context(), s.emit, "out",
		Index{Format: format, Columns: []string{"row", "value"}, Parts: all}); err != nil {
		t.Fatal(err)
	}
	x, err := ReadIndex(s["out/index.json"])
	if err != nil || x.Rows != 8 || len(x.Parts) != 3 || x.Parts[1].Name != "out/part-000001."+format {
		t.Fatalf("%+v, %v", x, err)
	}
	return x
}

// joined is every part through a Joiner.
func joined(s store, x Index) ([]byte, error) {
	var out bytes.Buffer
	j := NewJoiner(x, &out)
	for _, p := range x.Parts {
		if err := j.Add(s[p.Name]); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// The parts joined are the table written as one part.
func TestJoinIsOneTable(t *testing.T) {
	whole := Table{{Name: "row", Ints: []int64{0, 1, 2, 3, 4, 5, 6, 7}},
		{Name: "value", Floats: []float64{0, .25, .5, .75, 1, 1.25, 1.5, 1.75}}}
	for _, format := range []string{CSV, JSONL, NPY} {
		s := store{}
		got, err := joined(s, written(t, s, format))
		if err != nil {
			t.Fatal(err)
		}
		want, err := whole.Encode(format)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q\nwant %q (%v)", format, got, want, err)
		}
	}
}

func TestDamageIsFound(t *testing.T) {
	s := store{}
	x := written(t, s, NPY)
	s["out/part-000002.npy"][130]++
	if _, err := joined(s, x); !errors.Is(err, ErrDamaged) {
		t.Errorf("another byte: %v", err)
	}
	for name, data := range map[string]string{
		"no JSON": "{", "unknown field": `{"schema_version":1,"x":1}`, "another version": `{"schema_version":2}`,
		"rows that do not add up": `{"schema_version":1,"rows":3,"parts":[{"rows":2}]}`,
		"negative rows":           `{"schema_version":1,"rows":-1,"parts":[{"rows":-1}]}`,
	} {
		if _, err := ReadIndex([]byte(data)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzSplitNpy(f *testing.F) {
	for _, table := range []Table{{{Name: "a", Ints: []int64{1}}},
		{{Name: "a", Ints: []int64{1}}, {Name: "b", Floats: []float64{2}}}, {{Name: "a", Floats: []float64{}}}} {
		data, err := table.Encode(NPY)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		descr, cols, elements, err := splitNpy(data)
		if err == nil && !bytes.Equal(append(NPYHeader(descr, int64(len(elements)/8/max(cols, 1)), cols), elements...),
			data) && cols > 0 && len(elements) > 0 {
			t.Errorf("read %s with %d columns from %q", descr, cols, data)
		}
	})
}

// Another reader of CSV and of JSON lines gives the cells back.
func TestReadBack(t *testing.T) {
	data, _ := two.Encode(CSV)
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) != 3 || rows[1][0] != "a,b" || rows[2][0] != `say "so"` {
		t.Error(rows, err)
	}
	data, _ = two.Encode(JSONL)
	var row struct{ Object string }
	if err := json.Unmarshal(bytes.Split(data, []byte("\n"))[1], &row); err != nil || row.Object != `say "so"` {
		t.Error(row, err)
	}
}
