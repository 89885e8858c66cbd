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

// Arrays of their partials, and of the state between them.
const (
	classSums   = "classes.sums"   // F64 [classes, width], weighted; of a state: the means
	classSpread = "classes.spread" // F64 [classes], weighted squared distances from the mean
)

// classesPhase adds up the weights of the classes and, where sums are asked for, their rows.
type classesPhase struct {
	train    jobs.Records
	maxState protocol.ByteSize // 0 for no bound
	sums     bool
	// next makes what follows; means are nil without sums.
	next func(space *features.Space, weights, means []float64, plan jobs.Plan) (jobs.Next, error)
}

func (classesPhase) Name() string { return classesName }

// Map is linear in the values of the leaf.
func (p classesPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	space, err := readSpace(state)
	if err != nil {
		return nil, nil, err
	}
	classes, width := space.Labels.Len(), 0
	if p.sums {
		if width = space.Width; p.maxState > 0 && int64(width) > int64(p.maxState)/8/int64(classes) {
			return nil, nil, meansTooBig(classes, width, p.maxState)
		}
	}
	weights, sums := make([]float64, classes), make([]float64, classes*width)
	err = eachRow(ctx, leaf, space, p.train(), func(y int, w float64, indices []int32, values []float32) {
		weights[y] += w
		if p.sums {
			addRow(sums[y*width:(y+1)*width], w, indices, values)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	a := jobs.Arrays{}
	jobs.Put(a, classWeights, weights)
	jobs.Put(a, classSums, sums)
	return a, nil, nil
}

func meansTooBig(classes, width int, maxState protocol.ByteSize) error {
	return protocol.InputFault(protocol.CodeStateTooBig,
		"the means of %d classes over %d columns are beyond max_state_bytes, %d", classes, width, maxState).
		WithHint("Raise run.max_state_bytes, or choose fewer columns or terms (features.text.max_features).")
}

// eachRow calls visit with the class, weight and stored values of every training record.
func eachRow(ctx context.Context, leaf jobs.Leaf, space *features.Space, train func(dataset.Identity) bool, visit func(y int, w float64, indices []int32, values []float32)) error {
	return chunks(leaf.Blocks(ctx), space, train, chunkRows(space.Width), func(b *base) error {
		for i, y := range b.class {
			indices, values := b.values(i)
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

// Merge adds two neighbours.
func (classesPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	return addArrays(left, right, classWeights, classSums)
}

// addArrays adds arrays of float64.
func addArrays(left, right jobs.Arrays, names ...string) (jobs.Arrays, error) {
	out := jobs.Arrays{}
	for _, name := range names {
		a, err := jobs.Get[float64](left, name)
		if err != nil {
			return nil, err
		}
		b, err := jobs.Get[float64](right, name, len(a))
		if err != nil {
			return nil, err
		}
		sums := make([]float64, len(a))
		for i := range sums {
			sums[i] = a[i] + b[i]
		}
		jobs.Put(out, name, sums)
	}
	return out, nil
}

// Step makes the means. A class whose records weigh nothing is a fault of CodeInputEmpty.
func (p classesPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	space, err := readSpace(state)
	if err != nil {
		return jobs.Next{}, err
	}
	weights, err := jobs.Get[float64](root, classWeights, space.Labels.Len())
	if err != nil {
		return jobs.Next{}, err
	}
	if err := weighSomething(space, weights); err != nil {
		return jobs.Next{}, err
	}
	var means []float64
	if p.sums {
		sums, err := jobs.Get[float64](root, classSums, len(weights)*space.Width)
		if err != nil {
			return jobs.Next{}, err
		}
		means = make([]float64, len(sums))
		for i, v := range sums {
			means[i] = v / weights[i/space.Width]
		}
	}
	next, err := p.next(space, weights, means, round.Plan)
	next.Metrics = append(next.Metrics, jobs.CountMetric("base.records", space.Records))
	return next, err
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

func (spreadPhase) Name() string { return spreadName }

// putMeans makes the state of the phase.
func putMeans(space *features.Space, weights, means []float64) jobs.Arrays {
	state := jobs.Arrays{}
	space.Put(state)
	jobs.Put(state, classWeights, weights)
	jobs.Put(state, classSums, means)
	return state
}

// Map takes time in proportion to the records and the width: the zeros of sparse rows count.
func (p spreadPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	space, err := readSpace(state)
	if err != nil {
		return nil, nil, err
	}
	width := space.Width
	means, err := jobs.Get[float64](state, classSums, space.Labels.Len()*width)
	if err != nil {
		return nil, nil, err
	}
	spread := make([]float64, space.Labels.Len())
	err = eachRow(ctx, leaf, space, p.train(), func(y int, w float64, indices []int32, values []float32) {
		spread[y] += float64(w * squaredFrom(means[y*width:(y+1)*width], indices, values))
	})
	if err != nil {
		return nil, nil, err
	}
	a := jobs.Arrays{}
	jobs.Put(a, classSpread, spread)
	return a, nil, nil
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

// Merge adds two neighbours.
func (spreadPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	return addArrays(left, right, classSpread)
}

// Step makes the deviations.
func (p spreadPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	space, err := readSpace(state)
	if err != nil {
		return jobs.Next{}, err
	}
	weights, err := jobs.Get[float64](state, classWeights, space.Labels.Len())
	if err != nil {
		return jobs.Next{}, err
	}
	spread, err := jobs.Get[float64](root, classSpread, len(weights))
	if err != nil {
		return jobs.Next{}, err
	}
	deviations := make([]float64, len(spread))
	for y, sum := range spread {
		deviations[y] = rootSpread(sum, weights[y], space.Width)
	}
	return p.next(space, weights, deviations, round.Plan)
}
