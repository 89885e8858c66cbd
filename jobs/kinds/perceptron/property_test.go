package perceptron

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
)

// separable are points at least margin away from the plane <u, x> + b = 0, |u| = 1, within a ball.
func separable(n, width int, margin float64) (records []jobstest.Record, radius, b float64) {
	b = 0.2
	rows, labels := uniform(4*n, width, fmt.Sprint("test/separable/", margin)), []string{}
	var kept [][]float32
	for _, row := range rows {
		f, square := b, 0.0
		for j, v := range row {
			sign := float64(1 - 2*(j%2))
			f += float64(v) * sign / math.Sqrt(float64(width))
			square += float64(v) * float64(v)
		}
		if math.Abs(f) < margin || len(kept) == n {
			continue
		}
		kept, labels = append(kept, row), append(labels, []string{"below", "above"}[bit(f > 0)])
		radius = max(radius, math.Sqrt(square))
	}
	return jobstest.DenseRecords(kept, labels...), radius, b
}

// Theorem 1.7: at most (1 + R^2)(1 + b^2) / margin^2 mistakes, whatever the order; and the margin that was
// reached is no greater than the data's own bound allows.
func TestNovikoff(t *testing.T) {
	for _, margin := range []float64{0.02, 0.1, 0.3} {
		records, radius, b := separable(300, 6, margin)
		bound := (1 + radius*radius) * (1 + b*b) / (margin * margin)
		for _, params := range []string{`{"epochs": 1000}`, `{"epochs": 1000, "shuffle": false, "form": "plain"}`} {
			m := modelOf(t, train(t, params, jobstest.Deal(records, 3)...))
			_, total := m.bounded()
			if !m.separated || float64(total) > bound || float64(total) > m.bound || !(m.margin[0] > 0) {
				t.Errorf("margin %v: separated %t with %d mistakes; the theorem allows %.0f, by the margin reached %.0f",
					margin, m.separated, total, bound, m.bound)
			}
			if math.Abs(m.radius-math.Sqrt(1+radius*radius)) > 1e-6 {
				t.Errorf("radius %v, not that of %v and the bias", m.radius, radius)
			}
		}
	}
}

// Many classes: every point of three clusters lies on the right side in the end, within the bound for two rows an
// update, and for three perceptrons.
func TestNovikoffOfManyClasses(t *testing.T) {
	rows, labels := uniform(300, 2, "test/clusters"), make([]string, 300)
	for i, row := range rows {
		row[0] += []float32{0, 4, 0}[i%3]
		row[1] += []float32{0, 0, 4}[i%3]
		labels[i] = fmt.Sprint(i % 3)
	}
	for _, classes := range []string{"argmax", "one_vs_rest"} {
		m := modelOf(t, train(t, fmt.Sprintf(`{"epochs": 1000, "classes": %q}`, classes),
			jobstest.Deal(jobstest.DenseRecords(rows, labels...), 2)...))
		what, total := m.bounded()
		if !m.separated || !(m.leastMargin() > 0) || float64(total) > m.bound {
			t.Errorf("%s: separated %t, margins %v, %d %s, bound %.0f", classes, m.separated, m.margin, total, what,
				m.bound)
		}
	}
}

// circles are points of radius 1 and 2; with lifted also x^2 + y^2.
func circles(n int, lifted bool) []jobstest.Record {
	key, rows, labels := philox.New(5, "test/circles"), make([][]float32, n), make([]string, n)
	for i := range rows {
		angle, r := 2*math.Pi*key.Float64(uint64(i), 0), float64(1+i%2)
		rows[i] = []float32{float32(r * math.Cos(angle)), float32(r * math.Sin(angle))}
		if lifted {
			rows[i] = append(rows[i], rows[i][0]*rows[i][0]+rows[i][1]*rows[i][1])
		}
		labels[i] = []string{"bad", "good"}[i%2]
	}
	return jobstest.DenseRecords(rows, labels...)
}

// The lecture's example: no line tells circles of radius 1 and 2 apart, the plane z = 1.5 does; and a feature of its
// own for each record makes any data separable.
func TestCircles(t *testing.T) {
	flat := train(t, `{"epochs": 200, "form": "plain"}`, circles(200, false))
	if m := modelOf(t, flat); m.separated || len(m.epochMistakes) != 200 ||
		wrong(t, flat.Model, circles(200, false)) < 40 {
		t.Errorf("a line separated circles: %v", m.epochMistakes)
	}
	lifted := train(t, `{"epochs": 200}`, circles(200, true))
	if m := modelOf(t, lifted); !m.separated || wrong(t, lifted.Model, circles(200, true)) > 2 {
		t.Errorf("lifted circles: separated %t, %d wrong", m.separated, wrong(t, lifted.Model, circles(200, true)))
	}
	own := modelOf(t, train(t, `{"epochs": 1000, "distinct": 1}`, jobstest.Deal(circles(200, false), 3)...))
	_, total := own.bounded()
	if !own.separated || !(own.margin[0] > 0) || float64(total) > own.bound {
		t.Errorf("distinct features: separated %t, margin %v, %d mistakes, bound %v", own.separated, own.margin, total,
			own.bound)
	}
}

// Distinct features are columns that are not made: the same weights as with them made.
func TestDistinctIsAColumnForEachRecord(t *testing.T) {
	records := circles(60, false)
	wide := slices.Clone(records)
	for i := range wide {
		row := make([]float32, 2+len(records))
		copy(row, records[i].Dense)
		row[2+i] = 0.5
		wide[i].Dense = row
	}
	for _, form := range []string{"plain", "averaged"} {
		params := fmt.Sprintf(`{"shuffle": false, "epochs": 7, "form": %q`, form)
		got := modelOf(t, train(t, params+`, "distinct": 0.5}`, jobstest.Deal(records, 4)...))
		want := modelOf(t, train(t, params+`}`, jobstest.Deal(wide, 4)...))
		a, b := got.deciding(), want.deciding()
		for i, j := range []int{0, 1, len(b) - 1} {
			if math.Abs(float64(a[i]-b[j])) > 1e-5 {
				t.Errorf("%s: weights %v, not %v", form, a, []float32{b[0], b[1], b[len(b)-1]})
				break
			}
		}
		if !slices.Equal(got.epochMistakes, want.epochMistakes) || math.Abs(got.margin[0]-want.margin[0]) > 1e-6 ||
			math.Abs(got.radius-want.radius) > 1e-6 {
			t.Errorf("%s: mistakes %v, margin %v, radius %v; not %v, %v, %v", form,
				got.epochMistakes, got.margin, got.radius, want.epochMistakes, want.margin, want.radius)
		}
	}
}

// From zero, argmax over two classes is the signed rule: the rows are -w and w.
func TestArgMaxOfTwoIsTheSignedRule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.Float32Range(-9, 9), 3, 3), 1, 30).Draw(rt, "rows")
		setup := Setup{Rule: Signed, Form: Averaged, Classes: 2, Width: 3, Bias: true}
		signed := NewLearner(setup, kernelops.Best())
		setup.Rule = ArgMax
		argmax := NewLearner(setup, kernelops.Best())
		for i, row := range rows {
			class := rapid.IntRange(0, 1).Draw(rt, "class")
			if a, b := signed.Learn(Row{Values: row}, class, 1), argmax.Learn(Row{Values: row}, class, 1); a != b {
				rt.Fatalf("record %d: mistake %t and %t", i, a, b)
			}
		}
		if !slices.Equal(signed.weights, argmax.rowOf(argmax.weights, 1)) ||
			!slices.Equal(signed.sums, argmax.sums[4:]) {
			rt.Fatalf("weights %v and %v", signed.weights, argmax.weights)
		}
	})
}

// The lazy mean is the mean: of the weights after each step, summed up one by one.
func TestTheMeanIsThatOfEveryStep(t *testing.T) {
	for _, rule := range []Rule{ArgMax, OneVsRest} {
		records := sectors(400, 4)
		l := NewLearner(Setup{Rule: rule, Form: Averaged, Classes: 4, Width: 5, Bias: true}, kernelops.Best())
		sum := make([]float64, l.size())
		for range 2 {
			for _, r := range records {
				l.Learn(Row{Values: r.Dense}, int(r.Label[1]-'0'), 1)
				for i, w := range l.weights {
					sum[i] += float64(w)
				}
			}
		}
		for i, m := range l.deciding() {
			if want := sum[i] / float64(l.steps); math.Abs(float64(m)-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("rule %s: mean %v, not %v", rule, m, want)
			}
		}
	}
}

// With one block, mixing has nothing to mix.
func TestMixedOverOneBlockIsChained(t *testing.T) {
	for _, mixing := range []string{"changed", "uniform", "mistakes"} {
		records := sectors(300, 4)
		chained := modelOf(t, train(t, `{"block_records": 300}`, records))
		params := fmt.Sprintf(`{"over": "mixed", "mixing": %q, "block_records": 300}`, mixing)
		mixed := modelOf(t, train(t, params, records))
		if !slices.Equal(chained.epochMistakes, mixed.epochMistakes) || !slices.Equal(chained.weights, mixed.weights) {
			t.Errorf("%s: mistakes %v and %v", mixing, chained.epochMistakes, mixed.epochMistakes)
		}
		a, b := chained.deciding(), mixed.deciding()
		for i := range a {
			if math.Abs(float64(a[i]-b[i])) > 1e-5 {
				t.Errorf("%s: mean %v, not %v", mixing, b[i], a[i])
			}
		}
	}
}

// Sparse rows and dense ones of the same values make the same mistakes where sums are exact.
func TestSparseIsDense(t *testing.T) {
	for _, records := range [][]jobstest.Record{digits(t)[:200], twoClasses(digits(t)[:200])} {
		for _, params := range []string{`{}`, `{"over": "mixed"}`, `{"classes": "one_vs_rest"}`,
			`{"form": "voted", "epochs": 2}`} {
			dense, sparse := train(t, params, jobstest.Deal(records, 3)...),
				train(t, params, jobstest.Deal(asSparse(records), 3)...)
			a, b := modelOf(t, dense), modelOf(t, sparse)
			if !slices.Equal(a.epochMistakes, b.epochMistakes) ||
				!slices.Equal(a.rowOf(a.weights, 0), b.rowOf(b.weights, 0)) {
				t.Errorf("%s: mistakes %v dense, %v sparse", params, a.epochMistakes, b.epochMistakes)
			}
			if x, y := wrong(t, dense.Model, records), wrong(t, sparse.Model, asSparse(records)); x != y {
				t.Errorf("%s: %d wrong dense, %d sparse", params, x, y)
			}
		}
	}
}

// However the records lie in shards and files, each way of learning gives one model; another size of blocks gives
// another.
func TestFilesAndTheModel(t *testing.T) {
	records := twoClasses(digits(t)[:300])
	for _, params := range []string{`{"distinct": 2}`, `{"distinct": 2, "form": "plain", "shuffle": false}`,
		`{"form": "voted", "max_vectors": 9}`, `{"over": "mixed"}`, `{"over": "mixed", "mixing": "mistakes"}`} {
		model := func(each int, shards []jobstest.Blocks) string {
			spec := specOf(inBlocks(params, each))
			algorithm, err := New(spec)
			if err != nil {
				t.Fatal(err)
			}
			result, err := jobstest.Run(t.Context(), algorithm, spec, shards, kernelops.Best(), jobstest.Grouping{})
			if err != nil {
				t.Fatal(err)
			}
			return jobstest.Digest(result.Model)
		}
		want := model(70, jobstest.Shards(jobstest.Deal(records, 1), 50))
		for _, n := range []int{2, 7, 300, 400} {
			if got := model(70, jobstest.Shards(jobstest.Deal(records, n), 50)); got != want {
				t.Errorf("%s: another model by %d shards", params, n)
			}
			if got := model(70, jobstest.Files(jobstest.Deal(records, n), 9)); got != want {
				t.Errorf("%s: another model by %d files", params, n)
			}
		}
		other := model(90, jobstest.Shards(jobstest.Deal(records, 1), 50)) != want
		if ordered := !strings.Contains(params, `"shuffle": false`); other != ordered {
			t.Errorf("%s: another model by another block_records: %v", params, other)
		}
	}
}
