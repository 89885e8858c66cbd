package checker

import (
	"context"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Sighting is what lists of all jobs told of one. A job that the cluster has retired is in Job as it was seen last.
type Sighting struct {
	Job  *pb.Job
	Open time.Time // the last instant at which it had certainly not ended
	Gone time.Time // an instant at which it was certainly retired; zero for a job that is there at the end
}

// stampSlack is by how much the log's time of an end may lie before the end itself: a leader that is paused holds
// back what it has stamped, for 40 s at most.
const stampSlack = time.Minute

// retention is I11. Both instants of a job's retirement are the checker's own, so that no clock of the cluster counts.
// What a schedule names is kept on.
func retention(_ context.Context, e *Evidence, v *verdict) error {
	for _, s := range e.Sightings {
		id, end := s.Job.GetId(), time.UnixMilli(s.Job.GetFinishedUnixMs())
		switch {
		case !s.Gone.IsZero():
			v.must(s.Gone.Sub(s.Open) > e.Keep-stampSlack, "job %s was retired at most %v after its end, not %v", id, s.Gone.Sub(s.Open), e.Keep)
		case stateOf(s.Job).Terminal() && s.Job.GetScheduleId() == "":
			v.must(e.Ended.Sub(end) <= 2*e.Keep, "job %s is kept %v after its end, not %v", id, e.Ended.Sub(end), e.Keep)
		}
	}
	return nil
}

// leaving reports whether a job may have been retired before the store was read.
func (e *Evidence) leaving(finishedUnixMs int64) bool {
	return finishedUnixMs > 0 && e.scanned.Sub(time.UnixMilli(finishedUnixMs)) >= e.Keep-stampSlack
}
