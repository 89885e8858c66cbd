package kernelperceptron_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/kernelperceptron"
	"github.com/gram-compute/gram/kernelops"
)

// circles of radius 1 and 2.
func circles(n int) []jobstest.Record {
	records := make([]jobstest.Record, n)
	for i := range records {
		radius, label := 1.0, "inner"
		if i%2 == 1 {
			radius, label = 2, "outer"
		}
		angle := 2 * math.Pi * float64(i) / float64(n)
		records[i] = jobstest.Record{Label: label, Dense: []float32{float32(radius * math.Cos(angle)),
			float32(radius * math.Sin(angle))}}
	}
	return records
}

// The lecture's example: no line separates the circles, a conic does, and so does a plane over <x, y, x^2 + y^2>.
func TestCircles(t *testing.T) {
	records := circles(200)
	linear := mustRun(t, `{"kernel": "linear", "form": "plain", "epochs": 50}`, jobstest.Deal(records, 3))
	if wrong := errorsOf(t, linear.Model, records); wrong < 40 {
		t.Errorf("a line separates the circles but for %d", wrong)
	}
	if _, ok := metric(t, linear, "train.novikoff_bound"); ok {
		t.Error("a bound without a separator")
	}
	lifted := slices.Clone(records)
	for i, r := range lifted {
		lifted[i].Dense = append(slices.Clone(r.Dense), r.Dense[0]*r.Dense[0]+r.Dense[1]*r.Dense[1])
	}
	for params, data := range map[string][]jobstest.Record{
		`{"kernel": "polynomial", "form": "plain", "epochs": 100}`:            records,
		`{"kernel": "rbf", "gamma": 1, "form": "plain", "epochs": 100}`:       records,
		`{"kernel": "linear", "form": "plain", "epochs": 100}`:                lifted,
		`{"kernel": "polynomial", "form": "averaged", "epochs": 100}`:         records,
		`{"kernel": "rbf", "gamma": 1, "form": "voted", "epochs": 100}`:       records,
		`{"kernel": "linear", "epochs": 100, "bias": true, "drop": "oldest"}`: lifted,
	} {
		result := mustRun(t, params, jobstest.Deal(data, 3))
		// The average and the votes of all f need not separate what the last does.
		if wrong := errorsOf(t, result.Model, data); wrong > 4 {
			t.Errorf("%s: %d wrong", params, wrong)
		}
		holdBound(t, params, result)
	}
}

// holdBound holds mistakes to the bound of Theorem 1.7.
func holdBound(t testing.TB, what string, result jobstest.Result) {
	t.Helper()
	bound, ok := metric(t, result, "train.novikoff_bound")
	mistakes, _ := metric(t, result, "train.mistakes")
	if !ok || mistakes > bound {
		t.Errorf("%s: %v mistakes, a bound of %v (%v)", what, mistakes, bound, ok)
	}
}

// Points at least gap away from a line through 0 at a known angle: without bias the margin is known to be
// reachable, so mistakes are at most R^2 / gap^2, and a margin found is not above the largest there is.
func TestNovikoffOnKnownMargins(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, gap := range []float64{0.5, 0.2, 0.05} {
		var records []jobstest.Record
		radius := 0.0
		for len(records) < 150 {
			along, across := 2*random.Float64()-1, 2*random.Float64()-1
			if math.Abs(across) < gap {
				continue
			}
			x := []float32{float32(0.8*along - 0.6*across), float32(0.6*along + 0.8*across)}
			records = append(records, jobstest.Record{Label: fmt.Sprint(across > 0), Dense: x})
			radius = max(radius, float64(x[0])*float64(x[0])+float64(x[1])*float64(x[1]))
		}
		for _, bias := range []bool{true, false} {
			params := fmt.Sprintf(`{"kernel": "linear", "form": "plain", "epochs": 5000, "bias": %v}`, bias)
			result := mustRun(t, params, jobstest.Deal(records, 4))
			holdBound(t, params, result)
			mistakes, _ := metric(t, result, "train.mistakes")
			known := radius / (gap * gap)
			if bias {
				known = (1 + radius) / (gap * gap)
			}
			if mistakes > known*1.0001 { // points are rounded to float32
				t.Errorf("gap %v, bias %v: %v mistakes, at most %v", gap, bias, mistakes, known)
			}
		}
	}
}

// More classes keep to their bound as well, and an uneven step, a dropped vector and a kernel that is no
// inner product have none.
func TestBoundOfManyClasses(t *testing.T) {
	records := digits(t, 400)
	base := `{"kernel": "polynomial", "form": "plain", "epochs": 50, "features": {"scale": "l2"}`
	result := mustRun(t, base+`}`, jobstest.Deal(records, 2))
	holdBound(t, "ten classes", result)
	for _, more := range []string{`, "class_weights": {"3": 2}}`, `, "budget": 150}`} {
		result := mustRun(t, base+more, jobstest.Deal(records, 2))
		if bound, ok := metric(t, result, "train.novikoff_bound"); ok {
			t.Errorf("%s: a bound of %v", more, bound)
		}
	}
	sigmoid := mustRun(t, `{"kernel": "sigmoid", "scale": 0.1, "form": "plain", "epochs": 500}`,
		jobstest.Deal(circles(4), 1))
	if bound, ok := metric(t, sigmoid, "train.novikoff_bound"); ok {
		t.Errorf("sigmoid: a bound of %v", bound)
	}
}

// A budget is kept, by either way to drop; without one there are some 270 support vectors.
func TestBudgetHolds(t *testing.T) {
	records := digits(t, 600)
	for drop, most := range map[string]int{"oldest": 300, "smallest": 120} {
		params := fmt.Sprintf(`{"kernel": "polynomial", "degree": 4, "epochs": 5, "features": {"scale": "l2"}, "budget": 150, "drop": %q}`, drop)
		result := mustRun(t, params, jobstest.Deal(records, 2))
		supports, _ := metric(t, result, "train.supports")
		dropped, _ := metric(t, result, "train.dropped")
		if wrong := errorsOf(t, result.Model, records); supports != 150 || dropped == 0 || wrong > most {
			t.Errorf("%s: %v support vectors, %v dropped, %d wrong of 600", drop, supports, dropped, wrong)
		}
	}
}

// One model for every kernel set.
func TestKernelSetsAgree(t *testing.T) {
	records := digits(t, 350)
	for _, params := range []string{
		`{"epochs": 3}`, `{"epochs": 3, "form": "voted", "kernel": "rbf", "features": {"scale": "standard"}}`,
		`{"epochs": 3, "kernel": "sigmoid", "budget": 40, "drop": "smallest", "features": {"scale": "l2"}}`,
		`{"epochs": 3, "budget": 25, "form": "averaged"}`,
		`{"epochs": 3, "budget": 25, "form": "voted", "kernel": "rbf", "features": {"scale": "l2"}}`,
	} {
		want := ""
		for _, ops := range kernelops.All() {
			result, err := run(t, params, jobstest.Deal(records, 2), ops)
			if err != nil {
				t.Fatal(err)
			}
			if got := jobstest.Digest(result.Model); want == "" {
				want = got
			} else if got != want {
				t.Errorf("%s: %s makes another model", params, ops.Name)
			}
		}
	}
}

// Blocks of 1 to 8 records give one model: what was added within a block counts as if it had been there before.
func TestGrouping(t *testing.T) {
	ten := digits(t, 24)
	texts := make([]jobstest.Record, 20)
	for i := range texts {
		texts[i] = jobstest.Record{Label: fmt.Sprint(i % 3), Text: fmt.Sprintf("word%d word%d word%d", i%3, i%5, i%7)}
	}
	sparse := make([]jobstest.Record, len(ten))
	for i, r := range ten {
		sparse[i] = jobstest.SparseRecords(64, [][]float32{r.Dense}, r.Label)[0]
		sparse[i].Weight = float32(i%4) / 2
	}
	for _, c := range []struct {
		params  string
		records []jobstest.Record
	}{
		{`{"epochs": 2, "shuffle": false}`, ten}, {`{"epochs": 2, "form": "voted"}`, texts},
		{`{"epochs": 2, "shuffle": false, "budget": 5}`, sparse},
		{`{"epochs": 2, "budget": 5, "form": "averaged"}`, sparse},
		{`{"epochs": 2, "budget": 5, "form": "voted"}`, ten},
	} {
		spec := specOf(t, c.params, 0.2)
		algorithm, err := kernelperceptron.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(c.records, 3), kernelops.Best())
	}
}

// The same digits as sparse vectors give the same support vectors and coefficients.
func TestSparseIsDense(t *testing.T) {
	dense := digits(t, 200)
	sparse := make([]jobstest.Record, len(dense))
	for i, r := range dense {
		sparse[i] = jobstest.SparseRecords(64, [][]float32{r.Dense}, r.Label)[0]
	}
	a, b := mustRun(t, `{"epochs": 3}`, jobstest.Deal(dense, 2)), mustRun(t, `{"epochs": 3}`, jobstest.Deal(sparse, 2))
	for _, name := range []string{"supports", "alpha", "b", "mistakes", "supports.offset"} {
		if !bytes.Equal(a.Model[name].Data, b.Model[name].Data) {
			t.Errorf("array %q differs", name)
		}
	}
	got, _ := decisions(t, a.Model, dense)
	if other, _ := decisions(t, b.Model, sparse); !slices.Equal(got, other) {
		t.Error("decisions differ")
	}
}

// Without shuffling the cut into shards changes nothing but rounding in the moments of columns; with it, each
// epoch goes through every record once, in another order.
func TestShardsAndOrder(t *testing.T) {
	records := digits(t, 150)
	alphas := map[string]bool{}
	for _, n := range []int{1, 2, 9, 150, 200} {
		model := mustRun(t, `{"epochs": 3, "shuffle": false}`, jobstest.Deal(records, n)).Model
		alphas[string(model["alpha"].Data)+string(model["supports"].Data)] = true
	}
	if len(alphas) != 1 {
		t.Errorf("%d different models without shuffling", len(alphas))
	}
	for n := range 20 {
		few := make([]jobstest.Record, 2+n)
		for i := range few {
			few[i] = jobstest.Record{Label: fmt.Sprint(i % 2), Dense: []float32{1}}
		}
		result := mustRun(t, `{"epochs": 3, "kernel": "linear", "form": "voted"}`, jobstest.Deal(few, 1+n%4))
		survived, err := jobs.Get[int64](result.Model, "votes.survived")
		if err != nil {
			t.Fatal(err)
		}
		seen := int64(0)
		for _, c := range survived {
			seen += c
		}
		if seen != int64(3*len(few)) {
			t.Errorf("%d records seen in 3 epochs of %d", seen, len(few))
		}
	}
}

// Another seed draws other orders.
func TestShuffleGoesBySeed(t *testing.T) {
	records := digits(t, 100)
	digests := map[string]bool{}
	for _, seed := range []uint64{1, 2, 3} {
		spec := specOf(t, `{"epochs": 1}`, 0)
		spec.Spec.Repro.Seed = seed
		algorithm, err := kernelperceptron.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, 2), 30),
			kernelops.Best(), jobstest.Grouping{})
		if err != nil {
			t.Fatal(err)
		}
		digests[jobstest.Digest(result.Model)] = true
	}
	if len(digests) != 3 {
		t.Errorf("%d models by three seeds", len(digests))
	}
}

// A shard of more than 2^22 numbers is shuffled in windows, which do not depend on its blocks either.
func TestWindowsDoNotDependOnBlocks(t *testing.T) {
	const width = 1 << 17
	records := make([]jobstest.Record, 36)
	for i := range records {
		records[i] = jobstest.Record{Label: fmt.Sprint(i * i % 3), Width: width,
			Indices: []int32{int32(i % 5), int32(1000*i + 10)}, Values: []float32{1, 1}}
	}
	spec := specOf(t, `{"epochs": 1, "form": "voted"}`, 0)
	algorithm, err := kernelperceptron.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]bool{}
	for _, size := range []int{1, 1000} {
		result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, 1), size),
			kernelops.Best(), jobstest.Grouping{})
		if err != nil {
			t.Fatal(err)
		}
		digests[jobstest.Digest(result.Model)] = true
	}
	if len(digests) != 1 {
		t.Errorf("%d models by two sizes of blocks", len(digests))
	}
}

// The mean of f is that of the f that vote, each as often as it was there: a second way to the averaged form, with a
// budget too.
func TestMeanOfTheVotes(t *testing.T) {
	for _, records := range [][]jobstest.Record{digits(t, 150), odd(digits(t, 150))} {
		for _, budget := range []string{"", `, "budget": 12`, `, "budget": 12, "drop": "smallest"`} {
			shards := jobstest.Deal(records, 2)
			averaged := mustRun(t, `{"epochs": 3, "features": {"scale": "l2"}, "form": "averaged"`+budget+`}`,
				shards).Model
			voted := mustRun(t, `{"epochs": 3, "features": {"scale": "l2"}, "form": "voted"`+budget+`}`, shards).Model
			if !bytes.Equal(averaged["supports.offset"].Data, voted["supports.offset"].Data) {
				t.Error("other support vectors")
			}
			mean := meanOfVotes(t, voted, float64(3*len(records)))
			got, err := jobs.Get[float64](averaged, "alpha", averaged["alpha"].Shape...)
			if err != nil || len(got) != len(mean) {
				t.Fatal(len(got), len(mean), err)
			}
			for j, want := range mean {
				if math.Abs(got[j]-want) > 1e-11 {
					t.Errorf("coefficient %d is %v, not %v", j, got[j], want)
				}
			}
		}
	}
}

// meanOfVotes adds up the coefficients of every f as often as it voted.
func meanOfVotes(t *testing.T, voted jobs.Arrays, seen float64) []float64 {
	t.Helper()
	place, _ := jobs.Get[int32](voted, "votes.place")
	class, _ := jobs.Get[int32](voted, "supports.class")
	against, _ := jobs.Get[int32](voted, "votes.against")
	step, _ := jobs.Get[float64](voted, "votes.step")
	survived, err := jobs.Get[int64](voted, "votes.survived")
	if err != nil {
		t.Fatal(err)
	}
	columns, votes := voted["alpha"].Shape[1], int64(0)
	now, mean := make([]float64, len(class)*columns), make([]float64, len(class)*columns)
	for i, p := range place {
		if row := now[int(p)*columns:][:columns]; columns == 1 {
			row[0] += step[i] * float64(2*class[p]-1)
		} else {
			row[class[p]] += step[i]
			row[against[i]] -= step[i]
		}
		votes += survived[i]
		for j, a := range now {
			mean[j] += float64(a*float64(survived[i])) / seen
		}
	}
	if float64(votes) != seen {
		t.Errorf("%d votes of %v records", votes, seen)
	}
	return mean
}
