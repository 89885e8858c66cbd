package kernelperceptron

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/blocks"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/shuffle"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

const trainName = "train"

// trainPhase learns from some blocks a round, one at a time.
type trainPhase struct{ job }

func (p *trainPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *state]{
		Name: trainName, State: jobs.Load[state], Partial: func() *state { return new(state) },
		Map: p.learn, Step: p.turn, Gathers: shuffle.Gathers(p.Params.Shuffle), Rounds: blocks.Most(p.Params.Epochs),
	}.Phase()
}

// learn learns from the blocks that come next; the partial is the state after it.
func (p *trainPhase) learn(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*state, error) {
	next, err := blocks.Next(philox.New(p.Seed, "kernelperceptron/blocks"), s.epoch(), s.position, leaf.Plan,
		p.Params.Shuffle)
	if err != nil {
		return nil, err
	}
	s.own()
	l, err := newLearner(s, p.Params, ops)
	if err != nil {
		return nil, err
	}
	l.maxState = p.MaxState
	key := philox.New(p.Seed, fmt.Sprintf("kernelperceptron/records/%d", s.epoch()))
	w := newWindow(ctx, s.space.Width, key, l.learn)
	for _, block := range next {
		if err := p.visit(ctx, s.space, leaf.ReadBlock(ctx, jobs.Input, block), w, l.learn); err != nil {
			return nil, err
		}
	}
	s.position += int64(len(next))
	return s, nil
}

// turn goes on to the next blocks, the next epoch or the end. Training records that all weigh
// nothing are a fault of CodeInputEmpty.
func (p *trainPhase) turn(_ context.Context, _, s *state, round jobs.Round) (jobs.Next, error) {
	next := jobs.Next{Phase: trainName, Trees: []int{1}, State: jobs.ArraysOf(s)}
	if s.position < int64(round.Plan.Blocks) {
		return next, nil
	}
	if s.seen == 0 {
		return jobs.Next{}, protocol.EmptyFault("no training record weighs more than 0").
			WithHint("Give some records a weight above 0.")
	}
	epoch := len(s.mistakes)
	next.Metrics = []jobs.Metric{
		jobs.CountMetric(fmt.Sprintf("train.%03d.mistakes", epoch), s.mistakes[epoch-1]),
		jobs.CountMetric(fmt.Sprintf("train.%03d.supports", epoch), int64(s.supports())),
	}
	if s.mistakes[epoch-1] > 0 && epoch < p.Params.Epochs {
		s.own()
		s.beginEpoch()
		next.State = jobs.ArraysOf(s)
		return next, nil
	}
	return p.finish(s, round.Plan, next.Metrics)
}

// finish makes the model.
func (p *trainPhase) finish(s *state, plan jobs.Plan, metrics []jobs.Metric) (jobs.Next, error) {
	m := newModel(s)
	facts, err := m.metrics()
	if err != nil {
		return jobs.Next{}, err
	}
	roads, err := s.roads.Metrics(s.kernel, "train")
	if err != nil {
		return jobs.Next{}, err
	}
	return p.Judge.End(jobs.Next{State: jobs.ArraysOf(m), Metrics: slices.Concat(metrics, facts, roads)}, plan), nil
}

// chunk is some records in the order in which they are learned from.
type chunk struct {
	rows.Chunk
	of []int64 // ordinals
}

// chunkRows is how many records a chunk of vectors has at most. Results do not depend on it.
func chunkRows(width int) int { return min(128, max(16, 1<<18/max(1, width))) }

// visit goes through the training records of a block in the order of an epoch, which is that of a window.
func (j job) visit(
	ctx context.Context, space *features.Space, parts iter.Seq2[jobs.Part, error], w *window, learn func(chunk) error,
) error {
	var dense []float32
	if j.Params.Shuffle {
		learn = w.add
	}
	first := int64(0)
	records := func(yield func(*dataset.Block, error) bool) {
		for part, err := range parts {
			if first = part.First; !yield(part.Block, err) {
				return
			}
		}
	}
	for v, err := range space.Rows(records, j.Train()) {
		if err != nil {
			return err
		}
		of := make([]int64, v.Rows)
		for i, record := range v.Records {
			of[i] = first + int64(record)
		}
		err := rows.Chunks(ctx, v, chunkRows(space.Width), &dense, func(c rows.Chunk) error {
			own := of[:c.X.Rows]
			of = of[c.X.Rows:]
			return learn(chunk{c, own})
		})
		if err != nil {
			return err
		}
	}
	defer w.values.Empty()
	return w.Flush()
}

// window keeps records until they are shuffled.
type window struct {
	*shuffle.Window[drawn]
	values shuffle.Store[float32]
	x      kernelops.Matrix // of a chunk
}

// drawn is a kept record.
type drawn struct {
	row    []float32
	id     dataset.Identity
	of     int64
	class  int32
	weight float32
}

func newWindow(ctx context.Context, width int, key philox.Key, learn func(chunk) error) *window {
	w := &window{x: kernelops.NewMatrix(chunkRows(width), width)}
	w.Window = shuffle.New(key, chunkRows(width), func(records []drawn) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return learn(w.gather(records))
	})
	return w
}

// add keeps copies of the records of a chunk. Whenever the window is full, they are learned
// from.
func (w *window) add(c chunk) error {
	for i, id := range c.IDs {
		r := drawn{w.values.Copy(c.X.Row(i)), id, c.of[i], c.Class[i], 1}
		if c.Weights != nil {
			r.weight = c.Weights[i]
		}
		full, err := w.Add(id, r.of, len(r.row), r)
		if err != nil {
			return err
		}
		if full {
			w.values.Empty()
		}
	}
	return nil
}

func (w *window) gather(records []drawn) chunk {
	var c chunk
	c.X = w.x.RowRange(0, len(records))
	for i, r := range records {
		copy(c.X.Row(i), r.row)
		c.IDs, c.of = append(c.IDs, r.id), append(c.of, r.of)
		c.Class, c.Weights = append(c.Class, r.class), append(c.Weights, r.weight)
	}
	return c
}
