package kernelmean

import (
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/features"
	kept "github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// jointOf evaluates all rows of a table under its own densities.
func jointOf(t *testing.T, p *parzen, rows [][]float32) []float64 {
	t.Helper()
	x := kernelops.NewMatrix(len(rows), len(rows[0]))
	for i, row := range rows {
		copy(x.Row(i), row)
	}
	joint := make([]float64, len(rows)*len(p.weights))
	if err := p.joint(t.Context(), joint, x); err != nil {
		t.Fatal(err)
	}
	return joint
}

func densityModelOf(t *testing.T, params string, rows [][]float32, labels []string) *densityModel {
	t.Helper()
	m, err := jobs.Load[densityModel](mustTrain(t, DensityName, params, jobstest.DenseRecords(rows, labels...)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Where many records count, distances come from products. That moves a logarithm by no more than expansionError,
// and where it could move it by more, as far from 0, not at all.
func TestWideQueries(t *testing.T) {
	rows, labels := jobstest.Table(t, "digits.csv.gz", 0)
	rows, labels = rows[:400], labels[:400]
	for _, c := range []struct {
		offset, most float64
	}{{0.1, expansionError}, {1e6, 0}} { // sums of whole numbers would be exact
		for _, row := range rows {
			for j := range row {
				row[j] += float32(c.offset)
			}
		}
		m := densityModelOf(t, `{"bandwidth": 40}`, rows, labels)
		products, differences := newParzen(m, kernelops.Best()), newParzen(m, kernelops.Best())
		a := jointOf(t, products, rows)
		if len(products.wide) != len(rows) {
			t.Fatalf("offset %v: %d of %d queries are wide", c.offset, len(products.wide), len(rows))
		}
		for i := range differences.norms {
			differences.norms[i] = math.Inf(1) // no bound
		}
		b, moved := jointOf(t, differences, rows), 0.0
		for i := range a {
			moved = max(moved, math.Abs(a[i]-b[i]))
		}
		if moved > c.most+1e-12*math.Abs(a[0]) || c.most == 0 && !slices.Equal(a, b) {
			t.Errorf("offset %v: products move a logarithm by %v", c.offset, moved)
		}
		if c.most > 0 && slices.Equal(a, b) {
			t.Errorf("offset %v: no distance came from a product", c.offset)
		}
	}
}

// Products of tiles of every shape, against a loop.
func TestProductsOfTiles(t *testing.T) {
	for _, c := range []struct{ rows, width int }{{1, 1}, {3, 2000}, {300, 700}, {2, tileColumns + 1}} {
		rows, queries := make([][]float32, c.rows), kernelops.NewMatrix(3, c.width)
		for i := range rows {
			rows[i] = make([]float32, c.width)
			for j := range rows[i] {
				rows[i][j] = float32(math.Sin(float64(5*i + 3*j)))
			}
		}
		for i := range queries.Data {
			queries.Data[i] = float32(max(0, math.Cos(float64(i)))) // a half are 0
		}
		for _, sparse := range []bool{false, true} {
			b := &base{class: make([]int32, c.rows)}
			b.N, b.Width, b.Dense = c.rows, c.width, slices.Concat(rows...)
			if sparse {
				s := dataset.Sparse{Width: c.width, Indptr: []int{0}}
				for _, row := range rows {
					indices, values := nonzero(row)
					s.Indices, s.Values = append(s.Indices, indices...), append(s.Values, values...)
					s.Indptr = append(s.Indptr, len(s.Values))
				}
				b.Rows = kept.Of(features.Vectors{Rows: c.rows, Sparse: s})
			}
			e := expansion{ops: kernelops.Best()}
			if err := e.multiply(t.Context(), queries, []int{2, 0}, b, 1, c.rows-1); err != nil {
				t.Fatal(err)
			}
			for k, query := range []int{2, 0} {
				for i, got := range e.products[k*(c.rows-1) : (k+1)*(c.rows-1)] {
					want := 0.0
					for j, v := range queries.Row(query) {
						want += float64(float64(v) * float64(rows[1+i][j]))
					}
					if got != want {
						t.Fatalf("%d x %d, sparse %v: query %d, row %d: %v, not %v", c.rows, c.width, sparse, query,
							1+i, got, want)
					}
				}
			}
		}
	}
}

func nonzero(row []float32) (indices []int32, values []float32) {
	for j, v := range row {
		if v != 0 {
			indices, values = append(indices, int32(j)), append(values, v)
		}
	}
	return indices, values
}

// The peer is scikit-learn 1.9.1, a KernelDensity for each class and the logarithms of the shares as priors, on digits
// divided by 10 in float32: 1,500 to train on, 297 to decide. It has leaf_size 5000, for the bounds of its trees cancel
// and leave few digits at 0.3. There few records count for a query, at the others nearly all.
func TestDensityAgainstScikitLearn(t *testing.T) {
	rows, labels := jobstest.Table(t, "digits.csv.gz", 0)
	for _, row := range rows {
		for j := range row {
			row[j] /= 10
		}
	}
	for _, c := range []struct {
		params             string
		sum, first, threes float64
		right              int
	}{
		{`{"bandwidth": 0.3}`, -2819.9647784941653, 0.04016987203466815, 25.02736515030244, 281},
		{`{"bandwidth": 1.5}`, -26390.17191754627, -89.39626632944217, 27.065063250945897, 270},
		{`{"bandwidth": 4}`, -44034.528507747986, -148.3414550850548, 30.145048192422557, 251},
	} {
		model := mustTrain(t, DensityName, c.params, jobstest.DenseRecords(rows[:1500], labels[:1500]...))
		all := outcomes(t, DensityName, model, jobstest.DenseRecords(rows[1500:]))
		sum, threes, right := 0.0, 0.0, 0
		for i, o := range all {
			sum += o.Value
			threes += o.Scores[3]
			if o.Label == labels[1500+i] {
				right++
			}
		}
		if math.Abs(sum-c.sum) > 1e-9*math.Abs(c.sum) || math.Abs(all[0].Value-c.first) > 1e-9 ||
			math.Abs(threes-c.threes) > 1e-7 || right != c.right {
			t.Errorf("%s: log densities sum to %v (the first is %v), posteriors of 3 to %v, %d right; not %v (%v), %v, %d",
				c.params, sum, all[0].Value, threes, right, c.sum, c.first, c.threes, c.right)
		}
	}
}
