package features

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/protocol"
)

// colors are records of a number and of two categories, in two shards.
func colors() [][]jobstest.Record {
	return [][]jobstest.Record{
		{{Label: "a", Dense: []float32{1}, Categories: []string{"red", "x"}},
			{Label: "b", Dense: []float32{3}, Categories: []string{"blue", "x"}}},
		{{Label: "a", Dense: []float32{5}, Categories: []string{"red", ""}},
			{Label: "b", Dense: []float32{7}, Categories: []string{"green", "x"}}},
	}
}

func categoryParams(scale string, change func(*Categories)) Params {
	p, c := scaleParams(scale), DefaultCategories()
	if change != nil {
		change(&c)
	}
	p.Categories = &c
	return p
}

// categorySpace runs the phase over records.
func categorySpace(t testing.TB, p Params, shards [][]jobstest.Record, size int, grouping jobstest.Grouping,
) (jobs.Arrays, error) {
	spec := protocol.JobSpec{}
	spec.Spec.Input.Categorical = []protocol.Column{{Name: "color"}, {Number: 7}}
	return runSpec(t, spec, p, jobstest.Shards(shards, size), grouping)
}

func readCategories(t *testing.T, a jobs.Arrays, records ...jobstest.Record) (Vectors, error) {
	t.Helper()
	s, err := ReadSpace(a)
	if err != nil {
		t.Fatal(err)
	}
	return s.NewReader().Read(categoryBlock(records...), nil)
}

func categoryBlock(records ...jobstest.Record) *dataset.Block {
	block := &dataset.Block{}
	for i, r := range records {
		block.IDs = append(block.IDs, dataset.Identity{Object: "f", Offset: int64(i)})
		block.Dense.Width, block.Categories.Width = len(r.Dense), len(r.Categories)
		block.Dense.Values = append(block.Dense.Values, r.Dense...)
		for _, c := range r.Categories {
			block.Categories.Values = append(block.Categories.Values, []byte(c))
		}
	}
	return block
}

// Columns are the number, then blue, green and red, then "" and x.
func TestCategoriesByHand(t *testing.T) {
	later := []jobstest.Record{{Dense: []float32{9}, Categories: []string{"blue", ""}},
		{Dense: []float32{0}, Categories: []string{"red", "x"}}}
	root3, root5 := math.Sqrt(3), math.Sqrt(5)
	for _, c := range []struct {
		scale string
		want  []float64
		mean  []float64
	}{
		{ScaleNone, []float64{9, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1}, []float64{4, 0.25, 0.25, 0.5, 0.25, 0.75}},
		{ScaleMinMax, []float64{8. / 6, 1, 0, 0, 1, 0, -1. / 6, 0, 0, 1, 0, 1},
			[]float64{0.5, 0.25, 0.25, 0.5, 0.25, 0.75}},
		{ScaleStandard, []float64{root5, root3, -1 / root3, -1, root3, -root3,
			-4 / root5, -1 / root3, -1 / root3, 1, -1 / root3, 1 / root3}, make([]float64, 6)},
	} {
		a, err := categorySpace(t, categoryParams(c.scale, nil), colors(), 1, jobstest.Grouping{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := readCategories(t, a, later...)
		if err != nil {
			t.Fatal(err)
		}
		close := func(x float32, y float64) bool { return math.Abs(float64(x)-y) < 1e-6 }
		s, _ := ReadSpace(a)
		if !slices.EqualFunc(got.Dense.Data, c.want, close) || !slices.Equal(s.Mean, c.mean) {
			t.Errorf("%s: %v, mean %v; want %v, %v", c.scale, got.Dense.Data, s.Mean, c.want, c.mean)
		}
	}
	sparse := func(c *Categories) { c.Sparse = true }
	a, err := categorySpace(t, categoryParams(ScaleMaxAbs, sparse), colors(), 2, jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readCategories(t, a, later...)
	if err != nil || !slices.Equal(got.Sparse.Indptr, []int{0, 3, 5}) || got.Sparse.Width != 6 ||
		!slices.Equal(got.Sparse.Indices, []int32{0, 1, 4, 3, 5}) ||
		!slices.Equal(got.Sparse.Values, []float32{float32(9. / 7), 1, 1, 1, 1}) {
		t.Errorf("sparse: %+v, %v", got.Sparse, err)
	}
}

// The space, sparse or dense, is that of the same columns given as numbers.
func TestCategoriesAreColumns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		scale := rapid.SampledFrom([]string{ScaleNone, ScaleStandard, ScaleMinMax, ScaleMaxAbs, ScaleRobust}).Draw(rt, "scale")
		name := rapid.SampledFrom([]string{"u", "v", "w"})
		var shards [][]jobstest.Record
		for range rapid.IntRange(1, 3).Draw(rt, "shards") {
			var shard []jobstest.Record
			for range rapid.IntRange(1, 4).Draw(rt, "records") {
				shard = append(shard, jobstest.Record{Label: "a", Dense: []float32{rapid.Float32Range(-9, 9).Draw(rt, "x")},
					Categories: []string{name.Draw(rt, "c"), name.Draw(rt, "d")}})
			}
			shards = append(shards, shard)
		}
		got, err := categorySpace(t, categoryParams(scale, nil), shards, rapid.IntRange(1, 3).Draw(rt, "block"),
			jobstest.DrawGrouping(rt))
		if err != nil {
			rt.Fatal(err)
		}
		whole := [][]jobstest.Record{slices.Concat(shards...)}
		if one, err := categorySpace(t, categoryParams(scale, nil), whole, 2, jobstest.Grouping{}); err != nil ||
			jobstest.Digest(one) != jobstest.Digest(got) {
			rt.Fatalf("another space in one shard (%v)", err)
		}
		plain := make([][]jobstest.Record, len(shards))
		s, err := ReadSpace(got)
		if err != nil {
			rt.Fatal(err)
		}
		for k, shard := range shards {
			for _, r := range shard {
				row, _ := s.encoder.dense(slices.Clone(r.Dense), dataset.Identity{}, categoryBlock(r).Categories.Row(0))
				plain[k] = append(plain[k], jobstest.Record{Label: r.Label, Dense: row})
			}
		}
		want, err := runSpec(t, protocol.JobSpec{}, scaleParams(scale), jobstest.Shards(plain, 1), jobstest.Grouping{})
		if err != nil {
			rt.Fatal(err)
		}
		p, _ := ReadSpace(want)
		near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*(1+math.Abs(y)) }
		if !slices.EqualFunc(s.Mean, p.Mean, near) || !slices.EqualFunc(s.Variance, p.Variance, near) ||
			!slices.Equal(s.Min, p.Min) || !slices.Equal(s.Max, p.Max) || !slices.EqualFunc(s.factor, p.factor, near) {
			rt.Errorf("%s: %+v, want %+v", scale, s, p)
		}
	})
}

// Hashed categories take the columns of their own, and none is unseen.
func TestHashedCategories(t *testing.T) {
	hashed := categoryParams(ScaleNone, func(c *Categories) { c.Bits, c.Max = 3, 1 })
	a, err := categorySpace(t, hashed, colors(), 1, jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readCategories(t, a, jobstest.Record{Dense: []float32{2}, Categories: []string{"violet", "violet"}})
	if err != nil || len(got.Dense.Data) != 17 || got.Dense.Data[0] != 2 {
		t.Fatalf("%v, %v", got.Dense.Data, err)
	}
	first, second := slices.Index(got.Dense.Data[1:9], 1), slices.Index(got.Dense.Data[9:], 1)
	if first < 0 || first != second {
		t.Errorf("violet is in columns %d and %d of 8", first, second)
	}
	s, _ := ReadSpace(a)
	sum := 0.0
	for _, m := range s.Mean[1:] {
		sum += m
	}
	if sum != 2 {
		t.Errorf("the means of the columns sum to %v", sum)
	}
}

// Other means of training and of reading are faults, by name.
func TestCategoriesRefused(t *testing.T) {
	train := func(p Params, records ...jobstest.Record) error {
		_, err := categorySpace(t, p, [][]jobstest.Record{records}, 1, jobstest.Grouping{})
		return err
	}
	mapped := categoryParams(ScaleNone, nil)
	mapped.Map = &Mapping{Degree: 2}
	all := slices.Concat(colors()...)
	some := jobstest.Record{Label: "a", Dense: []float32{1}, Categories: []string{"", "x"}}
	wantFault(t, "mapped", train(mapped, all...), protocol.CodeSpecInvalid, -1)
	wantFault(t, "l2", train(scaleParams(ScaleL2), all...), protocol.CodeSpecInvalid, -1)
	wantFault(t, "sparse minmax", train(categoryParams(ScaleMinMax, func(c *Categories) { c.Sparse = true }), all...),
		protocol.CodeSpecInvalid, -1)
	wantFault(t, "no categories", train(categoryParams(ScaleNone, nil),
		jobstest.DenseRecords([][]float32{{1}}, "a")...),
		protocol.CodeSpecInvalid, -1)
	wantFault(t, "too many", train(categoryParams(ScaleNone, func(c *Categories) { c.Max = 2 }), all...),
		protocol.CodeInputLimit, -1)
	wantFault(t, "all missing", train(scaleParams(ScaleNone), some, some), protocol.CodeInputEmpty, -1)
	var many []jobstest.Record
	for i := range MaxDenseColumns {
		many = append(many, jobstest.Record{Label: "a", Dense: []float32{1}, Categories: []string{fmt.Sprint(i), "x"}})
	}
	wantFault(t, "too wide", train(categoryParams(ScaleNone, func(c *Categories) { c.Max = maxCategories }), many...),
		protocol.CodeInputLimit, -1)
	a, err := categorySpace(t, scaleParams(ScaleNone), colors(), 1, jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	violet := jobstest.Record{Dense: []float32{2}, Categories: []string{"violet", "x"}}
	_, err = readCategories(t, a, violet)
	wantFault(t, "unseen", err, protocol.CodeBadRecord, 0)
	_, err = readCategories(t, a, jobstest.Record{Dense: []float32{2}, Categories: []string{"red"}})
	wantFault(t, "one category", err, protocol.CodeBadRecord, 0)
	_, err = readCategories(t, a, jobstest.Record{Dense: []float32{2}})
	wantFault(t, "no category", err, protocol.CodeBadRecord, 0)
	if u, err := UnseenOf(a); u != nil || err != nil {
		t.Errorf("an error is counted: %v, %v", u, err)
	}
}

// A model reads its own columns of categories, in their order.
func TestCheckCategorical(t *testing.T) {
	a, err := categorySpace(t, categoryParams(ScaleNone, func(*Categories) {}), colors(), 1, jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	color, other := protocol.Column{Name: "color"}, protocol.Column{Name: "other"}
	seven, six := protocol.Column{Number: 7}, protocol.Column{Number: 6}
	for _, same := range [][]protocol.Column{{color, seven}, {color, six}} {
		if err := CheckCategorical(a, same); err != nil {
			t.Error(err)
		}
	}
	for _, given := range [][]protocol.Column{nil, {color}, {other, seven}, {seven, color}, {color, color}} {
		var fault *protocol.Fault
		if err := CheckCategorical(a, given); !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid {
			t.Errorf("%v: %v", given, err)
		}
	}
	if err := CheckCategorical(jobs.Arrays{}, nil); err != nil {
		t.Error(err)
	}
}

// Unseen categories are zeros, which are counted and warned of.
func TestUnseenCategories(t *testing.T) {
	a, err := categorySpace(t, categoryParams(ScaleNone, func(c *Categories) { c.Unseen = unseenZeros }), colors(), 1,
		jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	violet := jobstest.Record{Dense: []float32{2}, Categories: []string{"violet", "x"}}
	got, err := readCategories(t, a, violet)
	if err != nil || !slices.Equal(got.Dense.Data, []float32{2, 0, 0, 0, 0, 1}) {
		t.Errorf("%v, %v", got.Dense.Data, err)
	}
	u, err := UnseenOf(a)
	if err != nil {
		t.Fatal(err)
	}
	u.Add(categoryBlock(violet, colors()[0][0], violet))
	more, _ := UnseenOf(a)
	sum, err := u.Plus(more)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := sum.Metrics(a)
	if err != nil || len(metrics) != 2 || string(metrics[0].Value) != `{"7":0,"color":2}` {
		t.Errorf("%s, %v", metrics, err)
	}
}
