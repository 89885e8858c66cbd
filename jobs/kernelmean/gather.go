package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// baseName names the phase that gathers the training records.
const baseName = "base"

// afterBase says what follows the base.
type afterBase func(*features.Space, *base, jobs.Plan) (jobs.Next, error)

// basePhase gathers the training records; model makes what follows.
type basePhase struct {
	train    jobs.Records
	maxState protocol.ByteSize // 0 for no bound
	model    afterBase
}

func (basePhase) Name() string { return baseName }

// Map reads one leaf: linear in its values.
func (p basePhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	space, err := readSpace(state)
	if err != nil {
		return nil, nil, err
	}
	b, reader, train := newBase(space), space.NewReader(), p.train()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		v, err := reader.Read(block, train)
		if err != nil {
			return nil, nil, err
		}
		b.add(v)
		if err := p.fits(b.bytes()); err != nil {
			return nil, nil, err
		}
	}
	a := jobs.Arrays{}
	b.put(a)
	return a, nil, nil
}

// fits refuses a base that a model cannot hold.
func (p basePhase) fits(size int64) error {
	if p.maxState == 0 || size <= int64(p.maxState) {
		return nil
	}
	return protocol.InputFault(protocol.CodeStateTooBig,
		"the training records take %d bytes or more in the model; max_state_bytes is %d", size, p.maxState).
		WithHint("Raise run.max_state_bytes, or train on a part of the records: the kernel means of a model are " +
			"sums over all of them.")
}

// Merge puts the rows of the right below those of the left.
func (p basePhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := readBase(left)
	if err != nil {
		return nil, err
	}
	b, err := readBase(right)
	if err != nil {
		return nil, err
	}
	if a.width != b.width || a.isSparse() != b.isSparse() {
		return nil, jobs.Malformed("rows of width %d and %d, sparse: %v and %v", a.width, b.width, a.isSparse(), b.isSparse())
	}
	if err := p.fits(a.bytes() + b.bytes()); err != nil {
		return nil, err
	}
	out := jobs.Arrays{}
	a.join(b).put(out)
	return out, nil
}

// Step orders the rows by class. A class whose records weigh nothing is a fault of CodeInputEmpty.
func (p basePhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	space, err := readSpace(state)
	if err != nil {
		return jobs.Next{}, err
	}
	b, err := baseOf(root, space)
	if err != nil {
		return jobs.Next{}, err
	}
	if err := weighSomething(space, b.classWeights(space.Labels.Len())); err != nil {
		return jobs.Next{}, err
	}
	next, err := p.model(space, b.byClass(), round.Plan)
	if err != nil {
		return jobs.Next{}, err
	}
	next.Metrics = append(next.Metrics, jobs.CountMetric("base.records", int64(b.rows())))
	return next, nil
}
