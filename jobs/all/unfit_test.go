package all_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// unfit runs an algorithm, and gives the merges and steps of its phases arrays that do not fit beside those that do.
type unfit struct {
	jobs.Algorithm
	t *testing.T
}

func (u unfit) BlockRecords() jobs.BlockRecords { return jobs.BlocksOf(u.Algorithm) }

func (u unfit) Phases() []jobs.Phase {
	phases := slices.Clone(u.Algorithm.Phases())
	for i, phase := range phases {
		phases[i] = unfitPhase{phase, u.t}
	}
	return phases
}

type unfitPhase struct {
	jobs.Phase
	t *testing.T
}

// Map gets a state that does not know a label of the records, too.
func (p unfitPhase) Map(
	ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set,
) (partial, newCarry jobs.Arrays, err error) {
	if labels, ok := state["labels.bytes"]; ok && len(labels.Data) > 0 {
		labels.Data = append([]byte{1}, labels.Data[1:]...)
		other, unfit := maps.Clone(state), leaf
		other["labels.bytes"], unfit.Emit = labels, drop
		p.refuses("Map: another label", func() error {
			_, _, err := p.Phase.Map(ctx, other, unfit, carry, ops)
			return err
		})
	}
	return p.Phase.Map(ctx, state, leaf, carry, ops)
}

func (p unfitPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	for what, other := range unfits(left) {
		p.refuses("Merge: left "+what, func() error { _, err := p.Phase.Merge(other, right); return err })
	}
	for what, other := range unfits(right) {
		p.refuses("Merge: right "+what, func() error { _, err := p.Phase.Merge(left, other); return err })
	}
	return p.Phase.Merge(left, right)
}

func (p unfitPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Root(ctx, 0)
	if err != nil {
		return jobs.Next{}, err
	}
	for what, other := range unfits(root) {
		unfit := round
		unfit.Emit = drop
		unfit.Root = func(ctx context.Context, tree int) (jobs.Arrays, error) {
			if tree > 0 {
				return round.Root(ctx, tree)
			}
			return other, nil
		}
		p.refuses("Step: "+what, func() error { _, err := p.Phase.Step(ctx, state, unfit); return err })
	}
	return p.Phase.Step(ctx, state, round)
}

// drop emits nothing.
func drop(context.Context, string, []byte) (jobs.File, error) { return jobs.File{}, nil }

// refuses holds that what does not fit is a fault, where it is found: it may be an array that nobody needs.
func (p unfitPhase) refuses(what string, do func() error) {
	defer func() {
		if cause := recover(); cause != nil {
			p.t.Errorf("%s, %s: panic: %v", p.Name(), what, cause)
		}
	}()
	var fault *protocol.Fault
	if err := do(); err != nil && !errors.As(err, &fault) {
		p.t.Errorf("%s, %s: %v", p.Name(), what, err)
	}
}

// unfits are the arrays with one that is missing, or longer or shorter in one dimension.
func unfits(a jobs.Arrays) map[string]jobs.Arrays {
	all := map[string]jobs.Arrays{}
	for _, name := range a.Names() {
		missing := maps.Clone(a)
		delete(missing, name)
		all["without "+name] = missing
		for d, size := range a[name].Shape {
			for what, to := range map[string]int{"empty": 0, "shorter": size - 1, "longer": size + 1,
				"twice": 2 * size} {
				if to >= 0 && to != size {
					other := maps.Clone(a)
					other[name] = resized(a[name], d, to)
					all[name+" "+what] = other
				}
			}
		}
	}
	return all
}

func resized(a jobs.Array, dimension, to int) jobs.Array {
	shape, size := slices.Clone(a.Shape), a.DType.Size()
	shape[dimension] = to
	for _, n := range shape {
		size *= n
	}
	data := make([]byte, size)
	copy(data, a.Data)
	return jobs.Array{DType: a.DType, Shape: shape, Data: data}
}

// Partials that do not fit each other, or their state, are faults.
func TestPhasesRefuseWhatDoesNotFit(t *testing.T) {
	for _, c := range casetest.Of(t, casetest.Phases) {
		t.Run(c.Name, func(t *testing.T) {
			c.Train(t, casetest.Run{Data: c.Phases, Ops: kernelops.Best(),
				Wrap: func(algorithm jobs.Algorithm) jobs.Algorithm { return unfit{algorithm, t} }})
		})
	}
}
