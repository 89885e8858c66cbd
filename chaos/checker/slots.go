package checker

import (
	"context"
	"time"

	"github.com/gram-compute/gram/chaos/history"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// every is the time between two slots of the workload's schedules.
const every = int64(time.Minute / time.Millisecond)

// slack is how long after its instant a slot may still be undecided in a cluster that is well.
const slack = 20 * time.Second

// slots is I5, for schedules with a slot in every minute of UTC.
func slots(_ context.Context, e *Evidence, v *verdict) error {
	since := make(map[string]int64)
	for _, op := range e.Operations {
		if op.Kind == history.CreateSchedule && op.Outcome == history.OK && op.Created {
			since[op.Schedule] = op.Slots.LastSlot
		}
	}
	byHand := make(map[string]map[int64]string) // schedule and slot: the job
	for _, job := range e.Jobs {
		id, slot := job.GetScheduleId(), job.GetSlotUnixMs()
		if id == "" {
			continue
		}
		if byHand[id] == nil {
			byHand[id] = make(map[int64]string)
		}
		first, twice := byHand[id][slot]
		v.must(!twice, "slot %s of schedule %s fired twice: jobs %s and %s", instant(slot), id, first, job.GetId())
		v.must(slot%every == 0 && slot > since[id], "job %s is of %s, which is no slot of schedule %s", job.GetId(),
			instant(slot), id)
		byHand[id][slot] = job.GetId()
	}
	for _, s := range e.Schedules {
		id := s.GetDefinition().GetId()
		from, known := since[id]
		v.must(known, "schedule %s exists, and nobody made it", id)
		slotsOf(v, s, from, byHand[id], e.Ended)
		delete(since, id)
	}
	for id := range since {
		v.fail("schedule %s was made and does not exist", id)
	}
	return nil
}

// slotsOf holds one schedule's jobs and skips against every instant it names.
func slotsOf(v *verdict, s *pb.Schedule, since int64, jobs map[int64]string, ended time.Time) {
	id, last := s.GetDefinition().GetId(), s.GetLastSlotUnixMs()
	due := ended.Add(-slack).UnixMilli()
	due -= due % every
	v.must(due <= since || last >= due, "slot %s of schedule %s is not decided at %s", instant(due), id,
		ended.UTC().Format(time.RFC3339))
	v.must(last <= ended.Add(slack).UnixMilli(), "schedule %s has decided the slot %s, which lies ahead of %s", id,
		instant(last), ended.UTC().Format(time.RFC3339))
	first := since - since%every + every
	count := uint64(0)
	recorded := int64(0) // the first slot that the newest records still cover
	if recent := s.GetRecent(); len(recent) > 0 {
		recorded = recent[0].GetFirstUnixMs()
		if recorded == 0 {
			recorded = recent[0].GetSlotUnixMs()
		}
	}
	for slot := first; slot <= last; slot += every {
		count++
		if slot < recorded {
			continue // the sums below
		}
		skips := 0
		for _, r := range s.GetRecent() {
			if r.GetSkip() != pb.SkipReason_SKIP_REASON_UNSPECIFIED && slot >= min(firstOf(r), r.GetSlotUnixMs()) &&
				slot <= r.GetSlotUnixMs() {
				skips++
			}
		}
		fired := 0
		if jobs[slot] != "" {
			fired = 1
		}
		v.must(fired+skips == 1, "slot %s of schedule %s: %d jobs, %d times skipped", instant(slot), id, fired, skips)
	}
	v.must(s.GetFired() == uint64(len(jobs)), "schedule %s says that %d slots fired, and %d jobs exist", id,
		s.GetFired(), len(jobs))
	v.must(s.GetFired()+s.GetSkipped() == count,
		"schedule %s decided %d slots and skipped %d; there were %d from %s to %s",
		id, s.GetFired(), s.GetSkipped(), count, instant(first), instant(last))
}

func firstOf(r *pb.SlotRecord) int64 {
	if r.GetFirstUnixMs() == 0 {
		return r.GetSlotUnixMs()
	}
	return r.GetFirstUnixMs()
}

func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
