package show

import (
	"fmt"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// ETA is when the open round of a job ends, in seconds from now on.
type ETA struct {
	TimesKnown uint32   `json:"times_known"`           // of tasks that ended; 0: the others are not known
	P50        *float64 `json:"p50_seconds,omitempty"` // within which the round ends with probability 0.5
	P90        *float64 `json:"p90_seconds,omitempty"`
	RoundsLeft *uint64  `json:"rounds_left_at_most,omitempty"` // after the open one; absent where nothing bounds them
}

// OfETA converts an ETA; nil stays nil.
func OfETA(e *gramv1.Eta) *ETA {
	if e == nil {
		return nil
	}
	v := &ETA{TimesKnown: e.GetTimesKnown()}
	if e.GetTimesKnown() > 0 {
		v.P50, v.P90 = new(seconds(0, e.GetP50Ms())), new(seconds(0, e.GetP90Ms()))
	}
	if e.GetBounded() {
		v.RoundsLeft = new(e.GetRoundsLeft())
	}
	return v
}

// ETAText is an ETA for people; empty for nil.
func ETAText(e *gramv1.Eta) string {
	if e == nil {
		return ""
	}
	span := func(ms int64) string { return terminal.Elapsed(time.Duration(ms) * time.Millisecond) }
	left := ""
	switch n := e.GetRoundsLeft(); {
	case !e.GetBounded():
		left = " for this round; how many follow is not known"
	case n == 0:
		left = "; this is the last round"
	case n == 1:
		left = " for this round; at most 1 round follows"
	default:
		left = fmt.Sprintf(" for this round; at most %d rounds follow", n)
	}
	if e.GetTimesKnown() > 0 {
		return fmt.Sprintf("%s (p50), %s (p90)", span(e.GetP50Ms()), span(e.GetP90Ms())) + left
	}
	text := "unknown yet: no task has ended"
	if e.GetBounded() {
		follow := "follow"
		if e.GetRoundsLeft() == 1 {
			follow = "follows"
		}
		text += fmt.Sprintf("; at most %s %s this one", protocol.Counted(e.GetRoundsLeft(), "round"), follow)
	}
	return text
}
