package knn

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops/philox"
)

func collided(t *testing.T, r jobstest.Result) (c Collisions) {
	t.Helper()
	if err := json.Unmarshal([]byte(metricOf(t, r, collisionsMetric)), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// Wilson's interval of 3 of 4 at z = 2: (0.75 + 0.5 -+ 2 sqrt(0.75 0.25/4 + 1/16)) / 2... by hand.
func TestWilsonByHand(t *testing.T) {
	low, high := wilson(0.75, 4, 2, 4)
	spread := 2 * math.Sqrt(0.1875/4+4./64)
	if math.Abs(low-(0.75+0.5-spread)/2) > 1e-15 || math.Abs(high-min(1, (0.75+0.5+spread)/2)) > 1e-15 {
		t.Errorf("%v to %v", low, high)
	}
}

// Two queries of two neighbors each, by two tables. The first query has both, found by table 0 alone; the second none.
// Between queries: p = 1/2, squares (2-1)^2 + (0-1)^2 = 2, times 2/(2-1), is 4, and p (1-p) n^2 = 4: one trial. Between
// tables: 1/2 (2^2 + 0 - 2^2/2) = 1, so 4/5 of a trial, of which there is at least one.
func TestTrialsByHand(t *testing.T) {
	c := collisions{sampled: 2, exact: 4, found: 2, ff: 4, fe: 4, ee: 8, alone: []int64{2, 0}}
	if lists, tables := c.trials(); lists != 1 || tables != 1 {
		t.Errorf("%v, %v", lists, tables)
	}
	// Four queries of one neighbor each, three found: p (1-p) n^2 = 3; 4/3 (3/16 + 9/16) = 1; tables 1/2 (1 + 4 - 9/2).
	c = collisions{sampled: 4, exact: 4, found: 3, ff: 3, fe: 3, ee: 4, alone: []int64{1, 2}}
	if lists, tables := c.trials(); lists != 3 || math.Abs(tables-3/1.25) > 1e-15 {
		t.Errorf("%v, %v", lists, tables)
	}
	c = collisions{sampled: 2, exact: 4, found: 4, ff: 8, fe: 8, ee: 8, alone: []int64{0, 0}}
	if lists, tables := c.trials(); lists != 2 || tables != 2 {
		t.Errorf("all found: %v, %v", lists, tables)
	}
}

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		x, y []uint64
		want float64
	}{{[]uint64{1, 2, 3}, []uint64{4, 5, 6}, missed}, {[]uint64{1, 2, 3}, []uint64{3, 2, 1}, 2},
		{[]uint64{1, 2, 3}, []uint64{1, 2, 3}, 4}, {[]uint64{1}, []uint64{1}, 1}} {
		if got := markOf(c.x, c.y); got != c.want {
			t.Errorf("%v and %v: %v", c.x, c.y, got)
		}
	}
}

// Recall, bins and what is predicted are those of the lists.
func TestCollisionsAreThoseOfTheLists(t *testing.T) {
	x, _ := digits(t)
	j := job{params: `{"k":5,"index":"lsh","lsh":{"recall":0.8}}`, base: jobstest.DenseRecords(x[:400]), shards: 2}
	r := j.mustRun(t)
	c := collided(t, r)
	j.params = `{"k":5}`
	hit := overlap(joined(t, j.mustRun(t), listsFolder), joined(t, r, listsFolder))
	if c.Sampled != 400 || c.Neighbors != 2000 || c.Recall != hit/2000 || c.Recall < 0.7 || c.Recall > 0.9 {
		t.Errorf("%v of 2000: %+v", hit, c)
	}
	var neighbors, found int64
	predicted := 0.0
	for i, bin := range c.Bins {
		neighbors, found = neighbors+bin.Neighbors, found+bin.Found
		predicted += bin.Predicted * float64(bin.Neighbors)
		if i > 0 && !(bin.Distance > c.Bins[i-1].Distance) {
			t.Error("bins do not ascend")
		}
	}
	if neighbors != 2000 || found != int64(hit) || math.Abs(predicted/2000-c.Predicted) > 1e-12 {
		t.Errorf("%d, %d, %v", neighbors, found, predicted)
	}
	if !(c.Low <= c.ListsLow && c.ListsLow < c.Recall && c.Recall < c.ListsHigh && c.ListsHigh <= c.High) {
		t.Errorf("%+v", c)
	}
}

// clusters are rows about some centers, by a seed.
func clusters(n, width, centers int, seed uint64) [][]float32 {
	key, x := philox.New(seed, "clusters"), make([][]float32, n)
	normal := func(a, b uint64) float64 { // the sum of twelve uniform numbers
		sum := -6.0
		for i := range uint64(12) {
			sum += key.Float64(a, 12*b+i)
		}
		return sum
	}
	for i := range x {
		x[i] = make([]float32, width)
		center := uint64(i % centers)
		for j := range x[i] {
			x[i][j] = float32(3*normal(center, uint64(j)) + normal(uint64(n+i), uint64(j)))
		}
	}
	return x
}

// The recall that the S-curve predicts lies in the interval of 99 % of what is measured, by 95 of 100 sets of tables at
// least: for every family, whose rows are clustered or, of Bits, uniform.
func TestPredictedRecallIsMeasured(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 10
	}
	x, bits := clusters(600, 16, 12, 1), grown01(600, 40)
	for _, of := range []metric{l2, l1, cosine, hamming} {
		base := jobstest.DenseRecords(x)
		if of == hamming {
			base = jobstest.DenseRecords(bits)
		}
		inside := uint64(0)
		for seed := range seeds {
			r := job{params: fmt.Sprintf(`{"k":5,"metric":%q,"index":"lsh","lsh":{"sample":200}}`, of), base: base,
				seed: seed + 1}.mustRun(t)
			if c := collided(t, r); c.Low <= c.Predicted && c.Predicted <= c.High {
				inside++
			}
		}
		t.Logf("%s: %d of %d", of, inside, seeds)
		if inside < seeds*95/100 {
			t.Errorf("%s: the predicted recall is in %d of %d intervals", of, inside, seeds)
		}
	}
}

func TestFiguresOfAnIndex(t *testing.T) {
	c := Collisions{Tables: 3, Hashes: 4, Queries: 10, Short: 2, Candidates: 12.5, Share: 0.125, Sampled: 5,
		Neighbors: 50, Recall: 0.9, ListsLow: 0.85, ListsHigh: 0.94, Low: 0.8, High: 0.95, Predicted: 0.91,
		Bins:  []CollisionBin{{1, 30, 24, 0.85}, {2, 19, 10, 0.5}},
		Curve: []CurvePoint{{0, 1}, {1, 0.8}, {2, 0.5}}}
	drawn := func() []jobs.Figure {
		value, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		figures, err := Kind().Figures(nil, []jobs.Metric{{Name: collisionsMetric, Value: value}})
		if err != nil {
			t.Fatal(err)
		}
		return figures
	}
	figures := drawn()
	if len(figures) != 2 || !strings.HasPrefix(figures[0].Caption, "2 of 10 queries have fewer neighbors") ||
		!slices.Equal(figures[0].Table.Rows[0], []string{"3", "4", "12.5", "12.50 %", "90.00 %", "85.00 % to 94.00 %",
			"80.00 % to 95.00 %", "91.00 %"}) {
		t.Errorf("%+v", figures)
	}
	lines := figures[1].Lines.Series
	if len(lines) != 2 || !slices.Equal(lines[0].Y, []float64{1, 0.8, 0.5}) ||
		!slices.Equal(lines[1].Y, []float64{0.8}) {
		t.Errorf("%+v", lines)
	}
	c.Sampled, c.Neighbors, c.Short, c.Curve, c.Bins = 0, 0, 0, nil, nil
	if figures := drawn(); len(figures) != 1 || len(figures[0].Table.Columns) != 4 ||
		len(figures[0].Table.Rows[0]) != 4 || !strings.Contains(figures[0].Caption, "not known") {
		t.Errorf("%+v", figures)
	}
	bad := []jobs.Metric{{Name: collisionsMetric, Value: json.RawMessage(`[]`)}}
	if _, err := Kind().Figures(nil, bad); err == nil {
		t.Error("a list was drawn")
	}
}
