package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// Tasks computes the tasks of one job: map a leaf, fold a node, step a round. It
// knows no store, no wire and no clock. Around the algorithm it counts the records
// that were skipped, which no phase sees. Its methods may be called at the same time.
type Tasks struct {
	phases   []jobs.Phase
	blocks   jobs.BlockRecords
	ids      []jobs.Phase // that come before them; none where records have no ids
	skipMax  skipLimits
	maxState protocol.ByteSize // 0 for no bound
	ops      *kernelops.Set
}

// NewTasks returns the tasks of an algorithm under a spec with its defaults written in.
func NewTasks(algorithm jobs.Algorithm, spec protocol.JobSpec, ops *kernelops.Set) (*Tasks, error) {
	t := &Tasks{phases: algorithm.Phases(), blocks: jobs.BlocksOf(algorithm), ops: ops,
		skipMax: limitsOf(spec), maxState: spec.Spec.Run.MaxStateBytes}
	if len(t.phases) == 0 {
		return nil, fmt.Errorf("jobs: kind %s has no phases", spec.Kind)
	}
	t.ids = idsPhases(spec, t.firstOfKind())
	names := map[string]bool{"": true, idsName: true, idsTwiceName: true}
	for _, p := range t.phases {
		if names[p.Name()] {
			return nil, fmt.Errorf("jobs: kind %s has two phases %q, or one without a name", spec.Kind, p.Name())
		}
		names[p.Name()] = true
	}
	return t, nil
}

// First is the phase of the first round: of the kind's phases the first, unless ids are compared before.
func (t *Tasks) First() string {
	if len(t.ids) > 0 {
		return t.ids[0].Name()
	}
	return t.firstOfKind()
}

func (t *Tasks) firstOfKind() string { return t.phases[0].Name() }

// comparesIDs reports whether a phase is one of those that compare ids. They are of no kind, so that nothing travels
// beside their arrays.
func (t *Tasks) comparesIDs(phase string) bool {
	return slices.ContainsFunc(t.ids, func(p jobs.Phase) bool { return p.Name() == phase })
}

// Map computes one leaf. A state or carry of nil stands for none. Leaf.Blocks may be nil: it
// follows from Leaf.Read.
func (t *Tasks) Map(ctx context.Context, phase string, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays) (partial,
	newCarry jobs.Arrays, err error) {
	p, err := t.phase(phase)
	if err != nil {
		return nil, nil, err
	}
	if t.comparesIDs(phase) {
		return p.Map(ctx, state, leaf, carry, t.ops)
	}
	state, known, err := t.detach(state, phase, leaf.Plan)
	if err != nil {
		return nil, nil, err
	}
	watch := skipWatch{limits: t.skipMax, kept: known.kept}
	if phase == t.firstOfKind() && leaf.Tree == 0 {
		watch.taker = newNoteTaker(place{jobs.Input, leaf.Index}, t.skipMax[jobs.Input] > 0)
		if known.layout == nil {
			watch.counter = newCounter(t.blocks, leaf)
		}
	}
	leaf.Emit = checked(leaf.Emit)
	leaf = watch.watch(known.blocks(leaf, t.blocks))
	partial, newCarry, err = p.Map(ctx, state, leaf, carry, t.ops)
	if err == nil {
		err = watch.counter.rest(ctx, leaf)
	}
	if err == nil {
		err = t.skipMax.check(watch.found)
	}
	if err != nil {
		return nil, nil, known.explain(err)
	}
	partial, err = watch.attach(partial)
	return withCarry(partial, newCarry), newCarry, err
}

// Step turns the roots of a round's trees into the next round or the model, and records the round. It refuses a state
// beyond max_state_bytes (STATE_TOO_BIG).
func (t *Tasks) Step(
	ctx context.Context, phase string, state jobs.Arrays, round jobs.Round,
) (jobs.Next, *proof.Record, error) {
	p, err := t.phase(phase)
	if err != nil {
		return jobs.Next{}, nil, err
	}
	if t.comparesIDs(phase) {
		return t.stepIDs(ctx, p, state, round)
	}
	record := &proof.Record{Phase: phase, State: state.Digest(), StateSize: state.EncodedSize()}
	state, known, err := t.detach(state, phase, round.Plan)
	if err != nil {
		return jobs.Next{}, nil, err
	}
	roots := &plainRoots{read: round.Root, limits: t.skipMax, nodes: make([][]byte, round.Trees)}
	round.Root, round.Emit = roots.root, checked(round.Emit)
	var laid []jobs.Metric
	if known.layout == nil && t.blocks.Any() {
		if known.layout, laid, err = t.layOut(ctx, phase, round, roots); err != nil {
			return jobs.Next{}, nil, err
		}
	}
	round.Plan = known.plan(round.Plan)
	next, err := p.Step(ctx, state, round)
	if phase == t.firstOfKind() {
		known.kept = known.learn(roots)
	}
	if err != nil {
		return jobs.Next{}, nil, known.explain(err)
	}
	if err := t.checkNext(p, next); err != nil {
		return jobs.Next{}, nil, err
	}
	metrics, err := roots.metrics(phase, phase == t.firstOfKind(), known.Passed)
	if err != nil {
		return jobs.Next{}, nil, err
	}
	next.Metrics = slices.Concat(next.Metrics, laid, metrics)
	if err := roots.record(ctx, record); err != nil {
		return jobs.Next{}, nil, err
	}
	known.kept = known.after(record)
	next.State, err = known.attach(next.State, next.Done)
	return next, record, err
}

func (t *Tasks) merge(p jobs.Phase, left, right jobs.Arrays) (jobs.Arrays, error) {
	if t.comparesIDs(p.Name()) {
		return p.Merge(left, right)
	}
	a, besideLeft, err := detachAll(left)
	if err != nil {
		return nil, err
	}
	b, besideRight, err := detachAll(right)
	if err != nil {
		return nil, err
	}
	both, err := besideLeft.plus(besideRight)
	if err != nil {
		return nil, err
	}
	if err := t.skipMax.check(both.skips); err != nil {
		return nil, err
	}
	merged, err := p.Merge(a, b)
	if err != nil {
		return nil, err
	}
	return both.attach(merged)
}

func (t *Tasks) phase(name string) (jobs.Phase, error) {
	for _, phases := range [][]jobs.Phase{t.phases, t.ids} {
		for _, p := range phases {
			if p.Name() == name {
				return p, nil
			}
		}
	}
	return nil, fmt.Errorf("jobs: no phase %q", name)
}

// checkNext compares a step's answer with the contract.
func (t *Tasks) checkNext(p jobs.Phase, next jobs.Next) error {
	if next.State == nil {
		return fmt.Errorf("jobs: step of phase %q returned no arrays", p.Name())
	}
	if next.Done {
		return nil
	}
	if _, err := t.phase(next.Phase); err != nil {
		return fmt.Errorf("jobs: step of phase %q: %w", p.Name(), err)
	}
	for i, leaves := range next.Trees {
		if leaves < 1 {
			return fmt.Errorf("jobs: step of phase %q: tree %d has %d leaves", p.Name(), i, leaves)
		}
	}
	size := next.State.EncodedSize()
	if t.maxState > 0 && size > int64(t.maxState) {
		return protocol.InputFault(protocol.CodeStateTooBig,
			"the state after phase %q takes %d bytes; max_state_bytes is %d", p.Name(), size, t.maxState).
			WithHint("Raise run.max_state_bytes, or make the state smaller (for text: max_features, min_df).")
	}
	return nil
}

// Carries reports whether a leaf of the phase may depend on what the same leaf kept in the round before.
func (t *Tasks) Carries(phase string) bool {
	p, err := t.phase(phase)
	if err != nil {
		return false // Map will say so
	}
	c, ok := p.(jobs.Carrier)
	return !ok || c.Carries()
}

// Passes reports whether no round after one of the phase reads its records, so that copies need not be kept.
func (t *Tasks) Passes(phase string) bool {
	p, err := t.phase(phase)
	if err != nil {
		return false // Map will say so
	}
	passer, ok := p.(jobs.Passer)
	return ok && passer.Passes()
}

// Gathers is the estimate of a Gatherer, and 0 for other phases. Of leaf it needs Tree, Index and Plan.
func (t *Tasks) Gathers(phase string, leaf jobs.Leaf, records func(from jobs.Source, shard int) int64) int64 {
	p, err := t.phase(phase)
	if err != nil {
		return 0 // Map will say so
	}
	if g, ok := p.(jobs.Gatherer); ok {
		return g.Gathers(leaf, records)
	}
	return 0
}
