package features

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func textBlock(points []point, first int) *dataset.Block {
	block := denseBlock(points, first)
	for _, p := range points {
		text := ""
		for _, v := range p.x {
			letter := int(min(v*v, 6))
			text += "abcdefg"[letter:letter+1] + " "
		}
		block.Texts = append(block.Texts, []byte(text))
	}
	block.Dense = dataset.Dense{}
	return block
}

// Neither the blocks nor the tasks change a bit.
func TestGroupingNeverChangesABit(t *testing.T) {
	shards := rapid.Custom(drawShards).Example(7)
	for name, c := range map[string]struct {
		scale string
		make  func([]point, int) *dataset.Block
	}{
		"dense":           {ScaleNone, denseBlock},
		"dense, standard": {ScaleStandard, denseBlock},
		"dense, l2":       {ScaleL2, denseBlock},
		"sparse":          {ScaleStandard, sparseBlock},
		"texts":           {ScaleL2, textBlock},
	} {
		want, err := run(t, scaleParams(c.scale), leaves(shards, 1, c.make), jobstest.Grouping{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rapid.Check(t, func(rt *rapid.T) {
			size := rapid.IntRange(1, 6).Draw(rt, "records per block")
			got, err := run(t, scaleParams(c.scale), leaves(shards, size, c.make), jobstest.DrawGrouping(rt))
			if err != nil || jobstest.Digest(got) != jobstest.Digest(want) {
				rt.Fatalf("%s: another space (%v)", name, err)
			}
		})
	}
}

// Counts, ranges and dictionaries are whole numbers and orders: shards do not change them either.
func TestShardsDoNotChangeCounts(t *testing.T) {
	points := slices.Concat(rapid.Custom(drawShards).Example(3)...)
	want := spaceOf(t, DefaultParams(), leaves([][]point{points}, 2, denseBlock))
	words := spaceOf(t, DefaultParams(), leaves([][]point{points}, 2, textBlock))
	for cut := range points {
		shards := [][]point{points[:cut], {}, points[cut:]}
		got := spaceOf(t, DefaultParams(), leaves(shards, 2, denseBlock))
		if !slices.Equal(got.Labels.List(), want.Labels.List()) || !slices.Equal(got.ClassRecords, want.ClassRecords) ||
			!slices.Equal(got.Min, want.Min) || !slices.Equal(got.Max, want.Max) || got.Records != want.Records {
			t.Errorf("cut at %d: %+v", cut, got)
		}
		again := spaceOf(t, DefaultParams(), leaves(shards, 2, textBlock))
		if !slices.Equal(again.Dictionary().Terms.List(), words.Dictionary().Terms.List()) {
			t.Errorf("cut at %d: another dictionary", cut)
		}
	}
}

// Texts "a b a" and "b c": the dictionary is a, b (2 each), c.
func TestTextsByHand(t *testing.T) {
	block := func([]point, int) *dataset.Block {
		return &dataset.Block{IDs: make([]dataset.Identity, 2), Texts: [][]byte{[]byte("a B a"), []byte("b c")}}
	}
	two := [][]point{make([]point, 2)}
	p := DefaultParams()
	s := spaceOf(t, p, leaves(two, 2, block))
	if s.Width != 3 || !s.Sparse || !slices.Equal(s.Dictionary().Terms.List(), []string{"a", "b", "c"}) ||
		s.Labels.Len() != 0 {
		t.Errorf("%+v", s)
	}
	v, err := s.NewReader().Read(block(nil, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Sparse.Indptr, []int{0, 2, 4}) || !slices.Equal(v.Sparse.Indices, []int32{0, 1, 1, 2}) ||
		!slices.Equal(v.Sparse.Values, []float32{2, 1, 1, 1}) || !slices.Equal(v.Class, []int32{-1, -1}) {
		t.Errorf("%+v", v)
	}
	p.Text = &vocabulary.Params{NgramMin: 1, NgramMax: 1, MinDF: 2}
	_, err = run(t, p, leaves(two, 2, block), jobstest.Grouping{})
	wantFault(t, "no term is in both unless case is folded", err, protocol.CodeInputEmpty, -1)
}

// Test records count for nothing but their shape.
func TestTestRecordsDoNotCount(t *testing.T) {
	spec := protocol.JobSpec{}
	spec.Spec.Input.Split.Test = 0.5
	phase, err := New(DefaultParams(), spec, "next")
	if err != nil {
		t.Fatal(err)
	}
	points := slices.Repeat([]point{{"a", []float32{1}}}, 64)
	test := jobs.TestRecords(spec)()
	held := int64(0)
	for i := range points {
		if test(&dataset.Block{IDs: []dataset.Identity{dataset.ByPlace("points", int64(i))}}, 0) {
			points[i] = point{"b", []float32{float32(math.NaN())}}
			held++
		}
	}
	result, err := jobstest.Run(t.Context(), only{phase}, spec, leaves([][]point{points}, 5, denseBlock),
		kernelops.Best(), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := ReadSpace(result.Model)
	if err != nil {
		t.Fatal(err)
	}
	if held == 0 || s.Records != 64-held || s.Max[0] != 1 || s.Labels.Len() != 1 {
		t.Errorf("%d held out; %+v", held, s)
	}
}

func wantFault(t *testing.T, name string, err error, code protocol.Code, offset int64) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) {
		t.Errorf("%s: want %s, got %v", name, code, err)
		return
	}
	want := fault.WithOffset(offset)
	if offset < 0 {
		want = fault.WithoutOffset()
	}
	if fault.Code != code || *fault != *want {
		t.Errorf("%s: want %s at %d, got %v", name, code, offset, err)
	}
}

func TestFaults(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	a, b, wide := point{"a", []float32{1, 2}}, point{"b", []float32{3, 4}}, point{"a", []float32{1, 2, 3}}
	for name, c := range map[string]struct {
		shards [][]point
		scale  string
		make   func([]point, int) *dataset.Block
		option Option
		code   protocol.Code
		offset int64
	}{
		"width between blocks": {[][]point{{a, b, wide}}, ScaleNone, denseBlock, nil, protocol.CodeBadRecord, 2},
		"width between shards": {[][]point{{a}, {}, {b}, {wide}}, ScaleNone, denseBlock, nil, protocol.CodeBadRecord,
			2},
		"sparse widths": {[][]point{{a}, {wide}}, ScaleNone, sparseBlock, nil, protocol.CodeBadRecord, 1},
		"NaN": {[][]point{{a}, {b, {"a", []float32{1, nan}}}}, ScaleNone, denseBlock, nil,
			protocol.CodeBadRecord, 2},
		"infinite": {[][]point{{a, {"a", []float32{inf, 2}}}}, ScaleL2, denseBlock, nil, protocol.CodeBadRecord,
			1},
		"sparse NaN": {[][]point{{a, {"a", []float32{1, nan}}}}, ScaleNone, sparseBlock, nil,
			protocol.CodeBadRecord, 1},
		"no record":       {[][]point{{}, {}}, ScaleNone, denseBlock, nil, protocol.CodeInputEmpty, -1},
		"no vectors":      {[][]point{{{"a", nil}}}, ScaleNone, denseBlock, nil, protocol.CodeBadRecord, 0},
		"no labels":       {[][]point{{a, b}}, ScaleNone, unlabelled, Classes(0), protocol.CodeInputEmpty, -1},
		"one class":       {[][]point{{a, a}}, ScaleNone, denseBlock, Classes(2), protocol.CodeInputEmpty, -1},
		"sparse minmax":   {[][]point{{a}}, ScaleMinMax, sparseBlock, nil, protocol.CodeSpecInvalid, -1},
		"texts, standard": {[][]point{{a}}, ScaleStandard, textBlock, nil, protocol.CodeSpecInvalid, -1},
	} {
		options := []Option{}
		if c.option != nil {
			options = append(options, c.option)
		}
		_, err := run(t, scaleParams(c.scale), leaves(c.shards, 1, c.make), jobstest.Grouping{}, options...)
		wantFault(t, name, err, c.code, c.offset)
	}
}

func unlabelled(points []point, first int) *dataset.Block {
	block := denseBlock(points, first)
	block.Labels = nil
	return block
}

func TestReadFaults(t *testing.T) {
	s := spaceOf(t, scaleParams(ScaleStandard),
		leaves([][]point{{{"a", []float32{1, 1}}, {"a", []float32{1.0000001, 2}}}}, 1, denseBlock))
	far := []point{{"a", []float32{1, 1}}, {"a", []float32{math.MaxFloat32, 1}}}
	wide := []point{{"a", []float32{1, 2, 3}}}
	heavy := denseBlock(far[:1], 5)
	heavy.Weights = []float32{-1}
	for name, block := range map[string]*dataset.Block{
		"another width":   denseBlock(wide, 5),
		"another form":    sparseBlock(far, 5),
		"texts":           textBlock(far, 5),
		"nothing":         {IDs: heavy.IDs},
		"not a number":    denseBlock([]point{{"a", []float32{1, float32(math.NaN())}}}, 5),
		"negative weight": heavy,
		"far away":        denseBlock(far[1:], 5),
	} {
		_, err := s.NewReader().Read(block, nil)
		wantFault(t, name, err, protocol.CodeBadRecord, 5)
	}
	// what is not kept is not judged
	if _, err := s.NewReader().Read(denseBlock(far, 0), func(b *dataset.Block, i int) bool {
		return b.IDs[i].Offset == 0
	}); err != nil {
		t.Error(err)
	}
	if v, err := s.NewReader().Read(&dataset.Block{}, nil); err != nil || v.Rows != 0 {
		t.Error(v, err)
	}
}

func TestNoClassesCountsNone(t *testing.T) {
	model, err := run(t, DefaultParams(), leaves(fourPoints, 2, denseBlock), jobstest.Grouping{}, NoClasses())
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ReadSpace(model); err != nil || s.Labels.Len() != 0 {
		t.Errorf("%v, %v", s, err)
	}
}

func TestParamsAreChecked(t *testing.T) {
	for _, p := range []Params{{}, {Scale: "Standard"}, {Scale: ScaleNone, Text: &vocabulary.Params{}}} {
		_, err := New(p, protocol.JobSpec{}, "next")
		wantFault(t, p.Scale, err, protocol.CodeSpecInvalid, -1)
	}
}

// A reader's fault is the phase's fault.
func TestReaderFaultsPass(t *testing.T) {
	broken := errors.New("broken")
	leaf := func(context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) { yield(nil, broken) }
	}
	if _, err := run(t, DefaultParams(), []jobstest.Blocks{leaf}, jobstest.Grouping{}); !errors.Is(err, broken) {
		t.Error(err)
	}
}
