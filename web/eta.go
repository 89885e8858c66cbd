package web

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report"
	"github.com/gram-compute/gram/report/style"
)

// etaText writes when the open round ends, and how many may follow.
func etaText(e *pb.Eta) string {
	follow := "; how many rounds follow is not known"
	switch left := e.GetRoundsLeft(); {
	case !e.GetBounded():
	case left == 0:
		follow = "; it is the last"
	case left == 1:
		follow = "; at most 1 round follows"
	default:
		follow = fmt.Sprintf("; at most %s rounds follow", count(left))
	}
	if e.GetTimesKnown() == 0 {
		return "when the round ends is not known before a task has ended" + follow
	}
	span := func(ms int64) string { return style.Clock(float64(ms) / 1000) }
	return fmt.Sprintf("the round ends in %s (p50), %s (p90)%s", span(e.GetP50Ms()), span(e.GetP90Ms()), follow)
}

// Advice is what to do about a failure, by its code; "" where its message says all.
func (f *Fault) Advice() string {
	switch protocol.Code(f.Code) {
	case protocol.CodeBadRecord, protocol.CodeInputChanged, protocol.CodeInputDamaged, protocol.CodeInputEmpty,
		protocol.CodeInputLimit:
		return "The same input fails the same way: mend the input, or what the spec says of it, and submit again."
	case protocol.CodeSpecInvalid, protocol.CodeStateTooBig:
		return "Change the spec and submit again."
	case protocol.CodeStore, protocol.CodeStoreDenied:
		return "Look at the store and its credentials, then submit again: the result does not depend on it."
	case protocol.CodeNeedFailed:
		return "Look at the job that this one needs."
	case protocol.CodeWorkerDied, protocol.CodeNoWorkerFits:
		return "Start workers with more memory, or let the spec take less, and submit again."
	case protocol.CodePanic, protocol.CodeInternal, protocol.CodeDeterminism:
		return "This should not happen. The log below, and the spec, help to find out why."
	}
	return ""
}

// Gantt is the picture of the timeline; "" where nothing is known.
func (k *shown) Gantt() template.HTML {
	t := k.timeline()
	if t == nil || len(t.Marks) == 0 {
		return ""
	}
	return report.Gantt(t)
}

// Events are the last events of the job, the newest first.
func (k *shown) Events() []report.Event {
	t := k.timeline()
	if t == nil {
		return nil
	}
	last := slices.Clone(t.Events[max(0, len(t.Events)-eventsOfPage):])
	slices.Reverse(last)
	return last
}
