package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// drawRounds says which rounds are repeated as a whole. A round whose phase passes arrays on from round to round is
// repeated with those before it.
func (v *verifier) drawRounds() []bool {
	whole := make([]bool, len(v.job.records))
	key := philox.New(v.Draw, "verify/rounds")
	var order []int
	for i, known := range v.known(whole) {
		if known {
			order = append(order, i)
		}
	}
	// total order: indices differ
	slices.SortFunc(order, func(a, b int) int {
		return compareDraws(key.Uint64(uint64(a), 0), key.Uint64(uint64(b), 0), a, b)
	})
	for _, at := range order[:min(v.Rounds, len(order))] {
		for i := v.firstOf(at); i <= at; i++ {
			whole[i] = true
		}
	}
	if v.All || v.leaves() <= v.Sample {
		for i := range whole {
			whole[i] = true
		}
	}
	return whole
}

// leaves is the number of leaves of all rounds.
func (v *verifier) leaves() int {
	leaves := 0
	for _, r := range v.job.manifest.Rounds {
		leaves += int(r.Leaves)
	}
	return leaves
}

// known tells the rounds that can be repeated for themselves: those whose state is kept or follows from the plan, and
// that of those before them in their row; and those that are repeated as a whole.
func (v *verifier) known(whole []bool) []bool {
	known := make([]bool, len(v.job.records))
	for at := range known {
		known[at] = whole[at] || v.available[at] || at == 0
		for i := v.firstOf(at); i < at; i++ {
			known[at] = known[at] && known[i]
		}
	}
	return known
}

// firstOf is the round with which what is passed on to a round began: the first of its phase in a row, where the phase
// passes something on; else the round itself.
func (v *verifier) firstOf(at int) int {
	phase := v.job.records[at].Phase
	if !v.job.tasks.Carries(phase) {
		return at
	}
	for at > 0 && v.job.records[at-1].Phase == phase {
		at--
	}
	return at
}

// stateOf returns the state that a round began with: a kept one, or that of the job's plan; nil where neither is there.
func (v *verifier) stateOf(ctx context.Context, at int) (jobs.Arrays, error) {
	record := v.job.records[at]
	if v.available[at] {
		data, err := v.file(ctx, proof.StateFile(record.State), proof.File{SHA256: record.State, Size: record.StateSize},
			proof.RoundFile(record.Round))
		if err != nil || data == nil {
			return nil, err
		}
		v.result.Files-- // it was counted before
		return jobs.Decode(data)
	}
	if at > 0 {
		return nil, nil
	}
	state, err := v.firstState(ctx)
	if err != nil || state == nil {
		return nil, err
	}
	if got := proof.Digest(state.Digest()); got != record.State {
		return nil, falseFile(proof.RoundFile(record.Round),
			"the first round began with the state %s, and the plan makes %s", record.State, got)
	}
	return state, nil
}

// firstState is what the plan of the job made: nothing, or the model that the job begins from.
func (v *verifier) firstState(ctx context.Context) (jobs.Arrays, error) {
	model := v.job.planned.Model
	if model == nil {
		return jobs.Arrays{}, nil
	}
	storeURI, name, err := objstore.SplitObjectURI(model.URI)
	if err != nil {
		return nil, falseFile(proof.InputFile, "%v", err)
	}
	store, err := v.OpenInput(ctx, storeURI)
	var data []byte
	if err == nil {
		data, _, err = objstore.ReadAll(ctx, store, name, objstore.GetOptions{}, model.Size)
	}
	if err == nil && planned.PinModel(model.URI, data).SHA256 != model.SHA256 {
		err = errors.New("it is another model now")
	}
	if err != nil {
		v.missing("the model that the job began from, %s: %v", model.URI, err)
		return nil, nil
	}
	return jobs.Decode(data)
}

// repeatRounds repeats the rounds that were drawn, each from the state that is kept of it or that the round before made.
func (v *verifier) repeatRounds(ctx context.Context, whole []bool) error {
	var made jobs.Arrays // the state that the round before made here
	carries := carriesOf{}
	for at, record := range v.job.records {
		if !whole[at] {
			made, carries = nil, carriesOf{}
			continue
		}
		v.Progress("rounds", at, len(whole))
		state := made
		if state == nil {
			var err error
			if state, err = v.stateOf(ctx, at); err != nil {
				return err
			}
		}
		if state == nil {
			v.missing("the state of round %d, which is to be repeated", record.Round)
			whole[at] = false
			continue
		}
		if at > 0 && v.job.records[at-1].Phase != record.Phase {
			carries = carriesOf{}
		}
		next, err := v.repeatRound(ctx, at, state, carries)
		if absent(err) {
			v.missing("round %d (%s): %v", record.Round, record.Phase, err)
			whole[at], made = false, nil
			continue
		}
		if err != nil {
			return err
		}
		made = next
	}
	return nil
}

// repeatRound repeats a round: all leaves, the merges along the trees, and the step.
func (v *verifier) repeatRound(ctx context.Context, at int, state jobs.Arrays, carries carriesOf) (jobs.Arrays, error) {
	record := v.job.records[at]
	roots := make([]jobs.Arrays, len(record.Trees))
	for tree, n := range record.Trees {
		t := protocol.Tree(n)
		leaves := v.mapLeaves(ctx, record, state, tree, int(n), carries)
		root, err := v.job.tasks.Fold(ctx, record.Phase, t, t.Canonical(t.Root()), run.FoldSource{
			Leaf: leaves.take,
			Keep: func(_ context.Context, node protocol.Node, partial jobs.Arrays) error {
				v.count(node)
				if got := proof.Digest(partial.Digest()); got != record.Node(tree, node) {
					return v.falseNode(record, tree, node, got)
				}
				return nil
			},
		})
		leaves.stop()
		if err != nil {
			return nil, err
		}
		roots[tree] = root
	}
	round := jobs.RoundOf(v.job.plan(), roots...)
	return v.repeatStep(ctx, at, state, round)
}

func (v *verifier) count(node protocol.Node) {
	if node.Level == 0 {
		v.result.Leaves.Repeated++
	} else {
		v.result.Merges.Repeated++
	}
}

// repeatStep repeats the step of a round, and returns what it made.
func (v *verifier) repeatStep(ctx context.Context, at int, state jobs.Arrays, round jobs.Round) (jobs.Arrays, error) {
	record := v.job.records[at]
	round.Emit = v.emitted(fmt.Sprintf("the step of round %d", record.Round))
	next, again, err := v.job.tasks.Step(ctx, record.Phase, state, round)
	if err != nil {
		return nil, v.failedAgain(record, err)
	}
	v.result.Steps.Repeated++
	if got, want := proof.Digest(jobs.ArraysOf(again).Digest()), v.job.manifest.Rounds[at].Record.SHA256; got != want {
		return nil, falseStep(record, "the record", want.String(), got.String())
	}
	want, isModel := v.job.next(at)
	made := "the state"
	if isModel {
		made = "the model"
	}
	if got := proof.Digest(next.State.Digest()); got != want {
		return nil, falseStep(record, made, want.String(), got.String())
	}
	switch {
	case next.Done != isModel:
		return nil, falseStep(record, "done", fmt.Sprint(isModel), fmt.Sprint(next.Done))
	case !isModel && next.Phase != v.job.records[at+1].Phase:
		return nil, falseStep(record, "the phase", v.job.records[at+1].Phase, next.Phase)
	case !isModel && !sameTrees(next.Trees, v.job.records[at+1].Trees, v.job.plan()):
		return nil, falseStep(record, "the trees", fmt.Sprint(v.job.records[at+1].Trees), fmt.Sprint(next.Trees))
	}
	return next.State, nil
}

// sameTrees compares the trees of a step with those of the round after it; nil means one tree over the shards.
func sameTrees(trees []int, want []int64, plan jobs.Plan) bool {
	if trees == nil {
		trees = []int{plan.Shards}
	}
	return slices.EqualFunc(trees, want, func(n int, w int64) bool { return int64(n) == w })
}

// failedAgain turns the error of a step that is repeated into what is false.
func (v *verifier) failedAgain(record *proof.Record, err error) error {
	if found, ok := errors.AsType[*Falsehood](err); ok {
		found.Round, found.Phase, found.Tree = record.Round, record.Phase, len(record.Trees)
		return found
	}
	if absent(err) || errors.Is(err, context.Canceled) {
		return err
	}
	return &Falsehood{What: fmt.Sprintf("round %d (%s), the step", record.Round, record.Phase),
		Says: "repeating it fails: " + err.Error(), Round: record.Round, Phase: record.Phase, Tree: len(record.Trees)}
}
