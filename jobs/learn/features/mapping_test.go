package features

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/protocol"
)

func mapParams(scale string, m Mapping) Params {
	p := scaleParams(scale)
	p.Map = &m
	return p
}

// The columns of scikit-learn's PolynomialFeatures without its bias, for x = 2, y = 3, z = 5.
func TestMapByHand(t *testing.T) {
	row := []float32{2, 3, 5}
	for _, c := range []struct {
		m    Mapping
		want []float32
	}{
		{Mapping{Degree: 2}, []float32{2, 3, 5, 4, 6, 10, 9, 15, 25}},
		{Mapping{Degree: 3}, []float32{2, 3, 5, 4, 6, 10, 9, 15, 25, 8, 12, 20, 18, 30, 50, 27, 45, 75, 125}},
		{Mapping{Degree: 3, Distinct: true}, []float32{2, 3, 5, 6, 10, 15, 30}},
		{Mapping{Degree: 8, Distinct: true}, []float32{2, 3, 5, 6, 10, 15, 30}},
		{Mapping{Degree: 1, Products: [][]int{{1, 1}, {3, 2, 3}}}, []float32{2, 3, 5, 4, 75}},
		{Mapping{Degree: 2, Distinct: true, Products: [][]int{{2, 2}}}, []float32{2, 3, 5, 6, 10, 15, 9}},
	} {
		p, err := newMapper(c.m, 3)
		if err != nil {
			t.Fatal(err)
		}
		got := p.row(nil, row, make([]float64, len(p.powers)))
		if !slices.Equal(got, c.want) || p.width() != len(c.want) {
			t.Errorf("%+v: %v, not %v", c.m, got, c.want)
		}
	}
}

// A mapped column is the product of its columns to within a unit in the last place, whatever its degree and scale.
func TestMapIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		columns, degree := rapid.IntRange(1, 4).Draw(rt, "columns"), rapid.IntRange(2, 5).Draw(rt, "degree")
		p, err := newMapper(Mapping{Degree: degree, Distinct: rapid.Bool().Draw(rt, "distinct")}, columns)
		if err != nil {
			rt.Fatal(err)
		}
		row := rapid.SliceOfN(rapid.Float32Range(-1e3, 1e3), columns, columns).Draw(rt, "row")
		seen := map[string]bool{}
		for k, v := range p.row(nil, row, make([]float64, len(p.powers))) {
			product, used := 1.0, make([]byte, columns)
			for at := k; at >= 0; at = p.powers[at].before {
				product *= float64(row[p.powers[at].column])
				used[p.powers[at].column]++
			}
			if seen[string(used)] || math.Abs(product-float64(v)) > 0x1p-23*math.Abs(product)+0x1p-149 {
				rt.Fatalf("column %d of %v: %v, not %v; or it is there twice", k, row, v, product)
			}
			seen[string(used)] = true
		}
	})
}

func TestMappedSpaces(t *testing.T) {
	params := mapParams(ScaleStandard, Mapping{Degree: 2, Products: [][]int{{1, 1, 2}}})
	want, err := run(t, params, leaves(fourPoints, 1, denseBlock), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := ReadSpace(want)
	if err != nil {
		t.Fatal(err)
	}
	if jobstest.Digest(jobs.ArraysOf(s)) != jobstest.Digest(want) {
		t.Error("other bytes came back")
	}
	// Over the records that it was learned from, a scaled column has mean 0 and variance 1 or 0.
	points := slices.Concat(fourPoints...)
	v, err := s.NewReader().Read(denseBlock(points, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	for j := range v.Dense.Cols {
		sum, squares := 0.0, 0.0
		for i := range v.Rows {
			x := float64(v.Dense.Row(i)[j])
			sum, squares = sum+x, squares+x*x
		}
		if n := float64(v.Rows); math.Abs(sum/n) > 1e-6 || math.Abs(squares/n-1) > 1e-5 && squares != 0 {
			t.Errorf("column %d: mean %v, mean square %v", j, sum/n, squares/n)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 6).Draw(rt, "records per block")
		got, err := run(t, params, leaves(fourPoints, size, denseBlock), jobstest.DrawGrouping(rt))
		if err != nil || jobstest.Digest(got) != jobstest.Digest(want) {
			rt.Fatalf("another space (%v)", err)
		}
	})
}

func TestMapRefused(t *testing.T) {
	for name, m := range map[string]Mapping{
		"degree 1":          {Degree: 1},
		"degree 9":          {Degree: 9},
		"a product of one":  {Degree: 2, Products: [][]int{{1}}},
		"column 0":          {Degree: 1, Products: [][]int{{0, 1}}},
		"a product of nine": {Degree: 1, Products: [][]int{{1, 1, 1, 1, 1, 1, 1, 1, 1}}},
	} {
		_, err := New(mapParams(ScaleNone, m), protocol.JobSpec{}, "next")
		wantFault(t, name, err, protocol.CodeSpecInvalid, -1)
	}
	beyond := mapParams(ScaleNone, Mapping{Degree: 1, Products: [][]int{{1, 3}}})
	_, err := run(t, beyond, leaves(fourPoints, 1, denseBlock), jobstest.Grouping{})
	wantFault(t, "a column that is not there", err, protocol.CodeSpecInvalid, -1)
	_, err = run(t, mapParams(ScaleNone, Mapping{Degree: 2}), leaves(fourPoints, 1, sparseBlock), jobstest.Grouping{})
	wantFault(t, "sparse vectors", err, protocol.CodeSpecInvalid, -1)
	for _, m := range []Mapping{{Degree: 2}, {Degree: 8}, {Degree: 1, Products: [][]int{{1, 1}}}} {
		_, err = newMapper(m, 3000)
		wantFault(t, "too many columns", err, protocol.CodeInputLimit, -1)
	}
	huge := [][]point{{{"a", []float32{1e30, 1}}}}
	_, err = run(t, mapParams(ScaleNone, Mapping{Degree: 2}), leaves(huge, 1, denseBlock), jobstest.Grouping{})
	wantFault(t, "a product beyond float32", err, protocol.CodeBadRecord, 0)
	s := spaceOf(t, mapParams(ScaleStandard, Mapping{Degree: 2}), leaves(fourPoints, 1, denseBlock))
	_, err = s.NewReader().Read(denseBlock(huge[0], 0), nil)
	wantFault(t, "a later product beyond float32", err, protocol.CodeBadRecord, 0)
	_, err = s.NewReader().Read(&dataset.Block{IDs: make([]dataset.Identity, 1),
		Dense: dataset.Dense{Width: 5, Values: make([]float32, 5)}}, nil)
	if err == nil {
		t.Error("mapped vectors are taken for records")
	}
}

func TestHostileMaps(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"columns 3":       func(a jobs.Arrays) { jobs.PutScalar(a, mapArray+".columns", int64(3)) },
		"columns 0":       func(a jobs.Arrays) { jobs.PutScalar(a, mapArray+".columns", int64(0)) },
		"degree 9":        func(a jobs.Arrays) { jobs.PutScalar(a, mapArray+".degree", int32(9)) },
		"degree 8":        func(a jobs.Arrays) { jobs.PutScalar(a, mapArray+".degree", int32(8)) },
		"no distinct":     func(a jobs.Arrays) { delete(a, mapArray+".distinct") },
		"column 3":        func(a jobs.Arrays) { jobs.Put(a, mapArray+".factors", []int32{1, 3}) },
		"a factor more":   func(a jobs.Arrays) { jobs.Put(a, mapArray+".factors", []int32{1, 1, 2}) },
		"ends beyond":     func(a jobs.Arrays) { jobs.Put(a, mapArray+".ends", []int32{3}) },
		"ends below 0":    func(a jobs.Arrays) { jobs.Put(a, mapArray+".ends", []int32{-1}) },
		"form of sparse":  func(a jobs.Arrays) { jobs.PutScalar(a, "features.form", int32(sparse)) },
		"of mapped width": func(a jobs.Arrays) { jobs.PutScalar(a, "features.width", int64(2)) },
	} {
		params := mapParams(ScaleNone, Mapping{Degree: 2, Products: [][]int{{1, 1}}})
		a, err := run(t, params, leaves(fourPoints, 1, denseBlock), jobstest.Grouping{})
		if err != nil {
			t.Fatal(err)
		}
		spoil(a)
		_, err = ReadSpace(a)
		wantCorrupt(t, name, err)
	}
}
