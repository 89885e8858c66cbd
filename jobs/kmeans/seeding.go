package kmeans

import (
	"context"
	"fmt"
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/sampling"
	"github.com/gram-compute/gram/kernelops"
)

// seedPhase draws centres to begin from, in as many rounds as the way to begin takes.
type seedPhase struct{ job }

func (p *seedPhase) Name() string { return p.seedName() }

// draws is how many records a round draws at most; 0 for the last round of kmeans||, which weighs.
func (j job) draws(round int) int {
	switch {
	case j.params.Init == initRandom:
		return j.params.K
	case j.params.Init != initParallel || round == 0:
		return 1
	case round <= j.params.InitRounds:
		return int(math.Ceil(float64(j.params.K) * j.params.Oversampling)) //lint:checked at most 2^20 * 100
	}
	return 0
}

// Map draws from one leaf, or weighs the candidates by what is nearest to them.
func (p *seedPhase) Map(ctx context.Context, a jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	s, err := readState(a)
	if err != nil {
		return nil, nil, err
	}
	near, err := newNearness(s, carry, ops)
	if err != nil {
		return nil, nil, err
	}
	draw := newSeedDraw(p.job, s)
	err = p.leaf(ctx, s.space, leaf, false, func(c chunk) error {
		sqDists, seeds, err := near.next(c)
		if err != nil {
			return err
		}
		draw.add(c, sqDists, seeds)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return draw.arrays(), near.arrays(), near.checkEnd()
}

// seedDraw is one leaf's part of a round.
type seedDraw struct {
	job
	race      *sampling.Race
	farthest  bool // by distance alone
	weigh     bool
	sample    *sampling.Sample
	weights   []float64 // of each seed, when weighed: the weights of the records nearest to it
	potential float64   // sum of w D^2
}

func newSeedDraw(j job, s *state) *seedDraw {
	draws := j.draws(s.round)
	d := &seedDraw{job: j, farthest: j.params.Init == initFarthest && s.round > 0, weigh: draws == 0,
		race:   sampling.NewRace(j.seed, fmt.Sprintf("kmeans/%s/%d/%d", j.seedName(), s.restart, s.round)),
		sample: sampling.New(max(1, draws))}
	if d.weigh {
		d.weights = make([]float64, len(s.seeds)/s.space.Width)
	}
	return d
}

// add takes in rows with their squared distances to the nearest seed: 1 each where there is no seed yet.
func (d *seedDraw) add(c chunk, sqDists []float64, seeds []int32) {
	for i, id := range c.ids {
		w := c.weight(i)
		d.potential += float64(w * sqDists[i])
		switch {
		case d.weigh:
			d.weights[seeds[i]] += w
		case d.cosine() && zero(c.x.Row(i)): // no direction to be a centre
		default:
			d.sample.Offer(d.key(id, w, sqDists[i]), id, c.x.Row(i))
		}
	}
}

// key is what a record is drawn by, the least first: its time in a race of weight w D^2, or its distance.
func (d *seedDraw) key(id dataset.Identity, weight, sqDist float64) float64 {
	switch {
	case !d.farthest:
		return d.race.Time(id, float64(weight*sqDist), d.sample.Limit())
	case weight > 0 && sqDist > 0:
		return -sqDist
	}
	return math.Inf(1)
}

func (d *seedDraw) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	d.sample.Put(a, "draws")
	jobs.Put(a, "weights", d.weights)
	jobs.PutScalar(a, "potential", d.potential)
	return a
}

func readSeedDraw(a jobs.Arrays) (*seedDraw, error) {
	sample, err := sampling.Read(a, "draws")
	r := jobs.ArrayReader{Arrays: a, Err: err}
	d := &seedDraw{sample: sample, weights: jobs.ReadArray[float64](&r, "weights"), potential: jobs.ReadScalar[float64](&r, "potential")}
	return d, r.Err
}

// Merge keeps the least keys of two neighbours and adds their sums.
func (p *seedPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	l, err := readSeedDraw(left)
	if err != nil {
		return nil, err
	}
	r, err := readSeedDraw(right)
	if err != nil {
		return nil, err
	}
	l.sample.Merge(r.sample)
	l.potential += r.potential
	if l.weights, err = sum(l.weights, r.weights); err != nil {
		return nil, err
	}
	return l.arrays(), nil
}

// sum adds element by element.
func sum(left, right []float64) ([]float64, error) {
	if len(left) != len(right) {
		return nil, jobs.Malformed("partials of %d and %d numbers", len(left), len(right))
	}
	total := make([]float64, len(left))
	for i, v := range left {
		total[i] = v + right[i]
	}
	return total, nil
}

// Step takes the records drawn, and begins Lloyd's rounds when there are enough.
func (p *seedPhase) Step(ctx context.Context, a jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	only, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	root, err := readSeedDraw(only)
	if err != nil {
		return jobs.Next{}, err
	}
	s, err := readState(a)
	if err != nil {
		return jobs.Next{}, err
	}
	draws := root.sample.Draws()
	for _, d := range draws {
		s.seeds = append(s.seeds, d.Row...)
	}
	s.newest = len(draws)
	s.round++
	seeds := len(s.seeds) / s.space.Width
	switch {
	case p.draws(s.round-1) == 0:
		s.centers, err = p.reduce(ctx, s, root.weights)
	case p.params.Init == initParallel:
		return jobs.Next{Phase: p.Name(), State: s.arrays()}, p.checkSeeds(min(seeds, 1), 1)
	case seeds < p.params.K && len(draws) > 0 && p.params.Init != initRandom:
		return jobs.Next{Phase: p.Name(), State: s.arrays()}, nil
	default:
		s.centers, err = wide(s.seeds), p.checkSeeds(seeds, p.params.K)
	}
	if err != nil {
		return jobs.Next{}, err
	}
	return p.beginLloyd(s, root.potential)
}

// beginLloyd turns the finished seeding into the first state of phase lloyd. The metrics tell its cost in passes over the data, and
// the sum of w D^2 that the last of them saw.
func (p *seedPhase) beginLloyd(s *state, potential float64) (jobs.Next, error) {
	name := runPrefix(s.restart) + "init."
	potentialMetric, err := jobs.NewMetric(name+"potential", potential)
	if err != nil {
		return jobs.Next{}, err
	}
	metrics := []jobs.Metric{jobs.CountMetric(name+"passes", int64(s.round)),
		jobs.CountMetric(name+"candidates", int64(len(s.seeds)/s.space.Width)), potentialMetric}
	if p.cosine() {
		unit(s.centers, s.space.Width)
	}
	s.seeds, s.newest, s.round = nil, 0, 0
	return jobs.Next{Phase: lloydName, State: s.arrays(), Metrics: metrics}, nil
}

// checkSeeds refuses a data set with fewer distinct records than centres are wanted.
func (j job) checkSeeds(found, want int) error {
	if found >= want {
		return nil
	}
	hint := "Choose a smaller k."
	if j.params.Init != initRandom {
		hint = "Choose a smaller k, or init random, which allows equal records."
	}
	return emptyFault(hint, "only %d of %d centres can be drawn: no other training record differs from them and has a weight above 0", found, want)
}

func wide(rows []float32) []float64 {
	w := make([]float64, len(rows))
	for i, v := range rows {
		w[i] = float64(v)
	}
	return w
}

// runPrefix begins the names of the metrics of a restart; the first has none.
func runPrefix(restart int) string {
	if restart == 0 {
		return ""
	}
	return fmt.Sprintf("restart.%d.", restart)
}
