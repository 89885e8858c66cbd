package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
)

// repeat draws what is repeated, and repeats it round by round. It ends with the first round in which something is
// false.
func (v *verifier) repeat(ctx context.Context) error {
	if v.records == nil || v.tasks == nil || v.planned.Manifests == nil || len(v.rounds) == 0 {
		return nil // what is missing is noted
	}
	plan := v.draw()
	v.found = make([]origin.Found, len(v.rounds))
	if plan[0].drawn != nil {
		v.result.Draw, v.result.Named = fmt.Sprint(v.cfg.Draw), v.cfg.Named
	}
	var own jobs.Arrays // the state that repeating the round before gave
	for i, r := range v.rounds {
		if own == nil && !plan[i].any() && v.manifest.Kept != proof.Full {
			continue
		}
		state, err := v.state(ctx, i, own)
		if own = nil; err != nil || v.stops() {
			return err
		}
		if state == nil {
			v.broken[slot{phase: r.Phase, leaf: -1}] = true // what it carries is not known from here
			continue
		}
		if own, err = v.repeatRound(ctx, i, state, &plan[i]); err != nil || v.stops() {
			return err
		}
	}
	return nil
}

// repeatRound repeats what is planned of a round, and returns the next state where that is known from it.
func (v *verifier) repeatRound(ctx context.Context, i int, state jobs.Arrays, w *work) (jobs.Arrays, error) {
	r := v.rounds[i]
	task := &roundTask{verifier: v, round: r, at: i, state: state, work: w, carries: v.tasks.Carries(r.Phase)}
	total := w.count(r.Leaves())
	if v.manifest.Kept == proof.Full && !w.whole {
		total += int64(len(r.Nodes)/len(proof.Digest{})) - r.Leaves()
	}
	v.stage(fmt.Sprintf("round %d %s", r.Round, r.Phase), "nodes", total)
	if w.whole {
		return task.whole(ctx)
	}
	if err := task.leaves(ctx, 0); err != nil || v.manifest.Kept != proof.Full {
		return nil, err
	}
	if err := task.merges(ctx); err != nil {
		return nil, err
	}
	_, err := task.step(ctx, task.storedRoot)
	return nil, err
}

// state returns the state that a round begins with: own, where the round before was repeated; the one that is kept; or
// the plan's. Nil: it is not known, which is noted.
func (v *verifier) state(ctx context.Context, i int, own jobs.Arrays) (jobs.Arrays, error) {
	r := v.rounds[i]
	switch {
	case own != nil:
		return own, nil // its digest was compared
	case i == 0:
		return v.planState(ctx, r)
	case !v.manifest.Rounds[i].State:
		return nil, nil
	}
	return v.readArrays(ctx, proof.StateFile(r.State), r.State)
}

// planState is the state of the first round.
func (v *verifier) planState(ctx context.Context, r *round) (jobs.Arrays, error) {
	state, err := v.firstState(ctx)
	if err != nil {
		return nil, err
	}
	if state == nil && v.manifest.Rounds[0].State && r.State.String() == v.planned.Model.SHA256 {
		return v.readArrays(ctx, proof.StateFile(r.State), r.State) // the model is gone, and this is a copy of it
	}
	if state == nil {
		return nil, nil
	}
	if got := proof.Digest(state.Digest()); got != r.State {
		f := Finding{Of: OfRecord, File: proof.RoundFile(r.Round), Round: r.Round, Phase: r.Phase,
			Says: "The state that round 1 began with"}
		v.noteFalse(f.differs(r.State, got))
		return nil, nil
	}
	if size := state.EncodedSize(); size != r.StateSize {
		return nil, v.contradicts(proof.RoundFile(r.Round),
			fmt.Errorf("the state has %d bytes, not %d", size, r.StateSize))
	}
	return state, nil
}

// follows compares what a step makes with the round after it, or with the model.
func (v *verifier) follows(i int, next jobs.Next) bool {
	f := stepFinding(v.rounds[i])
	last := i == len(v.rounds)-1
	switch {
	case next.Done && !last:
		f.Says += ": the job goes on after it, and repeating it ends the job."
	case !next.Done && last:
		f.Says += ": the job ends with it, and repeating it asks for another round."
	default:
		want := v.manifest.Model.SHA256
		if !last {
			want = v.rounds[i+1].State
		}
		if got := proof.Digest(next.State.Digest()); got != want {
			f = f.differs(want, got)
			break
		}
		if last || v.continues(v.rounds[i+1], next) {
			return true
		}
		f.Says += ": repeating it asks for another phase, or other leaves, than round " +
			fmt.Sprint(v.rounds[i+1].Round) + " has."
	}
	v.noteFalse(f)
	return false
}

// continues reports whether a round is the one that a step asks for.
func (v *verifier) continues(after *round, next jobs.Next) bool {
	trees := []int64{int64(v.cut().Shards)}
	if next.Trees != nil {
		trees = trees[:0]
		for _, n := range next.Trees {
			trees = append(trees, int64(n))
		}
	}
	return next.Phase == after.Phase && slices.Equal(trees, after.Trees)
}
