package schedule

import (
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A worker whose store does not answer is given up for an audit when DenyPatience has passed since its first trouble,
// whenever that was.
func TestTroubleCountsFromItsBeginning(t *testing.T) {
	silent := &pb.Failure{Class: pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE}
	for _, c := range []struct {
		patience, after time.Duration
		givenUp         bool
	}{
		{time.Minute, time.Minute - 1, false}, {time.Minute, time.Minute, true}, {0, 100 * time.Hour, false},
	} {
		b, work := boardOf("w"), &auditWork{failures: map[string]int{}}
		b.Audits.cfg.DenyPatience = c.patience
		b.Audits.troubled(work, "w", silent, 5*time.Hour)
		b.Audits.troubled(work, "w", silent, 5*time.Hour+c.after)
		if got := work.failures["w"] == maxAuditFailures; got != c.givenUp {
			t.Errorf("patience %v, after %v: given up is %v", c.patience, c.after, got)
		}
	}
}

// A worker in quarantine is not waited for; after it the worker may make an audit as any other.
func TestLeastFailuresAfterAQuarantine(t *testing.T) {
	b, job := boardOf("w", "x"), jobOfTrees(t, 4)
	b.Roster.list[0].quarantined = time.Second
	work := &auditWork{failures: map[string]int{"w": 1, "x": 2}}
	for now, want := range map[time.Duration]int{time.Second - 1: 2, time.Second: 1} {
		if got := b.Roster.leastFailures(job, &state.Audit{}, work, now); got != want {
			t.Errorf("at %v: %d failures, want %d", now, got, want)
		}
	}
}

// A task that failed when it was made again rests until notBefore, and not longer.
func TestARepeatRestsAfterItsFailure(t *testing.T) {
	b, job := boardOf("x", "y"), jobOfTrees(t, 4)
	for _, w := range b.Roster.list {
		w.Other = "avx2"
	}
	a := &state.Audit{Kind: pb.TaskKind_TASK_KIND_NODE, Round: 1, Opinions: []state.Opinion{
		{WorkerID: "x", Sum: [32]byte{1}}, {WorkerID: "y", Sum: [32]byte{2}},
	}}
	again := auditTask(job, a)
	again.Again = true
	s := &search{board: b, job: job, memory: b.Jobs.of(job), worker: "x"}
	s.memory.audits[again] = &auditWork{failures: map[string]int{"x": 1}, notBefore: time.Second}
	for now, want := range map[time.Duration]bool{time.Second - 1: false, time.Second: true} {
		s.now = now
		if got := s.mayRepeat(a, again); got != want {
			t.Errorf("at %v it may be made again: %v", now, got)
		}
	}
}
