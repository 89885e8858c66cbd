package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// The phases that learn what a model says of a base that it does not hold.
const (
	classesName = "classes"
	spreadName  = "spread"
)

// classesPhase adds up the weights of the classes and, where sums are asked for, their rows.
type classesPhase struct {
	train    jobs.Records
	maxState protocol.ByteSize // 0 for no bound
	sums     bool
	// next makes what follows, from the means instead of the sums.
	next func(space *features.Space, means *totals, plan jobs.Plan) (jobs.Next, error)
}

func (p classesPhase) phase() jobs.Phase {
	return jobs.MapReduce[*features.Space, *totals]{
		Name: classesName, State: readSpace, Partial: func() *totals { return new(totals) },
		Map: p.count, Merge: (*totals).plus, Step: p.finish,
	}.Phase()
}

// totals are the weights of the classes, and the sums or means of their rows: of no columns where they are not asked
// for.
type totals struct{ sums.Rows }

// Fields lists both.
func (t *totals) Fields(f *jobs.Fields) { t.Rows.Fields(f, "classes.sums", classWeights) }

// plus adds the totals to the right.
func (t *totals) plus(right *totals) (*totals, error) {
	all, err := t.Plus(&right.Rows)
	return &totals{all}, err
}

// count is linear in the values of the leaf.
func (p classesPhase) count(
	ctx context.Context, space *features.Space, leaf jobs.Leaf, ops *kernelops.Set,
) (*totals, error) {
	classes, width := space.Labels.Len(), p.width(space)
	if p.maxState > 0 && int64(width) > int64(p.maxState)/8/int64(classes) {
		return nil, meansTooBig(classes, width, p.maxState)
	}
	t := &totals{sums.New(classes, width)}
	err := chunks(leaf.Blocks(ctx), space, p.train(), chunkRows(space.Width), func(b *base) error {
		switch {
		case width == 0:
			for i, y := range b.class {
				t.Weight[y] += b.weight(i)
			}
		case b.Form == rows.Sparse:
			t.AddSparse(b.Sparse, b.class, b.weights)
		default:
			t.AddDense(b.Tile(0, b.N, nil), b.class, b.weights, ops)
		}
		return ctx.Err()
	})
	return t, err
}

// width is how many columns are summed.
func (p classesPhase) width(space *features.Space) int {
	if p.sums {
		return space.Width
	}
	return 0
}

func meansTooBig(classes, width int, maxState protocol.ByteSize) error {
	return protocol.InputFault(protocol.CodeStateTooBig,
		"the means of %d classes over %d columns are beyond max_state_bytes, %d", classes, width, maxState).
		WithHint("Raise run.max_state_bytes, or choose fewer columns or terms (features.text.max_features).")
}

// finish makes the means. A class whose records weigh nothing is a fault of CodeInputEmpty.
func (p classesPhase) finish(
	_ context.Context, space *features.Space, root *totals, round jobs.Round,
) (jobs.Next, error) {
	width := p.width(space)
	if err := root.check(space, width); err != nil {
		return jobs.Next{}, err
	}
	if err := weighSomething(space, root.Weight); err != nil {
		return jobs.Next{}, err
	}
	means := &totals{sums.Rows{Width: width, Sums: make([]float64, len(root.Sums)), Weight: root.Weight}}
	for i, v := range root.Sums {
		means.Sums[i] = v / root.Weight[i/width]
	}
	next, err := p.next(space, means, round.Plan)
	next.Metrics = append(next.Metrics, jobs.CountMetric("base.records", space.Records))
	return next, err
}

// check refuses totals that are not of the classes of a space and of a width.
func (t *totals) check(space *features.Space, width int) error {
	if n := space.Labels.Len(); len(t.Weight) != n || t.Width != width {
		return jobs.Malformed("sums of %d x %d, not of %d x %d", len(t.Weight), t.Width, n, width)
	}
	return nil
}

func weighSomething(space *features.Space, weights []float64) error {
	for y, w := range weights {
		if !(w > 0) {
			return protocol.EmptyFault("the training records of class %q weigh nothing", space.Labels.At(y)).
				WithHint("Give one of them a weight above 0.")
		}
	}
	return nil
}

// spreadPhase adds up the squared distances of the records from the means of their classes.
type spreadPhase struct {
	train jobs.Records
	// next makes what follows; deviations are those of base.deviation.
	next func(space *features.Space, weights, deviations []float64, plan jobs.Plan) (jobs.Next, error)
}

func (p spreadPhase) phase() jobs.Phase {
	return jobs.MapReduce[*means, *spread]{
		Name: spreadName, State: readMeans, Partial: func() *spread { return new(spread) },
		Map: p.measure, Merge: (*spread).plus, Step: p.finish,
	}.Phase()
}

// means are the state of the phase: the sums of totals are means.
type means struct {
	space *features.Space
	totals
}

// Fields lists the state.
func (m *means) Fields(f *jobs.Fields) {
	spaceField(f, &m.space)
	m.totals.Fields(f)
	f.Check(func() error { return m.check(m.space, m.space.Width) })
}

func readMeans(a jobs.Arrays) (*means, error) { return jobs.Read(a, &means{}) }

// spread is the weighted squared distances of each class from its mean.
type spread struct{ squares []float64 }

// Fields lists them.
func (s *spread) Fields(f *jobs.Fields) { jobs.List(f, "classes.spread", &s.squares) }

// plus adds the spread to the right.
func (s *spread) plus(right *spread) (_ *spread, err error) {
	s.squares, err = sums.Of(s.squares, right.squares)
	return s, err
}

// measure takes time in proportion to the records and the width: the zeros of sparse rows count.
func (p spreadPhase) measure(ctx context.Context, m *means, leaf jobs.Leaf, _ *kernelops.Set) (*spread, error) {
	s := &spread{make([]float64, len(m.Weight))}
	err := chunks(leaf.Blocks(ctx), m.space, p.train(), chunkRows(m.space.Width), func(b *base) error {
		for i, y := range b.class {
			indices, values := b.Row(i)
			s.squares[y] += float64(b.weight(i) * squaredFrom(m.Of(int(y)), indices, values))
		}
		return ctx.Err()
	})
	return s, err
}

// squaredFrom is the squared distance of a row, dense where indices are nil, from a mean.
func squaredFrom(mean []float64, indices []int32, values []float32) float64 {
	sum, e := 0.0, 0
	for j, m := range mean {
		v := float32(0)
		switch {
		case indices == nil:
			v = values[j]
		case e < len(indices) && int(indices[e]) == j:
			v = values[e]
			e++
		}
		d := float64(v) - m
		sum += float64(d * d)
	}
	return sum
}

// finish makes the deviations.
func (p spreadPhase) finish(_ context.Context, m *means, root *spread, round jobs.Round) (jobs.Next, error) {
	if len(root.squares) != len(m.Weight) {
		return jobs.Next{}, jobs.Malformed("the spread of %d classes of %d", len(root.squares), len(m.Weight))
	}
	deviations := make([]float64, len(root.squares))
	for y, sum := range root.squares {
		deviations[y] = rootSpread(sum, m.Weight[y], m.space.Width)
	}
	return p.next(m.space, m.Weight, deviations, round.Plan)
}
