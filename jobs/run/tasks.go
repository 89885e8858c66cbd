package run

import (
	"context"
	"fmt"

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
	skipMax  skipLimits
	maxState protocol.ByteSize // 0 for no bound
	ops      *kernelops.Set
}

// NewTasks returns the tasks of an algorithm under a spec with its defaults written in.
func NewTasks(algorithm jobs.Algorithm, spec protocol.JobSpec, ops *kernelops.Set) (*Tasks, error) {
	t := &Tasks{phases: algorithm.Phases(), ops: ops,
		skipMax: limitsOf(spec), maxState: spec.Spec.Run.MaxStateBytes}
	if len(t.phases) == 0 {
		return nil, fmt.Errorf("jobs: kind %s has no phases", spec.Kind)
	}
	names := map[string]bool{"": true}
	for _, p := range t.phases {
		if names[p.Name()] {
			return nil, fmt.Errorf("jobs: kind %s has two phases %q, or one without a name", spec.Kind, p.Name())
		}
		names[p.Name()] = true
	}
	return t, nil
}

// First is the phase of the first round.
func (t *Tasks) First() string { return t.phases[0].Name() }

// Map computes one leaf. A state or carry of nil stands for none. Leaf.Blocks may be nil: it
// follows from Leaf.Read.
func (t *Tasks) Map(ctx context.Context, phase string, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays) (partial,
	newCarry jobs.Arrays, err error) {
	p, err := t.phase(phase)
	if err != nil {
		return nil, nil, err
	}
	state, known, err := detachKept(state)
	if err != nil {
		return nil, nil, err
	}
	watch := skipWatch{limits: t.skipMax, kept: known}
	if phase == t.First() && leaf.Tree == 0 {
		watch.taker = newNoteTaker(place{jobs.Input, leaf.Index}, t.skipMax[jobs.Input] > 0)
	}
	leaf.Emit = checked(leaf.Emit)
	partial, newCarry, err = p.Map(ctx, state, watch.watch(leaf), carry, t.ops)
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
	record := &proof.Record{Phase: phase, State: state.Digest(), StateSize: state.EncodedSize()}
	state, known, err := detachKept(state)
	if err != nil {
		return jobs.Next{}, nil, err
	}
	roots := &plainRoots{read: round.Root, limits: t.skipMax, nodes: make([][]byte, round.Trees)}
	round.Root, round.Emit = roots.root, checked(round.Emit)
	next, err := p.Step(ctx, state, round)
	if phase == t.First() {
		known = known.learn(roots)
	}
	if err != nil {
		return jobs.Next{}, nil, known.explain(err)
	}
	if err := t.checkNext(p, next); err != nil {
		return jobs.Next{}, nil, err
	}
	if next.Metrics, err = t.withFound(phase, next.Metrics, roots, known); err != nil {
		return jobs.Next{}, nil, err
	}
	if err := roots.record(ctx, record); err != nil {
		return jobs.Next{}, nil, err
	}
	known = known.after(record)
	next.State, err = known.attach(next.State, next.Done)
	return next, record, err
}

// withFound adds to a step's metrics what reading found.
func (t *Tasks) withFound(phase string, metrics []jobs.Metric, roots *plainRoots, known kept) ([]jobs.Metric, error) {
	found, err := roots.found.metrics(phase)
	if err != nil {
		return nil, err
	}
	metrics = append(metrics, found...)
	if phase != t.First() {
		return metrics, nil
	}
	noticed, err := roots.notes.metrics(known.Passed)
	return append(metrics, noticed...), err
}

func (t *Tasks) merge(p jobs.Phase, left, right jobs.Arrays) (jobs.Arrays, error) {
	a, skippedLeft, err := detach(left)
	if err != nil {
		return nil, err
	}
	b, skippedRight, err := detach(right)
	if err != nil {
		return nil, err
	}
	a, notesLeft, err := detachNotes(a)
	if err != nil {
		return nil, err
	}
	b, notesRight, err := detachNotes(b)
	if err != nil {
		return nil, err
	}
	noticed, err := notesLeft.plus(notesRight)
	if err != nil {
		return nil, err
	}
	skipped := skippedLeft.plus(skippedRight)
	if err := t.skipMax.check(skipped); err != nil {
		return nil, err
	}
	merged, err := p.Merge(a, b)
	if err != nil {
		return nil, err
	}
	if merged, err = skipped.attach(merged); err != nil {
		return nil, err
	}
	return noticed.attach(merged)
}

func (t *Tasks) phase(name string) (jobs.Phase, error) {
	for _, p := range t.phases {
		if p.Name() == name {
			return p, nil
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

// Carries reports whether a phase may pass arrays from one round to the next, leaf by leaf (jobs.Carrier).
func (t *Tasks) Carries(phase string) bool {
	p, err := t.phase(phase)
	if err != nil {
		return false // Map will say so
	}
	c, ok := p.(jobs.Carrier)
	return !ok || c.Carries()
}
