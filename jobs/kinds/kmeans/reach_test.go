package kmeans

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
)

// A record at 1 has its seed at 0. It is nearer to a point below 2; at 2 the seed was first. A point beyond is not
// looked at, and neither is one at 0, where a record is its own seed.
func TestReachByHand(t *testing.T) {
	x := kernelops.Matrix{Data: []float32{1, 0, 3, 40}, Rows: 4, Cols: 1, Stride: 1}
	sqDist, seeds := []float64{1, 0, 9, 9}, []int32{0, 0, 0, 1}
	for _, c := range []struct {
		at   float64
		open []int32
		to   []float64
	}{
		{1.99, []int32{0, 2}, []float64{0.99 * 0.99, 1.01 * 1.01}},
		{2, []int32{0, 2}, []float64{1, 1}},
		{2.5, []int32{2}, []float64{0.25}},
		{7, []int32{}, []float64{}},
		{37.5, []int32{3}, []float64{6.25}},
	} {
		r := newReach(kernelops.Best(), []float64{c.at}, []float32{0, 43}, 1000)
		open, to := r.find(x, sqDist, seeds, nil)
		if !slices.Equal(open, c.open) || len(to) != len(c.to) {
			t.Fatalf("a point at %v reaches %v, not %v", c.at, open, c.open)
		}
		for i, d := range to {
			near(t, fmt.Sprint("distance to ", c.at), d, c.to[i], 1e-15)
		}
	}
}

// A point reaches nobody if there are too many seeds to ask, and everybody if bounds spared nothing.
func TestReachGivesUp(t *testing.T) {
	x := kernelops.NewMatrix(1024, 1)
	sqDist, seeds := slices.Repeat([]float64{1}, 1024), make([]int32, 1024)
	r := newReach(kernelops.Best(), []float64{1}, []float32{0}, 15)
	if open, to := r.find(x, sqDist, seeds, nil); open != nil || len(to) != 1024 || r.all != 0 {
		t.Errorf("of 15 records for a seed, %d were asked for", r.all)
	}
	r = newReach(kernelops.Best(), []float64{1}, []float32{0}, 16)
	for range 9 {
		r.find(x, sqDist, seeds, nil)
	}
	if r.all != leastAsked || r.looked != leastAsked {
		t.Errorf("asked %d times and spared %d", r.all, r.all-r.looked)
	}
}

// TestSeedingIsUnpruned compares each round of seeding, what it draws and what it carries, with the same by all
// distances, on every set.
func TestSeedingIsUnpruned(t *testing.T) {
	spared := 0
	for name, table := range hostileTables() {
		for _, text := range []string{
			`{"k": 20, "init": "farthest"}`, `{"k": 12, "init": "kmeans++"}`, `{"k": 4, "init": "kmeans||"}`,
			`{"k": 9, "init": "farthest", "metric": "cosine"}`, `{"k": 9, "init": "kmeans++", "metric": "cosine"}`,
		} {
			for _, ops := range kernelops.All() {
				t.Run(fmt.Sprintf("%s/%s/%s", name, text, ops.Name), func(t *testing.T) {
					spared += checkSeeding(t, text, table, ops, ops.Name == "avx2")
				})
			}
		}
	}
	if spared < 1000 {
		t.Errorf("bounds spared %d distances: nothing was tested", spared)
	}
}

// checkSeeding returns how many distances bounds spared.
func checkSeeding(t *testing.T, text string, table [][]float32, ops *kernelops.Set, weights bool) (spared int) {
	records := weighted(table, weights)
	leaf, j, s := seedingOf(t, text, records)
	p, carry := &seedPhase{j}, jobs.Arrays(nil)
	for {
		d, carried, err := p.draw(t.Context(), s, leaf, carry, ops)
		if err != nil {
			t.Fatal(err)
		}
		wantDraw, wantNear, err := p.unpruned(t.Context(), s, leaf)
		if err != nil {
			t.Fatal(err)
		}
		got := &nearness{}
		if len(s.seeds) == 0 {
			wantNear = &nearness{}
		} else if got, err = jobs.Read(carried, got); err != nil {
			t.Fatal(err)
		}
		if bytesOf(d, got) != bytesOf(wantDraw, wantNear) {
			t.Fatalf("round %d differs from that by all distances", s.round)
		}
		for _, b := range d.branches {
			if b.reach != nil {
				spared += b.reach.all - b.reach.looked
			}
		}
		next, err := p.turn(t.Context(), s, d, jobs.Round{})
		if err != nil || next.Phase != p.seedName() {
			return spared // centers, or fewer distinct records than these
		}
		if s, err = jobs.Load[state](next.State); err != nil {
			t.Fatal(err)
		}
		carry = carried
	}
}

// TestGroupsAreSpared: of tight groups far apart, a candidate reaches few records but those of its group.
func TestGroupsAreSpared(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	table := make([][]float32, 4000)
	for i := range table {
		table[i] = []float32{float32(i%20) * 100, float32(r.NormFloat64()), float32(r.NormFloat64())}
	}
	leaf, j, s := seedingOf(t, `{"k": 40, "init": "farthest"}`, weighted(table, false))
	for i := range 20 {
		s.seeds = append(s.seeds, table[i]...)
	}
	n := &nearness{}
	for _, row := range table {
		n.sqDist, n.seed = append(n.sqDist, squaredDistance(row, wide(table[int(row[0])/100]))),
			append(n.seed, int32(row[0])/100)
	}
	s.seeds, s.newest, s.round = append(s.seeds, table[100]...), 1, 21
	near, err := newNearness(s, jobs.ArraysOf(n), kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	if err := j.leaf(t.Context(), s.space, leaf, false, func(c chunk) error {
		_, _, err := near.next(c)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if near.reach.all != 4000 || near.reach.looked > 200 {
		t.Errorf("of %d records, %d were looked at", near.reach.all, near.reach.looked)
	}
}

// seedingOf is a leaf of records, and a job before its first round of seeding.
func seedingOf(t *testing.T, text string, records []jobstest.Record) (jobs.Leaf, job, *state) {
	t.Helper()
	leaf := jobs.Leaf{Plan: jobs.Plan{Shards: 1}, Blocks: jobstest.Shards([][]jobstest.Record{records}, 100)[0]}
	spec := specOf(text)
	first := algorithmOf(t, spec).Phases()[0]
	partial, _, err := first.Map(t.Context(), nil, leaf, nil, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	next, err := first.Step(t.Context(), nil, jobs.RoundOf(leaf.Plan, partial))
	if err != nil {
		t.Fatal(err)
	}
	s, err := jobs.Load[state](next.State)
	if err != nil {
		t.Fatal(err)
	}
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		t.Fatal(err)
	}
	return leaf, job{params: p, train: jobs.TrainingRecords(spec), whole: true}, s
}
