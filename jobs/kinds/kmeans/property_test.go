package kmeans

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

var inits = []string{initRandom, initPlusPlus, initParallel, initFarthest}

// J never rises: not by a round, not by a refill. The slack is that of float64 sums.
func TestDistortionNeverRises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(6, 60).Draw(rt, "n")
		values := rapid.SliceOfN(rapid.Float32Range(-4, 4), 3*n, 3*n).Draw(rt, "values")
		rows := make([][]float32, n)
		for i := range rows {
			rows[i] = values[3*i : 3*i+3]
		}
		params := fmt.Sprintf(`{"k": %d, "init": "random", "metric": %q, "empty": %q}`,
			rapid.IntRange(1, 6).Draw(rt, "k"),
			rapid.SampledFrom([]string{metricEuclidean, metricCosine}).Draw(rt, "metric"),
			rapid.SampledFrom([]string{emptyFarthest, emptyKeep, emptyDrop}).Draw(rt, "empty"))
		result, err := tryRun(t, params, jobstest.Deal(jobstest.DenseRecords(rows), 3), kernelops.Best())
		if err != nil {
			if strings.Contains(err.Error(), "can be drawn") {
				return // rows of zeros under cosine
			}
			rt.Fatal(err)
		}
		before := math.Inf(1)
		for i, j := range numbers(rt, result, ".distortion") {
			if j > before*(1+1e-13)+1e-13 {
				rt.Fatalf("J rises from %v to %v with round %d", before, j, i+1)
			}
			before = j
		}
	})
}

// No way to begin depends on shards: the records drawn are the same, to the bit.
func TestSeedsDoNotDependOnShards(t *testing.T) {
	records := blobs(90, 3, 7, 6)
	for _, init := range inits {
		for _, metric := range []string{metricEuclidean, metricCosine} {
			params := fmt.Sprintf(`{"k": 7, "init": %q, "metric": %q, "max_rounds": 1}`, init, metric)
			var want []float64
			for _, shards := range []int{1, 2, 5, 90, 120} {
				got := seedsOf(t, params, jobstest.Deal(records, shards))
				if len(got) != 7*3 {
					t.Fatalf("%s: %d numbers", init, len(got))
				}
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s: %d shards begin elsewhere", init, metric, shards)
				}
			}
		}
	}
}

// Grouping, blocks and order of tasks never show, in any phase.
func TestGrouping(t *testing.T) {
	records := blobs(40, 3, 4, 8)
	for i := range records {
		records[i].Weight = float32(1+i%3) / 2
	}
	for _, init := range inits {
		spec := specOf(fmt.Sprintf(
			`{"k": 5, "init": %q, "restarts": 2, "max_rounds": 4, "silhouette_sample": 9, "assignments": true,
				"distances": true, "indices": true}`, init))
		jobstest.CheckGrouping(t, algorithmOf(t, spec), spec, jobstest.Deal(records, 6), kernelops.Best())
	}
	refills := specOf(`{"init": "given", "centers": [[0, 0, 0], [900, 0, 0], [0, 900, 0]]}`)
	jobstest.CheckGrouping(t, algorithmOf(t, refills), refills, jobstest.Deal(records, 6), kernelops.Best())
}

func TestKernelSetsAgree(t *testing.T) {
	records := blobs(300, 19, 6, 9)
	for _, params := range []string{
		`{"k": 9, "silhouette_sample": 50}`, `{"k": 9, "init": "kmeans++", "scale": "standard"}`,
		`{"k": 9, "init": "farthest", "metric": "cosine"}`,
		`{"k": 40, "init": "random", "max_rounds": 3, "scale": "minmax"}`,
	} {
		digests := map[string]bool{}
		for _, ops := range kernelops.All() {
			result, err := tryRun(t, params, jobstest.Deal(records, 4), ops)
			if err != nil {
				t.Fatal(err)
			}
			digests[jobstest.Digest(result.Model)] = true
		}
		if len(digests) != 1 {
			t.Errorf("%s: %d digests", params, len(digests))
		}
	}
}

// A record of weight w is w records. Whole numbers, so that sums are exact.
func TestWeightsRepeat(t *testing.T) {
	var once, repeated []jobstest.Record
	for i, r := range blobs(30, 2, 3, 20) {
		for j, v := range r.Dense {
			r.Dense[j] = float32(math.Round(float64(v)))
		}
		w := 1 + i%4
		for range w {
			repeated = append(repeated, r)
		}
		r.Weight = float32(w)
		once = append(once, r)
	}
	const params = `{"init": "given", "centers": [[0, 0], [5, 5], [9, 0]]}`
	a, b := train(t, params, jobstest.Deal(once, 3)...), train(t, params, jobstest.Deal(repeated, 3)...)
	if x, y := modelOf(t, a), modelOf(t, b); !slices.Equal(x.centers, y.centers) || !slices.Equal(x.weight, y.weight) {
		t.Errorf("weights give %v, repetition %v", x.centers, y.centers)
	}
	x, y := numbers(t, a, ".distortion"), numbers(t, b, ".distortion")
	for i := range x {
		near(t, "J", x[i], y[i], 1e-12)
	}
}

// A record of weight 0 is in a cluster, and moves nothing.
func TestWeightZero(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{0}, {1}, {5}, {6}, {1000}})
	for i := range 4 {
		records[i].Weight = 1
	}
	for _, init := range inits {
		m := modelOf(t, train(t, fmt.Sprintf(`{"k": 2, "init": %q}`, init), records))
		if !slices.Equal(m.centers, []float64{0.5, 5.5}) || !slices.Equal(m.records, []int64{2, 3}) {
			t.Errorf("%s: centers %v, sizes %v", init, m.centers, m.records)
		}
	}
	records = records[4:]
	_, err := tryRun(t, `{"init": "given", "centers": [[1]]}`, [][]jobstest.Record{{records[0]}, {}}, kernelops.Best())
	if err != nil { // without other weights in the data set, none means 1
		t.Error(err)
	}
}

// Sparse and dense rows of the same numbers are the same but for the shift: blobs are found in either.
func TestSparse(t *testing.T) {
	var rows [][]float32
	for i := range 60 {
		row := make([]float32, 30)
		row[i%3], row[3+i%20] = 10, 1
		rows = append(rows, row)
	}
	dense := modelOf(t, train(t, `{"k": 3}`, jobstest.Deal(jobstest.DenseRecords(rows), 4)...))
	sparse := modelOf(t, train(t, `{"k": 3}`, jobstest.Deal(jobstest.SparseRecords(30, rows), 4)...))
	if !slices.Equal(dense.centers, sparse.centers) || dense.distortion() != sparse.distortion() {
		t.Error("sparse rows give other centers than dense ones")
	}
}

func TestTexts(t *testing.T) {
	var records []jobstest.Record
	for i := range 40 {
		text, label := "bread butter cheese", "food"
		if i%2 == 1 {
			text, label = "river lake stream", "water"
		}
		records = append(records, jobstest.Record{Text: text + fmt.Sprint(" word", i%5), Label: label})
	}
	m := modelOf(t, train(t, `{"k": 2, "metric": "cosine"}`, jobstest.Deal(records, 3)...))
	if c, ok := m.agreement(); !ok || c.adjustedRand() != 1 {
		t.Errorf("labels by cluster: %v", m.labels)
	}
}

// Of many restarts the best is kept, and it is at least as good as each alone.
func TestRestarts(t *testing.T) {
	records := blobs(80, 2, 9, 1)
	result := train(t, `{"k": 9, "init": "random", "restarts": 6}`, records)
	m, least := modelOf(t, result), math.Inf(1)
	for _, j := range numbers(t, result, ".distortion") {
		least = min(least, j)
	}
	near(t, "J", m.distortion(), least, 1e-12)
	if first := modelOf(t, train(t, `{"k": 9, "init": "random"}`, records)); first.distortion() < m.distortion() {
		t.Error("the first restart alone is better than the best of six")
	}
}

func TestTolerance(t *testing.T) {
	records := blobs(300, 2, 2, 40)
	exact, loose := train(t, `{"k": 12, "init": "random"}`, records),
		train(t, `{"k": 12, "init": "random", "tol": 0.05}`, records)
	if m := modelOf(t, loose); m.stop != stopTolerance || m.rounds >= modelOf(t, exact).rounds {
		t.Errorf("stopped by %s after %d rounds of %d", m.stop, m.rounds, modelOf(t, exact).rounds)
	}
	j := numbers(t, loose, ".distortion")
	j = j[:len(j)-1] // that of the final centers
	for i := 1; i < len(j); i++ {
		if last := i == len(j)-1; (j[i-1]-j[i] <= 0.05*j[i-1]) != last {
			t.Errorf("J %v: round %d", j, i+1)
		}
	}
	if m := modelOf(t, train(t, `{"k": 12, "init": "random", "max_rounds": 2}`, records)); m.stop != stopRounds ||
		m.rounds != 2 {
		t.Errorf("stopped by %s after %d rounds", m.stop, m.rounds)
	}
}

// k-means|| is as good as its promise on clusters far apart: it finds each of them, in few passes.
func TestSeedsFindBlobs(t *testing.T) {
	records := blobs(1000, 5, 20, 0.01)
	for _, init := range []string{initParallel, initPlusPlus, initFarthest} {
		result := train(t, fmt.Sprintf(`{"k": 20, "init": %q}`, init), jobstest.Deal(records, 7)...)
		if m := modelOf(t, result); slices.Min(m.records) != 50 || slices.Max(m.records) != 50 {
			t.Errorf("%s: sizes %v", init, m.records)
		}
		passes := numbers(t, result, "init.passes")[0]
		if want := map[string]float64{initParallel: 7, initPlusPlus: 21, initFarthest: 20}[init]; passes != want {
			t.Errorf("%s: %v passes, not %v", init, passes, want)
		}
	}
}
