package kmeans

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
)

// A batch of all records, 0 1 5 6 7, from 1 and 0: the first round forgets where centers began, {1 5 6 7} -> 4.75 and
// {0} -> 0. In the second, 0 has {0 1}, its third record: 0 + 1/3; and 4.75 has {5 6 7}: (4 * 4.75 + 18)/7 = 37/7.
func TestBatchesByHand(t *testing.T) {
	result := train(t, `{"algorithm": "minibatch", "batch_size": 9, "max_rounds": 2, "init": "given",
		"centers": [[1], [0]]}`, line[:2], nil, line[2:])
	m := modelOf(t, result)
	near(t, "center 0", m.centers[0], 1.0/3, 1e-15)
	near(t, "center 1", m.centers[1], 37.0/7, 1e-15)
	if got := numbers(t, result, ".batch_distortion"); !slices.Equal(got, []float64{38.5, 3.84375}) {
		t.Errorf("J of the batches: %v", got)
	}
	if m.stop != stopRounds || m.rounds != 2 || m.algorithm != algorithmBatch ||
		!slices.Equal(m.records, []int64{2, 3}) {
		t.Errorf("stop %s after %d rounds of %s, sizes %v", m.stop, m.rounds, m.algorithm, m.records)
	}
}

// plainBatches is Algorithm 1 of Sculley, record by record.
func plainBatches(records []jobstest.Record, centers [][]float64, size, rounds int) {
	counts := make([]float64, len(centers))
	for round := range rounds {
		race := sampling.NewRace(11, fmt.Sprintf("kmeans/minibatch/%d", round)) // the seed of specOf
		times, order := make([]float64, len(records)), make([]int, len(records))
		for i, r := range records {
			weight := float64(r.Weight)
			if weight == 0 {
				weight = 1
			}
			id := dataset.Identity{Object: "records", Offset: int64(i)}
			times[i], order[i] = race.Time(id, weight, math.Inf(1)), i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
		batch := order[:min(size, len(order))]
		nearest := make([]int, len(batch))
		for at, i := range batch {
			best := math.Inf(1)
			for j, c := range centers {
				if d := plainDistance(records[i].Dense, c); d < best {
					best, nearest[at] = d, j
				}
			}
		}
		for at, i := range batch {
			c := nearest[at]
			counts[c]++
			for d, v := range records[i].Dense {
				centers[c][d] = (1-1/counts[c])*centers[c][d] + float64(v)/counts[c]
			}
		}
	}
}

// Centers are those of a loop in float64 over the same batches, to 1e-9.
func TestBatchesAgainstFloat64(t *testing.T) {
	digits, _ := table(t, "digits.csv.gz", 0)
	weighted := blobs(300, 3, 5, 6)
	for i := range weighted {
		weighted[i].Weight = float32(1+i%4) / 2
	}
	for name, c := range map[string]struct {
		records         []jobstest.Record
		k, size, rounds int
	}{
		"digits":   {jobstest.DenseRecords(digits), 10, 100, 70},
		"far":      {jobstest.DenseRecords(fourGroups(500)), 4, 20, 40},
		"weighted": {weighted, 5, 30, 33}, "one record": {weighted, 4, 1, 50}, "all": {weighted, 6, 1000, 5},
	} {
		centers := make([][]float64, c.k)
		for j := range centers {
			centers[j] = wide(c.records[j*len(c.records)/c.k].Dense)
			for d := range centers[j] {
				centers[j][d] += 0.01 * offGrid.Float64(uint64(j), uint64(d))
			}
		}
		given, err := json.Marshal(centers)
		if err != nil {
			t.Fatal(err)
		}
		m := modelOf(t, train(t, fmt.Sprintf(`{"algorithm": "minibatch", "batch_size": %d, "max_rounds": %d,
			"init": "given", "centers": %s}`, c.size, c.rounds, given), jobstest.Deal(c.records, 3)...))
		plainBatches(c.records, centers, c.size, c.rounds)
		slices.SortFunc(centers, slices.Compare[[]float64])
		for j, want := range centers {
			for d, v := range m.center(j) {
				near(t, fmt.Sprintf("%s: center %d, column %d", name, j, d), v, want[d], 1e-9)
			}
		}
	}
}

// J of all records is near that of Lloyd's algorithm.
func TestBatchesReachLloyd(t *testing.T) {
	digits, _ := table(t, "digits.csv.gz", 0)
	records := jobstest.DenseRecords(digits)
	m := modelOf(t, train(t, `{"k": 10, "algorithm": "minibatch", "batch_size": 200, "max_rounds": 60}`,
		jobstest.Deal(records, 4)...))
	t.Logf("J %.0f", m.distortion())
	if m.distortion() > 600_000 {
		t.Errorf("J %v", m.distortion())
	}
}

func TestBatchGroupingAndSets(t *testing.T) {
	records := blobs(60, 3, 4, 8)
	for i := range records {
		records[i].Weight = float32(1+i%3) / 2
	}
	for _, params := range []string{
		`{"algorithm": "minibatch", "batch_size": 7, "k": 5, "max_rounds": 40, "indices": true}`,
		`{"algorithm": "minibatch", "batch_size": 50, "metric": "cosine", "k": 3, "max_rounds": 5}`,
	} {
		spec := specOf(params)
		jobstest.CheckGrouping(t, algorithmOf(t, spec), spec, jobstest.Deal(records, 6), kernelops.Best())
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

func TestBatchParams(t *testing.T) {
	for params, want := range map[string]string{
		`{"k": 2, "algorithm": "minibatch", "batch_size": 0}`:     "batch_size is from 1 to 65536, not 0",
		`{"k": 2, "algorithm": "minibatch", "batch_size": 70000}`: "batch_size is from 1 to 65536, not 70000",
		`{"k": 2, "batch_size": 10}`:                              "batch_size needs algorithm minibatch, not lloyd",
		`{"k": 2, "algorithm": "minibatch", "tol": 0.1}`:          "algorithm minibatch ends after max_rounds",
		`{"k": 2, "algorithm": "minibatch", "restarts": 2}`:       "restarts is 1, not 2",
		`{"k": 2, "algorithm": "minibatch", "empty": "drop"}`:     "not drop",
		`{"k": 2, "algorithm": "minibatch", "stiffness": 1}`:      "stiffness needs algorithm soft, not minibatch",
	} {
		_, err := New(specOf(params))
		wantFault(t, err, "SPEC_INVALID", want)
	}
	records := jobstest.DenseRecords([][]float32{make([]float32, 1<<10)})
	_, err := tryRun(t, `{"k": 1, "algorithm": "minibatch", "batch_size": 65536}`, [][]jobstest.Record{records},
		kernelops.Best())
	wantFault(t, err, "INPUT_LIMIT", "a batch of 65536 records of 1024 columns")
	_, err = tryRun(t, `{"k": 3, "algorithm": "minibatch"}`, rowsOf([]float32{1}, []float32{2}), kernelops.Best())
	wantFault(t, err, "INPUT_EMPTY", "k is 3, more than the 2 training records")
}
