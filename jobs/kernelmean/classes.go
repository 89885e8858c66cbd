package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// The phases that learn what a model says of a base that it does not hold.
const (
	classesName = "classes"
	spreadName  = "spread"
)

// classSums is the array F64 [classes, width] of weighted sums of rows; of a state, of their means.
const classSums = "classes.sums"

// classesPhase adds up the weights of the classes and, where sums are asked for, their rows.
type classesPhase struct {
	train    jobs.Records
	maxState protocol.ByteSize // 0 for no bound
	sums     bool
	// next makes what follows; means are nil without sums.
	next func(space *features.Space, weights, means []float64, plan jobs.Plan) (jobs.Next, error)
}

func (p classesPhase) phase() jobs.Phase {
	return jobs.MapReduce[*features.Space, *totals]{
		Name: classesName, State: readSpace, Partial: func() *totals { return new(totals) },
		Map: p.count, Merge: (*totals).plus, Step: p.finish,
	}.Phase()
}

// totals are the weights of the classes, and the sums or means of their rows.
type totals struct{ weights, sums []float64 }

// Fields lists both.
func (t *totals) Fields(f *jobs.Fields) {
	jobs.List(f, classWeights, &t.weights)
	jobs.List(f, classSums, &t.sums)
}

// plus adds the totals to the right.
func (t *totals) plus(right *totals) (_ *totals, err error) {
	if t.weights, err = added(t.weights, right.weights); err == nil {
		t.sums, err = added(t.sums, right.sums)
	}
	return t, err
}

// added adds numbers of partials.
func added(left, right []float64) ([]float64, error) {
	if len(left) != len(right) {
		return nil, jobs.Malformed("%d sums meet %d", len(left), len(right))
	}
	sums := make([]float64, len(left))
	for i := range sums {
		sums[i] = left[i] + right[i]
	}
	return sums, nil
}

// count is linear in the values of the leaf.
func (p classesPhase) count(
	ctx context.Context, space *features.Space, leaf jobs.Leaf, _ *kernelops.Set,
) (*totals, error) {
	classes, width := space.Labels.Len(), 0
	if p.sums {
		if width = space.Width; p.maxState > 0 && int64(width) > int64(p.maxState)/8/int64(classes) {
			return nil, meansTooBig(classes, width, p.maxState)
		}
	}
	t := &totals{make([]float64, classes), make([]float64, classes*width)}
	err := eachRow(ctx, leaf, space, p.train(), func(y int, w float64, indices []int32, values []float32) {
		t.weights[y] += w
		if p.sums {
			addRow(t.sums[y*width:(y+1)*width], w, indices, values)
		}
	})
	return t, err
}

func meansTooBig(classes, width int, maxState protocol.ByteSize) error {
	return protocol.InputFault(protocol.CodeStateTooBig,
		"the means of %d classes over %d columns are beyond max_state_bytes, %d", classes, width, maxState).
		WithHint("Raise run.max_state_bytes, or choose fewer columns or terms (features.text.max_features).")
}

// eachRow calls visit with the class, weight and stored values of every training record.
func eachRow(
	ctx context.Context, leaf jobs.Leaf, space *features.Space, train func(dataset.Identity) bool,
	visit func(y int, w float64, indices []int32, values []float32),
) error {
	return chunks(leaf.Blocks(ctx), space, train, chunkRows(space.Width), func(b *base) error {
		for i, y := range b.class {
			indices, values := b.Row(i)
			visit(int(y), b.weight(i), indices, values)
		}
		return ctx.Err()
	})
}

// addRow adds a weighted row, dense where indices are nil.
func addRow(sums []float64, w float64, indices []int32, values []float32) {
	if indices != nil {
		for e, j := range indices {
			sums[j] += float64(w * float64(values[e]))
		}
		return
	}
	for j, v := range values {
		sums[j] += float64(w * float64(v))
	}
}

// finish makes the means. A class whose records weigh nothing is a fault of CodeInputEmpty.
func (p classesPhase) finish(
	_ context.Context, space *features.Space, root *totals, round jobs.Round,
) (jobs.Next, error) {
	width := 0
	if p.sums {
		width = space.Width
	}
	if err := root.check(space, width); err != nil {
		return jobs.Next{}, err
	}
	if err := weighSomething(space, root.weights); err != nil {
		return jobs.Next{}, err
	}
	var means []float64
	if p.sums {
		means = make([]float64, len(root.sums))
		for i, v := range root.sums {
			means[i] = v / root.weights[i/width]
		}
	}
	next, err := p.next(space, root.weights, means, round.Plan)
	next.Metrics = append(next.Metrics, jobs.CountMetric("base.records", space.Records))
	return next, err
}

// check refuses totals that are not of the classes of a space and of a width.
func (t *totals) check(space *features.Space, width int) error {
	if n := space.Labels.Len(); len(t.weights) != n || len(t.sums) != n*width {
		return jobs.Malformed("%d weights and %d sums of %d classes over %d columns", len(t.weights), len(t.sums), n, width)
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
	s.squares, err = added(s.squares, right.squares)
	return s, err
}

// measure takes time in proportion to the records and the width: the zeros of sparse rows count.
func (p spreadPhase) measure(ctx context.Context, m *means, leaf jobs.Leaf, _ *kernelops.Set) (*spread, error) {
	width, s := m.space.Width, &spread{make([]float64, len(m.weights))}
	err := eachRow(ctx, leaf, m.space, p.train(), func(y int, w float64, indices []int32, values []float32) {
		s.squares[y] += float64(w * squaredFrom(m.sums[y*width:(y+1)*width], indices, values))
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
	if len(root.squares) != len(m.weights) {
		return jobs.Next{}, jobs.Malformed("the spread of %d classes of %d", len(root.squares), len(m.weights))
	}
	deviations := make([]float64, len(root.squares))
	for y, sum := range root.squares {
		deviations[y] = rootSpread(sum, m.weights[y], m.space.Width)
	}
	return p.next(m.space, m.weights, deviations, round.Plan)
}
