package linear

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
	"github.com/gram-compute/gram/chaos/history"
)

// answerKind is what a client knows of a call's effect.
type answerKind int

const (
	answered answerKind = iota // it had the effect it has, and saw the job
	absent                     // there was no such job
	taken                      // the job's id had another spec
	unknown                    // it had its effect at any time after it began, or none
)

// outcome is what came of a call.
type outcome struct {
	kind    answerKind
	created bool // by a submit
	seen    history.Job
}

// String says it to people.
func (o outcome) String() string {
	switch o.kind {
	case absent:
		return "no such job"
	case taken:
		return "exists with another spec"
	case unknown:
		return "unknown"
	}
	text := fmt.Sprintf("%s, round %d, spec %.8s", o.seen.State, o.seen.Round, o.seen.SpecHash)
	if o.created {
		text += ", made by this call"
	}
	return text
}

// outcomeOf is the outcome of a call; one that tells nothing may be left out. A refusal that names
// no fact about the job may hide an effect, such as a leader's that has lost the lead.
func outcomeOf(op history.Operation) (o outcome, tells bool) {
	reads := op.Kind == history.Get
	switch {
	case op.Outcome == history.OK && op.Seen != nil:
		return outcome{kind: answered, created: op.Created, seen: *op.Seen}, true
	case op.Outcome == history.Refused && op.Code == history.NotFound && op.Kind != history.Submit:
		return outcome{kind: absent}, true
	case op.Outcome == history.Refused && op.Code == history.AlreadyExists && op.Kind == history.Submit:
		return outcome{kind: taken}, true
	}
	return outcome{kind: unknown}, !reads
}

// job is what is known of a job at an instant. It goes on by itself, so that its stage is the least
// it can be: what a client sees may be further.
type job struct {
	exists bool
	hash   string
	stage  history.State
	ending bool        // it has ended, or an unknown cancel has ended it
	seen   history.Job // furthest: its round, and how often something was taken back
	model  string
}

// rank orders the stages that a job goes through; all ends are the last.
func rank(s history.State) int {
	if s.Terminal() {
		return 3
	}
	return slices.Index([]history.State{history.Queued, history.Planning, history.Running}, s)
}

// model is one job's sequential specification. A job of a schedule's tick is made, and cancelled,
// without a client's call.
func model(calls []porcupine.Operation) porcupine.Model {
	scheduled := slices.ContainsFunc(calls,
		func(c porcupine.Operation) bool { return c.Output.(outcome).seen.Schedule != "" })
	return porcupine.Model{
		Init: func() any { return job{} },
		Step: func(state, input, output any) (bool, any) {
			before, op, out := state.(job), input.(history.Operation), output.(outcome)
			if scheduled && !before.exists && out.kind == answered && !out.created {
				before = job{exists: true, hash: out.seen.SpecHash, stage: history.Queued}
			}
			return before.step(op, out, scheduled)
		},
	}
}

func (j job) step(op history.Operation, out outcome, scheduled bool) (bool, job) {
	switch out.kind {
	case absent:
		return !j.exists, j
	case taken:
		return j.exists && j.hash != op.SpecHash, j
	case unknown:
		return true, j.perhaps(op)
	}
	switch op.Kind {
	case history.Submit:
		if out.created == j.exists || out.seen.SpecHash != op.SpecHash {
			return false, j
		}
		if out.created {
			j = job{exists: true, hash: op.SpecHash, stage: history.Queued}
		}
		return j.sees(out.seen, scheduled)
	case history.Cancel:
		if !out.seen.State.Terminal() {
			return false, j
		}
		return j.sees(out.seen, true)
	}
	return j.sees(out.seen, scheduled)
}

// perhaps is the job after a call that may have had its effect; where it had none, it is
// put after all others.
func (j job) perhaps(op history.Operation) job {
	switch {
	case op.Kind == history.Submit && !j.exists:
		return job{exists: true, hash: op.SpecHash, stage: history.Queued}
	case op.Kind == history.Cancel && j.exists && !j.stage.Terminal():
		j.ending = true
	}
	return j
}

// sees is the job once somebody has seen it: it may have gone on since, never back, and is
// cancelled by a cancel only.
func (j job) sees(seen history.Job, cancels bool) (bool, job) {
	legal := j.exists && (seen.SpecHash == "" || seen.SpecHash == j.hash) &&
		seen.Follows(history.Job{State: j.stage, Round: j.seen.Round, Remade: j.seen.Remade}, rank)
	switch {
	case j.stage.Terminal():
		legal = legal && seen.State == j.stage
	case j.ending:
		legal = legal && seen.State.Terminal()
	case seen.State == history.Cancelled:
		legal = legal && cancels
	}
	if !legal || j.model != "" && seen.Model != j.model {
		return false, j
	}
	j.stage, j.model, j.ending = seen.State, seen.Model, false
	j.seen = history.Job{Round: seen.Round, Remade: seen.Remade}
	return true, j
}
