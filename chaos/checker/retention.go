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
	Over time.Time // an instant at which it had certainly ended; zero for one that was never seen so
	Gone time.Time // an instant at which it was certainly retired; zero for a job that is there at the end
}

// stampSlack is by how much the log's time of an end may lie before the end itself: a leader that is paused holds
// back what it has stamped, for 40 s at most.
const stampSlack = time.Minute

// retention is I11. All instants are the runner's own, so that no clock of the cluster counts. What a schedule names is
// kept on.
func retention(_ context.Context, e *Evidence, v *verdict) error {
	for _, s := range e.Sightings {
		id, atMost, atLeast := s.Job.GetId(), s.Gone.Sub(s.Open), e.Ended.Sub(s.Over)
		switch {
		case !s.Gone.IsZero():
			v.must(atMost > e.Keep-stampSlack, "job %s was retired at most %v after its end, not %v", id, atMost,
				e.Keep)
		case !s.Over.IsZero() && s.Job.GetScheduleId() == "":
			v.must(atLeast <= 2*e.Keep, "job %s is kept at least %v after its end, not %v", id, atLeast, e.Keep)
		}
	}
	return nil
}

// leaving are the jobs that may have been retired before the store was read.
func (e *Evidence) leaving() map[string]bool {
	jobs := make(map[string]bool)
	for _, s := range e.Sightings {
		jobs[s.Job.GetId()] = !s.Over.IsZero() && e.scanned.Sub(s.Open) >= e.Keep-stampSlack
	}
	return jobs
}
