package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// unreadable takes a task that workers failed to make of what others made, and has that made again: one of the others
// may have made a result that nobody can read. There is no command where the failure may not come of that, or what the
// task reads was made again too often; then the task's fault is the job's.
func (jobs *Jobs) unreadable(
	job *state.Job, t Task, workerID string, failure *pb.Failure, now time.Duration,
) *pb.Command {
	tasks, makers := job.Lineage().ReadBy(t.ID())
	folds := slices.ContainsFunc(tasks, func(id *pb.TaskID) bool { return id.GetRound() == t.Round })
	if len(tasks) == 0 || !ofReading(failure, folds) {
		return nil
	}
	jobs.of(job).course.event(now, pb.TimelineEventKind_TIMELINE_EVENT_KIND_REMADE, jobs.roster.nameOf(workerID), t)
	who := cmp.Or(strings.Join(makers, ", "), "others")
	why := fmt.Sprintf("workers cannot make %s of what %s made: %s", t, who, failure.GetMessage())
	return uncommit(job, tasks, pb.UncommitReason_UNCOMMIT_REASON_UNREADABLE, why)
}

// ofReading reports whether a failure may come of what the task reads of other tasks: it says so, or it gives no reason
// and the task folds results.
func ofReading(failure *pb.Failure, folds bool) bool {
	switch protocol.Code(failure.GetCode()) {
	case protocol.CodeCorrupt:
		return true
	case protocol.CodePanic, protocol.CodeInternal:
		return folds
	}
	return false
}
