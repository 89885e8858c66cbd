package kmeans

import (
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// maxBisecting bounds k: choosing the next cluster looks at all.
const maxBisecting = 1 << 12

// bisectPhase splits clusters by 2-means: bisecting k-means of Steinbach, Karypis and Kumar, "A comparison of document
// clustering techniques", KDD workshop on text mining, 2000. Every split depends on the records of its cluster alone,
// so a pass goes on with all splits that may be needed, not only with that of the largest cluster.
type bisectPhase struct{ job }

func (p *bisectPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *halves]{
		Name: p.roundName(), State: jobs.Load[state], Partial: func() *halves { return new(halves) },
		Map: p.add, Merge: (*halves).plus, Step: p.turn, Rounds: p.most,
	}.Phase()
}

// halves are what a round finds of the splits that go on: for each the next seed, and what both of its centers get.
type halves struct {
	samples []*sampling.Sample // of at most one record
	rows    sums.Rows          // two classes for each split
	cost    *sums.Exact        // of each class: sum of w |x - mu|^2
}

// Fields lists the halves.
func (h *halves) Fields(f *jobs.Fields) {
	h.rows.Fields(f, "sums", "weight")
	jobs.Make(f, &h.cost).Fields(f, "cost")
	n := h.cost.Len()
	f.Require(h.rows.Classes() == n && n%2 == 0 && n <= 2*maxActive, "halves of %d and %d classes", h.rows.Classes(), n)
	if f.Reading() {
		h.samples = make([]*sampling.Sample, n/2)
	}
	for i := range h.samples {
		sampling.Fields(f, fmt.Sprintf("seed.%03d", i), &h.samples[i])
	}
}

// plus adds the halves to the right.
func (h *halves) plus(right *halves) (*halves, error) {
	total, err := h.rows.Plus(&right.rows)
	if err != nil {
		return nil, err
	}
	h.rows = *total
	if err := sums.Join(&h.cost, right.cost); err != nil {
		return nil, err
	}
	for i, s := range right.samples {
		if err := h.samples[i].Merge(s); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// add goes through the records of a leaf: each takes part in the split of the node that it reaches.
func (p *bisectPhase) add(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*halves, error) {
	b := newBisector(p.job, s, ops)
	err := p.leaf(ctx, s.space, leaf, s.round > 0, b.add)
	b.halves.rows = *b.adder.Rows()
	return b.halves, err
}

// bisector adds up halves. One goroutine.
type bisector struct {
	job
	*halves
	g     *growth
	slot  []int32 // of each node that is being split; -1 of others
	races []*sampling.Race
	adder *sums.Adder

	// the rows of a chunk that count for a center
	picked  kernelops.Matrix
	class   []int32
	weights []float32
}

func newBisector(j job, s *state, ops *kernelops.Set) *bisector {
	active, width := s.growth.active(), s.space.Width
	b := &bisector{job: j, g: s.growth, slot: slices.Repeat([]int32{-1}, len(s.growth.id)),
		adder:  sums.NewAdder(2*len(active), width, ops),
		halves: &halves{cost: sums.NewExact(2 * len(active))}}
	for i, node := range active {
		b.slot[node] = int32(i)
		b.samples = append(b.samples, sampling.New(1))
		b.races = append(b.races, sampling.NewRace(j.seed,
			fmt.Sprintf("kmeans/bisecting/%016x/%d", b.g.id[node], b.g.stage[node])))
	}
	return b
}

func (b *bisector) add(c chunk) error {
	b.picked.Cols, b.picked.Stride, b.picked.Rows = c.X.Cols, c.X.Cols, 0
	b.picked.Data, b.class, b.weights = b.picked.Data[:0], b.class[:0], b.weights[:0]
	for i := range c.IDs {
		row := c.X.Row(i)
		node := b.g.find(row)
		slot := b.slot[node]
		if slot < 0 {
			continue
		}
		if b.g.stage[node] != stageMeans {
			b.offer(slot, node, c, i)
			continue
		}
		child := b.g.nearer(node, row)
		d := rows.SquaredDistance(row, b.g.center(child, len(row)))
		if d-d != 0 {
			return beyond(c.IDs[i])
		}
		class := 2*slot + child - b.g.child[node]
		b.cost.Add(int(class), float64(c.Weight(i)*d))
		b.picked.Data, b.class = append(b.picked.Data, row...), append(b.class, class)
		b.picked.Rows++
		if c.Weights != nil {
			b.weights = append(b.weights, c.Weights[i])
		}
	}
	weights := b.weights
	if c.Weights == nil {
		weights = nil
	}
	b.adder.Dense(b.picked, b.class, weights)
	return nil
}

// most bounds the rounds. The split that is needed next takes at most a round for each of its seeds, and max_rounds
// after that; k-1 leaves are split, and at most k turn out to have equal records. Where not all leaves can be begun at
// a time, a split waits for others.
func (p *bisectPhase) most(jobs.Plan) int64 {
	if p.params.K > maxActive {
		return -1
	}
	return int64(2*p.params.K-1) * int64(p.params.MaxRounds+2)
}

// offer may draw a record for the next seed of a split: the first by weight, the second as init says.
func (b *bisector) offer(slot, node int32, c chunk, i int) {
	row, w, sample, race := c.X.Row(i), c.Weight(i), b.samples[slot], b.races[slot]
	if !(w > 0) || b.cosine() && zero(row) {
		return
	}
	key := 0.0
	if b.g.stage[node] == stageFirst {
		key = race.Time(c.IDs[i], w, sample.Limit())
	} else {
		d := rows.SquaredDistance(row, b.g.center(b.g.child[node], len(row)))
		switch {
		case !(d > 0):
			return
		case b.params.Init == initRandom:
			key = race.Time(c.IDs[i], w, sample.Limit())
		case b.params.Init == initFarthest:
			key = -d
		default:
			key = race.Time(c.IDs[i], float64(w*d), sample.Limit())
		}
	}
	sample.Offer(key, c.IDs[i], row)
}

// turn takes seeds, moves centers, and begins what splits may be needed next, until there are k clusters.
func (p *bisectPhase) turn(ctx context.Context, s *state, root *halves, _ jobs.Round) (jobs.Next, error) {
	g, active := s.growth, s.growth.active()
	if len(root.samples) != len(active) || root.rows.Width != s.space.Width {
		return jobs.Next{}, jobs.Malformed("%d splits of %d columns have halves of %d splits, %d columns", len(active),
			s.space.Width, len(root.samples), root.rows.Width)
	}
	s.growth = g.clone()
	weights, costs := root.rows.Weight.Floats(), root.cost.Floats()
	for i, node := range active {
		for _, d := range root.samples[i].Draws() {
			if len(d.Row) != s.space.Width {
				return jobs.Next{}, jobs.Malformed("a seed has %d numbers, not %d", len(d.Row), s.space.Width)
			}
		}
		if g.stage[node] == stageMeans {
			p.move(s.growth, node, root, i, weights[2*i:], costs[2*i:])
		} else {
			p.seedSplit(s.growth, node, root.samples[i].Draws())
		}
	}
	s.round++
	if s.growth.stage[0] == stageWhole {
		return jobs.Next{}, p.tooFew(1)
	}
	leaves, open := s.growth.greedy(p.params.K, p.params.Split == splitSize, func(int32) {})
	switch {
	case open:
		s.growth.begin(leaves, p.params.K, p.params.Split == splitSize)
		return jobs.Next{Phase: p.roundName(), State: jobs.ArraysOf(s)}, ctx.Err()
	case len(leaves) < p.params.K:
		return jobs.Next{}, p.tooFew(len(leaves))
	}
	return p.end(s, leaves)
}

func (p *bisectPhase) tooFew(found int) error {
	return protocol.EmptyFault("the training records that weigh more than 0 can be split into %d clusters, not %d: "+
		"those of a cluster are equal", found, p.params.K).WithHint("Choose a smaller k.")
}

// seedSplit takes a drawn seed. Records without two different ones cannot be split.
func (p *bisectPhase) seedSplit(g *growth, node int32, draws []sampling.Draw) {
	if len(draws) == 0 {
		g.stage[node], g.child[node] = stageWhole, 0
		return
	}
	seed := wide(draws[0].Row)
	if p.cosine() {
		unit(seed, len(seed))
	}
	if g.stage[node] == stageFirst {
		g.divide(node, seed)
		g.stage[node] = stageSecond
		return
	}
	copy(g.center(g.child[node]+1, len(seed)), seed)
	g.stage[node] = stageMeans
}

// move is a round of 2-means; weights and costs begin with those of the two halves.
func (p *bisectPhase) move(g *growth, node int32, root *halves, at int, weights, costs []float64) {
	width, child, moved := root.rows.Width, g.child[node], false
	before := g.cost[child] + g.cost[child+1]
	for side := range 2 {
		center := g.center(child+int32(side), width)
		g.weight[child+int32(side)], g.cost[child+int32(side)] = weights[side], costs[side]
		if !(weights[side] > 0) {
			continue
		}
		mean := make([]float64, width)
		root.rows.Mean(2*at+side, mean)
		if p.cosine() {
			unit(mean, width)
		}
		if !slices.Equal(mean, center) && (!p.cosine() || !zero(mean)) {
			moved = true
			copy(center, mean)
		}
	}
	after := g.rounds[node] > 0
	g.rounds[node]++
	switch fall := before - costs[0] - costs[1]; {
	case !moved:
		g.stage[node], g.ended[node] = stageSplit, 0
	case after && p.params.Tol > 0 && fall <= float64(p.params.Tol*before):
		g.stage[node], g.ended[node] = stageSplit, 1
	case int(g.rounds[node]) >= p.params.MaxRounds:
		g.stage[node], g.ended[node] = stageSplit, 2
	}
}

// end makes a tree of the splits that were needed. The metrics have J by the number of clusters.
func (p *bisectPhase) end(s *state, leaves []int32) (jobs.Next, error) {
	g, ended, total := s.growth, int32(0), 0.0
	var metrics []jobs.Metric
	var fault error
	splits := 0
	g.greedy(p.params.K, p.params.Split == splitSize, func(node int32) {
		child := g.child[node]
		if splits++; splits > 1 {
			total -= g.cost[node]
		}
		total += g.cost[child] + g.cost[child+1]
		ended = max(ended, g.ended[node])
		metric, err := jobs.NewMetric(fmt.Sprintf("%s.%03d.%s", p.roundName(), splits+1, p.objective()), total/2)
		if metrics = append(metrics, metric); err != nil {
			fault = err
		}
	})
	if fault != nil {
		return jobs.Next{}, fault
	}
	metrics = append(metrics, jobs.CountMetric(p.roundName()+".rounds", int64(s.round)))
	best := run{distortion: total / 2, rounds: s.round, stop: bisectingStops[ended]}
	best.tree, best.centers = g.tree(leaves, s.space.Width)
	s = &state{space: s.space, best: best}
	return jobs.Next{Phase: p.lastPhase(), State: jobs.ArraysOf(s), Metrics: metrics}, nil
}
