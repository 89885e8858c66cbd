package kmeans

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

func rowsOf(rows ...[]float32) [][]jobstest.Record {
	return [][]jobstest.Record{jobstest.DenseRecords(rows)}
}

func TestMoreClustersThanRecords(t *testing.T) {
	for _, init := range inits {
		_, err := tryRun(t, fmt.Sprintf(`{"k": 3, "init": %q}`, init), rowsOf([]float32{1}, []float32{2}),
			kernelops.Best())
		wantFault(t, err, "INPUT_EMPTY", "k is 3, more than the 2 training records")
	}
}

// Two distinct rows, three clusters: what draws by distance says so, "random" leaves it to the policy for empty
// clusters.
func TestMoreClustersThanDistinctRecords(t *testing.T) {
	data := rowsOf([]float32{1}, []float32{2}, []float32{1}, []float32{2}, []float32{2})
	for _, init := range []string{initPlusPlus, initParallel, initFarthest} {
		_, err := tryRun(t, fmt.Sprintf(`{"k": 3, "init": %q}`, init), data, kernelops.Best())
		wantFault(t, err, "INPUT_EMPTY", "only 2 of 3 centers can be drawn")
	}
	for policy, k := range map[string]int{emptyFarthest: 3, emptyKeep: 3, emptyDrop: 2} {
		m := modelOf(t, train(t, fmt.Sprintf(`{"k": 3, "init": "random", "empty": %q}`, policy), data...))
		if m.clusters() != k || m.stop != stopUnchanged {
			t.Errorf("%s: %d clusters, sizes %v, stopped by %s", policy, m.clusters(), m.records, m.stop)
		}
	}
}

// Center 2 lies beyond all points and gets none.
func TestEmptyPoliciesByHand(t *testing.T) {
	data := rowsOf([]float32{0}, []float32{1}, []float32{10}, []float32{14})
	given := func(policy string) string {
		return fmt.Sprintf(`{"init": "given", "centers": [[0], [10], [900]], "empty": %q}`, policy)
	}
	for policy, want := range map[string][]float64{
		emptyKeep:     {0.5, 12, 900},
		emptyDrop:     {0.5, 12},
		emptyFarthest: {0.5, 10, 14}, // 10 and 14 are as far from 12: the first of them
	} {
		if m := modelOf(t, train(t, given(policy), data...)); !slices.Equal(m.centers, want) {
			t.Errorf("%s: centers %v, not %v", policy, m.centers, want)
		}
	}
	_, err := tryRun(t, given(emptyError), data, kernelops.Best())
	wantFault(t, err, "INPUT_EMPTY", "round 1 of Lloyd's algorithm left 1 of 3 clusters without records")
}

// Two empty centers take two different rows, though the farthest row is there twice.
func TestRefillTakesDistinctRows(t *testing.T) {
	data := rowsOf([]float32{0}, []float32{0}, []float32{0}, []float32{0}, []float32{0}, []float32{3}, []float32{9},
		[]float32{9})
	result := train(t, `{"init": "given", "centers": [[1], [800], [900]]}`, data...)
	if m := modelOf(t, result); !slices.Equal(m.centers, []float64{0, 3, 9}) || m.distortion() != 0 {
		t.Errorf("centers %v", m.centers)
	}
}

func TestConstantColumnsAndOnePoint(t *testing.T) {
	data := rowsOf([]float32{7, 1}, []float32{7, 2}, []float32{7, 11}, []float32{7, 12})
	for _, scale := range []string{"none", "standard", "minmax"} {
		m := modelOf(t, train(t, fmt.Sprintf(`{"k": 2, "scale": %q}`, scale), data...))
		if !slices.Equal(m.records, []int64{2, 2}) || m.centers[0] != m.centers[2] {
			t.Errorf("scale %s: sizes %v, centers %v", scale, m.records, m.centers)
		}
	}
	for _, init := range inits {
		m := modelOf(t, train(t, fmt.Sprintf(`{"k": 1, "init": %q, "silhouette_sample": 3}`, init),
			rowsOf([]float32{3, 4})...))
		if !slices.Equal(m.centers, []float64{3, 4}) || m.distortion() != 0 || m.silhouette != 0 {
			t.Errorf("%s: one point: centers %v, J %v, silhouette %v", init, m.centers, m.distortion(), m.silhouette)
		}
	}
}

// A row of zeros has no direction: it is never a center, and lies at a distance of 1/2.
func TestZeroRowsUnderCosine(t *testing.T) {
	data := rowsOf([]float32{0, 0}, []float32{2, 0}, []float32{0, 0}, []float32{0, 3})
	for _, init := range inits {
		m := modelOf(t, train(t, fmt.Sprintf(`{"k": 2, "metric": "cosine", "init": %q}`, init), data...))
		if !slices.Equal(m.centers, []float64{0, 1, 1, 0}) || m.distortion() != 1 {
			t.Errorf("%s: centers %v, J %v", init, m.centers, m.distortion())
		}
	}
	_, err := tryRun(t, `{"k": 1, "metric": "cosine"}`, rowsOf([]float32{0, 0}), kernelops.Best())
	wantFault(t, err, "INPUT_EMPTY", "only 0 of 1 centers")
}

func TestValuesThatAreNotFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		_, err := tryRun(t, `{"k": 1}`, rowsOf([]float32{1, 2}, []float32{3, float32(v)}), kernelops.Best())
		wantFault(t, err, "BAD_RECORD", "")
	}
	if m := modelOf(t, train(t, `{"k": 2, "scale": "minmax"}`,
		rowsOf([]float32{-3e38}, []float32{3e38}, []float32{2.9e38})...)); m.records[1] != 2 {
		t.Errorf("scaled by min and max: sizes %v", m.records)
	}
}

func TestWidths(t *testing.T) {
	_, err := tryRun(t, `{"k": 1}`, [][]jobstest.Record{rowsOf([]float32{1})[0], rowsOf([]float32{1, 2})[0]},
		kernelops.Best())
	wantFault(t, err, "BAD_RECORD", "")
	_, err = tryRun(t, `{"init": "given", "centers": [[1, 2]]}`, rowsOf([]float32{1}), kernelops.Best())
	wantFault(t, err, "SPEC_INVALID", "the centers have 2 numbers each; the records have 1")
	wide := []jobstest.Record{{Width: 1 << 30, Indices: []int32{5}, Values: []float32{1}}}
	_, err = tryRun(t, `{"k": 1}`, [][]jobstest.Record{wide}, kernelops.Best())
	wantFault(t, err, "INPUT_LIMIT", "2^20 columns")
}

// A model begins where another ended; there it stays.
func TestWarmStart(t *testing.T) {
	records := blobs(120, 4, 5, 30)
	first := train(t, `{"k": 5}`, records)
	spec := specOf(`{"init": "given"}`)
	spec.Spec.Model = "file:///m/model.safetensors"
	again := func(model jobs.Arrays, data []jobstest.Record) (jobstest.Result, error) {
		return jobstest.Run(t.Context(), algorithmOf(t, spec), spec, jobstest.Shards([][]jobstest.Record{data}, 50),
			kernelops.Best(),
			jobstest.Grouping{}, jobstest.WithModel(model))
	}
	second, err := again(first.Model, records)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := modelOf(t, first), modelOf(t, second); !slices.Equal(a.centers, b.centers) || b.rounds != 2 {
		t.Errorf("a converged model moved in %d rounds", b.rounds)
	}
	_, err = again(first.Model, blobs(20, 3, 2, 1))
	wantFault(t, err, "SPEC_INVALID", "has 4 columns")
	_, err = again(train(t, `{"k": 2, "scale": "standard"}`, records).Model, records)
	wantFault(t, err, "SPEC_INVALID", "scale standard")
	_, err = again(jobs.Arrays{}, records)
	wantFault(t, err, "CORRUPT", "")
}

func TestParams(t *testing.T) {
	for params, want := range map[string]string{
		``:                                                   "k, the number of clusters",
		`{"k": 0}`:                                           "k, the number of clusters",
		`{"k": 2, "clusters": 3}`:                            "clusters",
		`{"k": 2, "init": "kmeans"}`:                         `init is one of`,
		`{"k": 2, "metric": "cosin"}`:                        `Did you mean "cosine"?`,
		`{"k": 2, "empty": "ignore"}`:                        "empty is one of",
		`{"k": 2, "tol": -1}`:                                "tol is in [0, 1)",
		`{"k": 2, "max_rounds": 0}`:                          "max_rounds is from 1",
		`{"k": 2, "restarts": 0}`:                            "restarts is from 1",
		`{"k": 2, "oversampling": 0}`:                        "oversampling is in (0, 100]",
		`{"k": 2, "init_rounds": 0}`:                         "init_rounds is from 1",
		`{"k": 2, "scale": "log"}`:                           "scale is one of",
		`{"k": 2, "centers": [[1]]}`:                         "centers need init given",
		`{"k": 2, "silhouette_sample": 5000}`:                "silhouette_sample is from 0 to 4096",
		`{"k": 2, "metric": "cosine", "scale": "minmax"}`:    "metric cosine takes scale none or l2",
		`{"init": "given"}`:                                  "init given needs centers",
		`{"k": 3, "init": "given", "centers": [[1], [2]]}`:   "k is 3, but there are 2 centers",
		`{"init": "given", "centers": [[1], [2, 3]]}`:        "row 1 has 2 numbers",
		`{"init": "given", "centers": [[1e39]]}`:             "beyond the range of float32",
		`{"init": "given", "centers": [[1]], "restarts": 2}`: "restarts from given centers",
	} {
		_, err := New(specOf(params))
		wantFault(t, err, "SPEC_INVALID", want)
	}
	full, err := Kind().Defaults([]byte(`{"k": 2}`))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Kind().Defaults(full); err != nil || string(again) != string(full) {
		t.Errorf("defaults written in are %s, then %s (%v)", full, again, err)
	}
}

func TestModelAndInit(t *testing.T) {
	for params, want := range map[string]string{
		`{"k": 2}`:                               "needs init given",
		`{"init": "given", "centers": [[1]]}`:    "both give centers",
		`{"init": "given", "scale": "standard"}`: "scale is none or l2",
	} {
		spec := specOf(params)
		spec.Spec.Model = "file:///m/model.safetensors"
		_, err := New(spec)
		wantFault(t, err, "SPEC_INVALID", want)
	}
}
