package kmeans

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
)

// Records 0 1, 10 12 and 100: 100 is apart from the others, and then 10 and 12 from 0 and 1, whatever seeds are drawn.
// J is (5.75^2 + 4.75^2 + 4.25^2 + 6.25^2)/2 of two clusters and (1/4 + 1/4 + 1 + 1)/2 of three.
func TestBisectingByHand(t *testing.T) {
	data := jobstest.DenseRecords([][]float32{{10}, {0}, {100}, {1}, {12}})
	result := train(t, `{"k": 3, "algorithm": "bisecting", "assignments": true}`, data[:2], nil, data[2:])
	m := modelOf(t, result)
	if !slices.Equal(m.centers, []float64{0.5, 11, 100}) || !slices.Equal(m.records, []int64{2, 2, 1}) ||
		m.stop != stopUnchanged || m.algorithm != algorithmBisecting {
		t.Errorf("centers %v, sizes %v, stop %s", m.centers, m.records, m.stop)
	}
	if got := numbers(t, result, ".distortion"); !slices.Equal(got, []float64{56.375, 1.25, 1.25}) {
		t.Errorf("J %v", got) // the last is kmeans.distortion
	}
	first, second := slices.Clone(m.tree.children[:2]), slices.Clone(m.tree.children[2:])
	slices.Sort(first)
	slices.Sort(second)
	if !slices.Equal(first, []int32{^2, 1}) || !slices.Equal(second, []int32{^1, ^0}) {
		t.Errorf("tree %v", m.tree.children)
	}
}

// A record goes down the tree: 7 is on the side of 0 and 10, whose mean is 5, and not of 20; among these it goes to 10.
func TestTreeByHand(t *testing.T) {
	// splits: 5 against 20, then 0 against 10; clusters 0, 10 and 20. 14 is nearer to 20 than to 5, but nearest to 10.
	walk := &tree{children: []int32{1, ^2, ^0, ^1}, centers: []float64{5, 20, 0, 10}}
	if err := walk.check(3); err != nil {
		t.Fatal(err)
	}
	for x, want := range map[float32]int32{7: 1, 5: 0, 14: 2, -3: 0, 12.5: 1} {
		if got, d := walk.find([]float32{x}); got != want ||
			d != math.Pow(float64(x)-[]float64{0, 10, 20}[want], 2) {
			t.Errorf("%v is in cluster %d at %v, not in %d", x, got, d, want)
		}
	}
	for _, children := range [][]int32{{0, ^2, ^0, ^1}, {1, ^3, ^0, ^1}, {1, ^2, ^0, ^0}, {2, ^2, ^0, ^1},
		{1, 1, ^0, ^1}, {^0, ^1, ^2, ^0}} {
		if (&tree{children: children, centers: walk.centers}).check(3) == nil {
			t.Errorf("tree %v", children)
		}
	}
}

// half is a cluster of the loop in float64.
type half struct {
	id      uint64
	members []int
	center  []float64
	cost    float64
	weight  float64
}

// plainBisecting is bisecting k-means, a cluster at a time.
func plainBisecting(records []jobstest.Record, k int, bySize bool, rounds int) []half {
	leaves := []half{{id: 1, cost: 1, weight: 1}}
	for i := range records {
		leaves[0].members = append(leaves[0].members, i)
	}
	for len(leaves) < k {
		best := 0
		for at, l := range leaves {
			if l.cost > 0 && (bySize && l.weight > leaves[best].weight || !bySize && l.cost > leaves[best].cost) {
				best = at
			}
		}
		a, b := plainSplit(records, leaves[best], rounds)
		leaves[best] = a
		leaves = append(leaves, b)
	}
	return leaves
}

func weightOf(r jobstest.Record) float64 {
	if r.Weight == 0 {
		return 1
	}
	return float64(r.Weight)
}

// plainSeed draws the record of least time, by weight times what factor gives.
func plainSeed(records []jobstest.Record, of half, stage int32, factor func(i int) float64) []float64 {
	race := sampling.NewRace(11, fmt.Sprintf("kmeans/bisecting/%016x/%d", of.id, stage)) // the seed of specOf
	first, at := math.Inf(1), -1
	for _, i := range of.members {
		id := dataset.Identity{Object: "records", Offset: int64(i)}
		if time := race.Time(id, weightOf(records[i])*factor(i), math.Inf(1)); time < first {
			first, at = time, i
		}
	}
	return wide(records[at].Dense)
}

func plainSplit(records []jobstest.Record, of half, rounds int) (a, b half) {
	halves := []half{{id: childID(of.id, 0)}, {id: childID(of.id, 1)}}
	halves[0].center = plainSeed(records, of, stageFirst, func(int) float64 { return 1 })
	halves[1].center = plainSeed(records, of, stageSecond, func(i int) float64 {
		return plainDistance(records[i].Dense, halves[0].center)
	})
	side := func(i int) int {
		if plainDistance(records[i].Dense, halves[1].center) < plainDistance(records[i].Dense, halves[0].center) {
			return 1
		}
		return 0
	}
	for range rounds {
		sums, moved := [2][]float64{}, false
		for s := range halves {
			halves[s].cost, halves[s].weight = 0, 0
			sums[s] = make([]float64, len(halves[s].center))
		}
		for _, i := range of.members {
			s, w := side(i), weightOf(records[i])
			halves[s].cost += w * plainDistance(records[i].Dense, halves[s].center)
			halves[s].weight += w
			for d, v := range records[i].Dense {
				sums[s][d] += w * float64(v)
			}
		}
		for s := range halves {
			for d, v := range sums[s] {
				v /= halves[s].weight
				moved = moved || math.Abs(v-halves[s].center[d]) > 1e-12*math.Abs(v)
				halves[s].center[d] = v
			}
		}
		if !moved {
			break
		}
	}
	for _, i := range of.members {
		s := side(i)
		halves[s].members = append(halves[s].members, i)
	}
	return halves[0], halves[1]
}

// Centers and clusters are those of a loop in float64 that splits a cluster at a time, to 1e-9.
func TestBisectingAgainstFloat64(t *testing.T) {
	digits, _ := table(t, "digits.csv.gz", 0)
	weighted := blobs(300, 3, 7, 6)
	for i := range weighted {
		weighted[i].Weight = float32(1+i%4) / 2
	}
	for name, c := range map[string]struct {
		records   []jobstest.Record
		k, rounds int
		split     string
	}{
		"digits":      {jobstest.DenseRecords(digits), 12, 100, splitDistortion},
		"digits/size": {jobstest.DenseRecords(digits), 9, 100, splitSize},
		"far":         {jobstest.DenseRecords(fourGroups(500)), 4, 100, splitDistortion},
		"weighted":    {weighted, 25, 100, splitDistortion}, "short": {weighted, 6, 2, splitSize},
	} {
		m := modelOf(t, train(t, fmt.Sprintf(`{"k": %d, "algorithm": "bisecting", "max_rounds": %d, "split": %q}`, c.k,
			c.rounds, c.split), jobstest.Deal(c.records, 3)...))
		want := plainBisecting(c.records, c.k, c.split == splitSize, c.rounds)
		slices.SortFunc(want, func(a, b half) int { return slices.Compare(a.center, b.center) })
		for j, h := range want {
			scale := 0.0
			for _, v := range h.center {
				scale = max(scale, math.Abs(v))
			}
			for d, v := range m.center(j) {
				if !(math.Abs(v-h.center[d]) <= 1e-9*scale) {
					t.Errorf("%s: center %d is %v, not %v", name, j, m.center(j), h.center)
					break
				}
			}
			if m.records[j] != int64(len(h.members)) {
				t.Errorf("%s: cluster %d has %d records, not %d", name, j, m.records[j], len(h.members))
			}
		}
	}
}

// No model depends on shards, grouping, kernel sets, or how many splits go on at a time.
func TestBisectingGroupingAndSets(t *testing.T) {
	records := blobs(60, 3, 4, 8)
	for i := range records {
		records[i].Weight = float32(1+i%3) / 2
	}
	for i, params := range []string{
		`{"algorithm": "bisecting", "k": 5, "indices": true, "distances": true, "silhouette_sample": 9}`,
		`{"algorithm": "bisecting", "k": 5, "metric": "cosine", "split": "size", "tol": 0.01}`,
		`{"algorithm": "bisecting", "k": 4, "init": "farthest", "max_rounds": 2}`,
		`{"algorithm": "bisecting", "k": 20, "init": "random"}`,
	} {
		if spec := specOf(params); i < 2 { // the others are of many rounds
			jobstest.CheckGrouping(t, algorithmOf(t, spec), spec, jobstest.Deal(records, 6), kernelops.Best())
		}
		digests := map[string]bool{}
		for _, ops := range kernelops.All() {
			for _, shards := range []int{1, 4} {
				result, err := tryRun(t, params, jobstest.Deal(records, shards), ops)
				if err != nil {
					t.Fatal(err)
				}
				digests[jobstest.Digest(result.Model)] = true
			}
		}
		if len(digests) != 1 {
			t.Errorf("%s: %d digests", params, len(digests))
		}
	}
}

// Three different records, one of them of weight 0, cannot be three clusters.
func TestBisectingOfEqualRecords(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{1}, {2}, {1}, {2}, {2}, {9}})
	for i := range records[:5] {
		records[i].Weight = 2
	}
	_, err := tryRun(t, `{"k": 3, "algorithm": "bisecting"}`, [][]jobstest.Record{records}, kernelops.Best())
	wantFault(t, err, "INPUT_EMPTY", "can be split into 2 clusters, not 3")
	m := modelOf(t, train(t, `{"k": 2, "algorithm": "bisecting"}`, records))
	if !slices.Equal(m.centers, []float64{1, 2}) || !slices.Equal(m.records, []int64{2, 4}) {
		t.Errorf("centers %v, sizes %v", m.centers, m.records)
	}
	_, err = tryRun(t, `{"k": 2, "algorithm": "bisecting"}`, rowsOf([]float32{7}, []float32{7}), kernelops.Best())
	wantFault(t, err, "INPUT_EMPTY", "can be split into 1 clusters, not 2")
}

// A Predict job goes down the tree as training does: every training record is in the cluster that assignments have.
func TestBisectingPredicts(t *testing.T) {
	records := blobs(200, 2, 5, 12)
	result := train(t, `{"k": 9, "algorithm": "bisecting", "assignments": true}`, records)
	m := modelOf(t, result)
	rows := make([][]float32, len(records))
	for i, r := range records {
		rows[i] = r.Dense
	}
	assigned, apart := joinedRows(t, result, assignmentsFolder), 0
	for i, o := range predictAll(t, m, rows) {
		if o.Label != assigned[i][2] {
			t.Errorf("record %d is in cluster %s, predicted %s", i, assigned[i][2], o.Label)
		}
		for j := range m.clusters() {
			if plainDistance(rows[i], m.center(j)) < o.Value*o.Value*(1-1e-9) {
				apart++
				break
			}
		}
	}
	t.Logf("%d of %d records are nearer to another center", apart, len(rows))
	for name, spoil := range map[string]func(jobs.Arrays){
		"no tree":  func(a jobs.Arrays) { delete(a, "tree.children") },
		"a circle": func(a jobs.Arrays) { jobs.Put(a, "tree.children", make([]int32, 16), 8, 2) },
		"a center NaN": func(a jobs.Arrays) {
			jobs.Put(a, "tree.centers", slices.Repeat([]float64{math.NaN()}, 32), 8, 2, 2)
		},
		"too short": func(a jobs.Arrays) { jobs.Put(a, "tree.children", make([]int32, 2), 1, 2) },
	} {
		model := train(t, `{"k": 9, "algorithm": "bisecting"}`, records).Model
		spoil(model)
		if _, err := NewPredictor(model, kernelops.Generic()); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}

func TestBisectingParams(t *testing.T) {
	for params, want := range map[string]string{
		`{"k": 2, "split": "size"}`:                                             "split needs algorithm bisecting",
		`{"k": 2, "algorithm": "bisecting", "split": "x"}`:                      "split is one of",
		`{"k": 1, "algorithm": "bisecting"}`:                                    "k is from 2 to 4096, not 1",
		`{"k": 5000, "algorithm": "bisecting"}`:                                 "k is from 2 to 4096, not 5000",
		`{"k": 2, "algorithm": "bisecting", "restarts": 2}`:                     "restarts is 1, not 2",
		`{"k": 2, "algorithm": "bisecting", "empty": "error"}`:                  "not error",
		`{"algorithm": "bisecting", "init": "given", "centers": [[1], [2]]}`:    "init is not given",
		`{"k": 2, "algorithm": "bisecting", "batch_size": 3}`:                   "batch_size needs algorithm minibatch",
		`{"k": 2, "algorithm": "bisecting", "silhouette_sample": 2, "tol": -1}`: "tol is in",
	} {
		_, err := New(specOf(params))
		wantFault(t, err, "SPEC_INVALID", want)
	}
	text, err := Kind().Describe(train(t, `{"k": 2, "algorithm": "bisecting"}`, line).Model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "algorithm    bisecting") {
		t.Errorf("%s, %v", text, err)
	}
}
