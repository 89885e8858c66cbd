package compare

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// Objects are compared by digest, or by ETag without one: of records, of labels and of ids.
func TestInputs(t *testing.T) {
	one := origin.Object{Object: dataset.Object{Key: "x", Size: 3, ETag: "e", Digest: "md5:00"}}
	moved, other := one, one
	moved.ETag, other.Digest = "f", "md5:01"
	list := func(o origin.Object) []origin.Object { return []origin.Object{o} }
	left := &origin.Provenance{DataSet: origin.DataSet{Objects: list(one), Labels: list(one), IDs: list(one)}}
	left.Queries = &left.DataSet
	right := &origin.Provenance{DataSet: origin.DataSet{Objects: list(moved), Labels: list(other), IDs: list(other)},
		Queries: &origin.DataSet{Objects: list(one), Labels: list(one)}}
	var paths []string
	for _, f := range inputs(left, right) {
		paths = append(paths, f.Path)
	}
	if want := []string{"input ids x", "input labels x", "queries ids x"}; !slices.Equal(paths, want) {
		t.Errorf("%q differ, not %q", paths, want)
	}
}

// The fields of a spec whose paths would not fit into memory are refused, as damage of the file that has it.
func TestSpecsOfLongPaths(t *testing.T) {
	spec := `{"` + strings.Repeat("k", 1<<20) + `":[` + strings.Repeat("0,", 300) + `0]}`
	folder := Folder{"f", func(context.Context, string) ([]byte, error) {
		return []byte(`{"job":"j-1","spec":` + spec + `}`), nil
	}}
	_, err := Jobs(t.Context(), folder, folder)
	var damaged *Damaged
	if !errors.As(err, &damaged) || damaged.File != "provenance.json" {
		t.Errorf("%v", err)
	}
}

// Floats between two floats, worked out by hand: neighbors, both signs of zero, and across zero.
func TestFloatsBetween(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	for _, c := range []struct {
		x, y float64
		ulps int64
	}{
		{1, math.Nextafter(1, 2), 1}, {1, 1 - 0x1p-53, 1}, {1, 2, 1 << 52}, {tiny, 3 * tiny, 2}, {-tiny, tiny, 2},
		{0, math.Copysign(0, -1), 0}, {-1, -1 - 0x1p-51, 2}, {math.NaN(), 1, math.MaxInt64},
		{math.MaxFloat64, math.Inf(1), 1}, {math.Inf(-1), math.Inf(1), math.MaxInt64},
	} {
		a, b := jobs.Arrays{}, jobs.Arrays{}
		jobs.Put(a, "x", []float64{7, c.x})
		jobs.Put(b, "x", []float64{7, c.y})
		for _, got := range []Array{array("x", a, b), array("x", b, a)} {
			if got.MaxULP != c.ulps || got.Differ != 1 || got.Elements != 2 || got.At != 1 {
				t.Errorf("%v and %v: %+v", c.x, c.y, got)
			}
		}
	}
	a, b := jobs.Arrays{}, jobs.Arrays{}
	jobs.Put(a, "x", []float32{1, -1, 5, 5})
	jobs.Put(b, "x", []float32{1 + 0x1p-23, -1 - 0x1p-22, 5, 5})
	got := array("x", a, b)
	if got.MaxULP != 2 || got.MeanULP != 0.75 || got.Differ != 2 || got.Largest != 0x1p-22 {
		t.Errorf("float32: %+v", got)
	}
}

// Arrays of whole numbers, of other shapes, and those that one model lacks.
func TestArrays(t *testing.T) {
	a, b := jobs.Arrays{}, jobs.Arrays{}
	jobs.Put(a, "count", []int64{1, 2, -3})
	jobs.Put(b, "count", []int64{1, 9, 3})
	jobs.Put(a, "left", []uint8{1})
	jobs.Put(b, "right", []uint8{1})
	jobs.Put(a, "shape", []int32{1, 2})
	jobs.Put(b, "shape", []int32{1, 2}, 2, 1)
	jobs.Put(a, "same", []float32{1})
	jobs.Put(b, "same", []float32{1})
	var says []string
	for _, f := range arrays(a, b) {
		says = append(says, f.Name+": "+f.Says)
	}
	want := []string{"count: 2 of 3 elements differ", "left: only in the first", "right: only in the second",
		"same: the same", "shape: in the second I32 [2 1]"}
	if !slices.Equal(says, want) {
		t.Errorf("%q", says)
	}
	if f := array("count", a, b); f.Largest != 7 || f.At != 1 || f.MaxULP != 0 {
		t.Errorf("count: %+v", f)
	}
}

func recordOf(state byte, digests ...byte) *proof.Record {
	r := &proof.Record{Round: 2, Phase: "p", State: proof.Digest{state}, Before: proof.Digest{1}, Trees: []int64{3, 1},
		Nodes: make([]byte, 6*32)}
	for i, d := range digests {
		r.Nodes[32*i] = d
	}
	return r
}

// The first node that differs is a leaf before what it was merged into, and of two trees the first's.
func TestFirstNode(t *testing.T) {
	plain := recordOf(1)
	for name, c := range map[string]struct {
		other *proof.Record
		node  protocol.Node
		tree  int
		says  string
	}{
		"a leaf and what is above it": {recordOf(1, 0, 5, 5, 0, 5), protocol.Node{Index: 1}, 0,
			"round 2 (p): leaf 1 of tree 0 differs first; 1 of 4 leaves differ"},
		"a merge": {recordOf(1, 0, 0, 5, 0, 5), protocol.Node{Level: 1}, 0,
			"round 2 (p): the merge of leaves 0 to 1 of tree 0 differs first; 0 of 4 leaves differ"},
		"another tree": {recordOf(1, 0, 0, 0, 0, 0, 5), protocol.Node{}, 1,
			"round 2 (p): leaf 0 of tree 1 differs first; 1 of 4 leaves differ"},
		"the state": {recordOf(2, 5), protocol.Node{}, 0, "round 2 (p) began with another state"},
	} {
		got := firstNode(plain, c.other)
		if got.Says != c.says || got.Level != c.node.Level || got.Index != c.node.Index || got.Tree != c.tree {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Figures of an evaluation are numbers; tables of labels are left out, and so is what only one job has.
func TestFigures(t *testing.T) {
	of := func(text string) map[string]float64 {
		return evaluated([]jobs.Metric{{Name: "other", Value: []byte(`{"x":1}`)},
			{Name: "evaluation", Value: []byte(text)}})
	}
	got := figures(of(`{"accuracy":0.5,"macro":{"f1":0.25},"labels":[{"f1":1}],"only":1}`),
		of(`{"accuracy":0.75,"macro":{"f1":0.25},"labels":[{"f1":2}]}`))
	if want := []Figure{{"accuracy", 0.5, 0.75}}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// Objects beyond those that provenance lists differ where the manifests do.
func TestObjectsThatAreNotListed(t *testing.T) {
	of := func(count int, digest byte) *origin.Provenance {
		object := origin.Object{Object: dataset.Object{Key: "a"}}
		return &origin.Provenance{DataSet: origin.DataSet{Objects: []origin.Object{object}, ObjectCount: count},
			Manifest: proof.File{SHA256: proof.Digest{digest}}}
	}
	if found := inputs(of(2, 1), of(2, 2)); len(found) != 1 || found[0].Path != "objects that are not listed" {
		t.Errorf("other objects: %v", found)
	}
	for _, right := range []*origin.Provenance{of(2, 1), of(1, 1)} {
		if found := inputs(of(2, 1), right); len(found) != 0 {
			t.Errorf("the same: %v", found)
		}
	}
	if found := inputs(of(1, 1), of(1, 2)); len(found) != 0 { // the manifest also says where they lie
		t.Errorf("all are listed: %v", found)
	}
}
