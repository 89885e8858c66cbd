package checker

import (
	"context"
	"time"

	"github.com/gram-compute/gram/chaos/history"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// every is the time between two ticks of the workload's schedules.
const every = int64(time.Minute / time.Millisecond)

// slack is how long after its instant a tick may still be undecided in a cluster that is well.
const slack = 20 * time.Second

// ticks is I5, for schedules with a tick in every minute of UTC.
func ticks(_ context.Context, e *Evidence, v *verdict) error {
	since := make(map[string]int64)
	for _, op := range e.Operations {
		if op.Kind == history.CreateSchedule && op.Outcome == history.OK && op.Created {
			since[op.Schedule] = op.Ticks.LastTick
		}
	}
	byHand := make(map[string]map[int64]string) // schedule and tick: the job
	for _, job := range e.Jobs {
		id, tick := job.GetScheduleId(), job.GetTickUnixMs()
		if id == "" {
			continue
		}
		if byHand[id] == nil {
			byHand[id] = make(map[int64]string)
		}
		first, twice := byHand[id][tick]
		v.must(!twice, "tick %s of schedule %s fired twice: jobs %s and %s", instant(tick), id, first, job.GetId())
		v.must(tick%every == 0 && tick > since[id], "job %s is of %s, which is no tick of schedule %s", job.GetId(),
			instant(tick), id)
		byHand[id][tick] = job.GetId()
	}
	for _, s := range e.Schedules {
		id := s.GetDefinition().GetId()
		from, known := since[id]
		v.must(known, "schedule %s exists, and nobody made it", id)
		ticksOf(v, s, from, byHand[id], e.Ended)
		delete(since, id)
	}
	for id := range since {
		v.fail("schedule %s was made and does not exist", id)
	}
	return nil
}

// ticksOf holds one schedule's jobs and skips against every instant it names.
func ticksOf(v *verdict, s *pb.Schedule, since int64, jobs map[int64]string, ended time.Time) {
	id, last := s.GetDefinition().GetId(), s.GetLastTickUnixMs()
	due := ended.Add(-slack).UnixMilli()
	due -= due % every
	v.must(due <= since || last >= due, "tick %s of schedule %s is not decided at %s", instant(due), id,
		ended.UTC().Format(time.RFC3339))
	v.must(last <= ended.Add(slack).UnixMilli(), "schedule %s has decided the tick %s, which lies ahead of %s", id,
		instant(last), ended.UTC().Format(time.RFC3339))
	first := since - since%every + every
	count := uint64(0)
	recorded := int64(0) // the first tick that the newest records still cover
	if recent := s.GetRecent(); len(recent) > 0 {
		recorded = recent[0].GetFirstUnixMs()
		if recorded == 0 {
			recorded = recent[0].GetTickUnixMs()
		}
	}
	for tick := first; tick <= last; tick += every {
		count++
		if tick < recorded {
			continue // the sums below
		}
		skips := 0
		for _, r := range s.GetRecent() {
			if r.GetSkip() != pb.SkipReason_SKIP_REASON_UNSPECIFIED && tick >= min(firstOf(r), r.GetTickUnixMs()) &&
				tick <= r.GetTickUnixMs() {
				skips++
			}
		}
		fired := 0
		if jobs[tick] != "" {
			fired = 1
		}
		v.must(fired+skips == 1, "tick %s of schedule %s: %d jobs, %d times skipped", instant(tick), id, fired, skips)
	}
	v.must(s.GetFired() == uint64(len(jobs)), "schedule %s says that %d ticks fired, and %d jobs exist", id,
		s.GetFired(), len(jobs))
	v.must(s.GetFired()+s.GetSkipped() == count,
		"schedule %s decided %d ticks and skipped %d; there were %d from %s to %s",
		id, s.GetFired(), s.GetSkipped(), count, instant(first), instant(last))
}

func firstOf(r *pb.TickRecord) int64 {
	if r.GetFirstUnixMs() == 0 {
		return r.GetTickUnixMs()
	}
	return r.GetFirstUnixMs()
}

func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
