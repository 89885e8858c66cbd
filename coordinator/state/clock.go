package state

import (
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// maxClock bounds the time that a SetClock may set, in Unix milliseconds.
const maxClock = int64(1<<63-1) / int64(time.Millisecond)

// applySetClock sets Now, which no other command sets back. A clock that ran ahead for a while has left times in
// the state that are yet to come: they are moved to the new Now, so that jobs are kept no longer than they should
// be, and schedules go on at their next tick. A tick that was fired early keeps its job: it has the id that
// the tick's job will be asked for under.
func applySetClock(s State, cmd *pb.SetClock) (State, Reply) {
	now := cmd.GetNowUnixMs()
	if now < 1 || now > maxClock {
		return s, reject(Malformed, "the clock cannot be set to %d ms after 1970", now)
	}
	s.Now = now
	s.HeldSince = min(s.HeldSince, now)
	return s.jobsNotAfter(now).schedulesNotAfter(now).restNotAfter(now), Reply{}
}

func (s State) jobsNotAfter(now int64) State {
	var moved []*Job
	s.EachJob(func(job *Job) bool {
		if after(now, job.times()...) {
			moved = append(moved, job)
		}
		return true
	})
	for _, old := range moved {
		job := old.clone()
		job.Rounds.unshared()
		notAfter(now, job.times()...)
		s = s.putJob(job)
	}
	return s
}

// times are all times of a job.
func (j *Job) times() []*int64 {
	return append(j.Rounds.times(), &j.SubmittedAt, &j.StartedAt, &j.FinishedAt)
}

// schedulesNotAfter lets schedules go on after now. Their revision changes: decisions on their way were made
// by the old time.
func (s State) schedulesNotAfter(now int64) State {
	var moved []*Schedule
	s.EachSchedule(func(sched *Schedule) bool {
		if after(now, &sched.LastTick, &sched.Since, &sched.LatestTick) {
			moved = append(moved, sched)
		}
		return true
	})
	latest := s.latestUntil(now)
	for _, old := range moved {
		sched := *old
		notAfter(now, &sched.LastTick, &sched.Since)
		if old.LatestTick > now {
			sched.LatestJob, sched.LatestTick = "", 0
			if job := latest[old.ID()]; job != nil {
				sched.LatestJob, sched.LatestTick = job.ID, job.Tick
			}
		}
		sched.Recent = nil
		for _, r := range old.Recent {
			switch {
			case r.First <= now:
				sched.Recent = append(sched.Recent, r)
			case r.JobID == "": // to be decided anew; one that was fired is counted once
				sched.Skipped -= min(sched.Skipped, uint64(r.Ticks))
			}
		}
		s, sched.Revision = s.revise(), s.NextJob
		s = s.putSchedule(&sched)
	}
	return s
}

// latestUntil finds, of each schedule, the job of the latest tick up to now that has succeeded.
func (s State) latestUntil(now int64) map[string]*Job {
	latest := make(map[string]*Job)
	s.EachJob(func(job *Job) bool {
		sched, ok := s.Schedule(job.ScheduleID)
		own := ok && job.Tick <= now && job.Stage == pb.JobState_JOB_STATE_SUCCEEDED &&
			job.ID == sched.TickJobID(job.Tick)
		if best := latest[job.ScheduleID]; own && (best == nil || job.Tick > best.Tick) {
			latest[job.ScheduleID] = job
		}
		return true
	})
	return latest
}

func (s State) restNotAfter(now int64) State {
	before := s
	before.Retired.Each(func(r Retired) bool {
		if r.RetiredAt > now {
			r.RetiredAt = now
			s.Retired = s.Retired.put(r)
		}
		return true
	})
	before.Tokens.Each(func(t Token) bool {
		if t.CreatedAt > now {
			t.CreatedAt = now
			s.Tokens = s.Tokens.put(t)
		}
		return true
	})
	before.EachAlias(func(a Alias) bool {
		if a.SetAt > now {
			a.SetAt = now
			s = s.putAlias(a)
		}
		return true
	})
	return s
}

func after(now int64, times ...*int64) bool {
	for _, t := range times {
		if *t > now {
			return true
		}
	}
	return false
}

func notAfter(now int64, times ...*int64) {
	for _, t := range times {
		*t = min(*t, now)
	}
}
