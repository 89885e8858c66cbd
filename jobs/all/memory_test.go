package all_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// keeper runs an algorithm, and keeps all arrays that its phases are given or return, with their digests.
type keeper struct {
	jobs.Algorithm
	t    *testing.T
	kept []keptArrays
}

type keptArrays struct {
	what, digest string
	arrays       jobs.Arrays
}

func (k *keeper) BlockRecords() jobs.BlockRecords { return jobs.BlocksOf(k.Algorithm) }

func (k *keeper) Phases() []jobs.Phase {
	phases := slices.Clone(k.Algorithm.Phases())
	for i, phase := range phases {
		phases[i] = keptPhase{phase, k}
	}
	return phases
}

func (k *keeper) keep(what string, all ...jobs.Arrays) {
	for _, a := range all {
		k.kept = append(k.kept, keptArrays{what, jobstest.Digest(a), a})
	}
}

// check holds that nobody wrote to what was kept.
func (k *keeper) check() {
	for _, kept := range k.kept {
		if jobstest.Digest(kept.arrays) != kept.digest {
			k.t.Errorf("%s was written to", kept.what)
		}
	}
	k.kept = nil
}

// same holds that two results are the same bytes.
func (k *keeper) same(what string, a, b jobs.Arrays) {
	if jobstest.Digest(a) != jobstest.Digest(b) {
		k.t.Errorf("%s is another the second time", what)
	}
}

type keptPhase struct {
	jobs.Phase
	*keeper
}

func (p keptPhase) Map(
	ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set,
) (partial, newCarry jobs.Arrays, err error) {
	p.keep("a state of Map of "+p.Name(), state)
	p.keep("a carry of "+p.Name(), carry)
	for range 2 {
		first := partial
		if partial, newCarry, err = p.Phase.Map(ctx, state, leaf, carry, ops); err != nil {
			return nil, nil, err
		}
		if first != nil {
			p.same("a leaf of "+p.Name(), first, partial)
		}
		p.keep("a leaf of "+p.Name(), partial)
		p.keep("a new carry of "+p.Name(), newCarry)
	}
	return partial, newCarry, nil
}

func (p keptPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	p.keep("the left of Merge of "+p.Name(), left)
	p.keep("the right of Merge of "+p.Name(), right)
	first, err := p.Phase.Merge(left, right)
	if err != nil {
		return nil, err
	}
	p.keep("what Merge returned of "+p.Name(), first)
	second, err := p.Phase.Merge(left, right)
	if err != nil {
		return nil, err
	}
	p.same("what Merge returned of "+p.Name(), first, second)
	// what was merged is merged once more, as left and as right
	for _, pair := range [][2]jobs.Arrays{{second, right}, {left, second}} {
		_, _ = p.Phase.Merge(pair[0], pair[1]) // such neighbors may be refused
	}
	p.keep("what Merge returned of "+p.Name(), second)
	return second, nil
}

func (p keptPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (next jobs.Next, err error) {
	p.keep("a state of Step of "+p.Name(), state)
	for tree := range round.Trees {
		root, err := round.Root(ctx, tree)
		if err != nil {
			return next, err
		}
		p.keep("a root of "+p.Name(), root)
	}
	for range 2 {
		first := next.State
		if next, err = p.Phase.Step(ctx, state, round); err != nil {
			return next, err
		}
		if first != nil {
			p.same("what Step returned of "+p.Name(), first, next.State)
		}
	}
	p.check()
	return next, nil
}

// No phase of any kind writes to arrays that it was given or has returned; and what it makes of them is the same each
// time.
func TestPhasesWriteToNoArrays(t *testing.T) {
	for _, c := range casetest.Of(t, casetest.Phases) {
		t.Run(c.Name, func(t *testing.T) {
			k := &keeper{t: t}
			keep := func(algorithm jobs.Algorithm) jobs.Algorithm {
				k.Algorithm = algorithm
				return k
			}
			c.Train(t, casetest.Run{Data: c.Phases, Ops: kernelops.Best(), Wrap: keep})
			k.check()
		})
	}
}
