package schedule

import (
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A merge whose pieces are small takes less time than its lease, its object and its commit. So the step folds what a
// round is left with, if it is little, and nothing else is merged before: the step is granted when all leaves are
// committed and no node is at work any more.

// stepIsNext reports whether nothing is merged any more in a round that is whole, since its step folds what there is:
// it can be granted, or is at work. A merge beside it would make it stale.
func (s *search) stepIsNext() bool {
	_, leased := s.memory.holder(s.task(pb.TaskKind_TASK_KIND_STEP, 0, noNode))
	return leased || s.memory.leases.Len() == 0 && s.stepFolds()
}

// stepFolds reports whether the round's step, granted to the worker, folds the pieces that the round has in the end:
// one for each commit and each lease of now, and one for each free leaf. A step that failed, or during which a worker
// fell silent, gets the roots.
func (s *search) stepFolds() bool {
	w, known := s.board.Roster.Worker(s.worker)
	if !known || !w.FoldsInSteps || s.alone || s.memory.troubled(s.task(pb.TaskKind_TASK_KIND_STEP, 0, noNode)) {
		return false
	}
	open, cfg := s.job.Rounds.Open, s.board.cfg
	pieces := open.Pieces() + s.memory.leases.Len() + s.memory.leaves.count
	if pieces-len(open.Trees) > cfg.StepPieces {
		return false
	}
	largest := int64(0)
	open.EachCommit(func(c state.Commit) bool {
		largest = max(largest, c.Object.Size)
		return largest <= cfg.StepBytes
	})
	return largest*int64(pieces) <= cfg.StepBytes
}

// troubled reports whether something went wrong with a task before.
func (j *jobBoard) troubled(t Task) bool {
	_, failed := j.faults[string(taskKey(t))]
	_, suspect := j.find(t)
	return failed || suspect
}

// Stale takes note of a report of a step that folded other pieces than are committed by now: it is leased again.
func (b *Board) Stale(job *state.Job, h Held, workerID string, now time.Duration) {
	if h.Task.Kind != pb.TaskKind_TASK_KIND_STEP || !b.Jobs.needed(job, h.Task) {
		return
	}
	memory := b.Jobs.of(job)
	if l, held := memory.heldBy(h.Task, workerID); held && l.token == h.Token {
		memory.dropOne(l)
		b.Jobs.took(memory, l, now, pb.TimelineOutcome_TIMELINE_OUTCOME_IN_VAIN)
	}
}
