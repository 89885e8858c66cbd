package state

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	maxJobJSON = protocol.MaxSpecBytes
	maxDelay   = 366 * 24 * 3600 * 1000 // milliseconds
)

// ValidScheduleID reports whether id may name a schedule: its jobs' ids begin with it.
func ValidScheduleID(id string) bool { return len(id) <= 40 && ValidJobID(id) }

// TickJobID is the id of the job of a tick: a function of schedule and tick, so that
// the job of a tick is the same one, made now or by hand later.
func (s *Schedule) TickJobID(tick int64) string {
	sum := sha256.New()
	sum.Write([]byte("gram schedule slot\x00" + s.ID() + "\x00")) // never changes: ids in logs and stores rest on it
	sum.Write(numberKey(s.Number))
	sum.Write(numberKey(uint64(tick)))
	return s.ID() + "-" + hex.EncodeToString(sum.Sum(nil)[:10])
}

// applyFireTick decides on a tick. That it happens once rests on two comparisons: the tick
// lies after the last one decided, and that is the one the proposer saw. The second also
// keeps a decision from passing over ticks whose own decision was lost on the way.
func applyFireTick(s State, cmd *pb.FireTick) (State, Reply) {
	sched, ok := s.Schedule(cmd.GetScheduleId())
	switch {
	case !ok:
		return s, reject(NotFound, "no schedule %q", Clip(cmd.GetScheduleId(), 64))
	case s.Held():
		return s, reject(Conflict, "no tick is decided since the cluster was restored: release the schedules first")
	case cmd.GetRevision() != sched.Revision:
		return s, reject(Conflict, "schedule %s has changed since", sched.ID())
	case cmd.GetAfterUnixMs() != sched.LastTick || cmd.GetTickUnixMs() <= sched.LastTick:
		return s, reject(Conflict, "tick %d of schedule %s is decided already", cmd.GetTickUnixMs(), sched.ID())
	case (cmd.GetJob() == nil) == (cmd.GetSkip() == pb.SkipReason_SKIP_REASON_UNSPECIFIED):
		return s, reject(Malformed, "a tick either makes a job or is skipped for a reason")
	case cmd.GetJob() == nil:
		return skipTicks(s, sched, cmd)
	case len(cmd.GetJob().GetSpecJson()) > maxJobJSON || cmd.GetJob().GetId() != "":
		return s, reject(Malformed, "the job of a tick of schedule %s is too big or brings an id", sched.ID())
	}
	return fireTick(s, sched, cmd)
}

// skipTicks records a run of ticks that make no job.
func skipTicks(s State, sched *Schedule, cmd *pb.FireTick) (State, Reply) {
	first, last, ticks := cmd.GetFirstUnixMs(), cmd.GetTickUnixMs(), cmd.GetTicks()
	if ticks == 0 || first <= sched.LastTick || first > last || (first == last) != (ticks == 1) ||
		!knownReason(cmd.GetSkip()) {
		return s, reject(Malformed, "a skip of %d ticks from %d to %d, for reason %d", ticks, first, last,
			cmd.GetSkip())
	}
	sched = sched.decided(TickRecord{First: first, Tick: last, Ticks: ticks, Skip: cmd.GetSkip()})
	return s.putSchedule(sched), Reply{Schedule: sched}
}

// SkipName is how a reason to skip is written in labels and audit lines: "overlap".
func SkipName(reason pb.SkipReason) string {
	return strings.ToLower(strings.TrimPrefix(reason.String(), "SKIP_REASON_"))
}

func knownReason(r pb.SkipReason) bool {
	return r >= pb.SkipReason_SKIP_REASON_PAUSED && r <= pb.SkipReason_SKIP_REASON_INVALID
}

// fireTick makes the tick's job, after ending earlier ones where the schedule says so.
// A job that exists under its id, made by hand, is the tick's job if its spec is the same.
func fireTick(s State, sched *Schedule, cmd *pb.FireTick) (State, Reply) {
	tick := cmd.GetTickUnixMs()
	job := proto.CloneOf(cmd.GetJob())
	job.Id, job.ScheduleId, job.TickUnixMs = sched.TickJobID(tick), sched.ID(), tick
	job.SubmittedBy = sched.Definition.GetSubmittedBy()
	before := s
	if sched.Definition.GetOverlap() == pb.ScheduleOverlap_SCHEDULE_OVERLAP_REPLACE {
		before = s.cancelJobsOf(sched.ID(), job.Id)
	}
	next, reply := accept(before, job, false)
	record := TickRecord{First: tick, Tick: tick, Ticks: 1}
	switch {
	case reply.Err == nil:
		record.JobID = job.Id
	case reply.Err.Reason == Conflict:
		next, record.Skip = s, pb.SkipReason_SKIP_REASON_CONFLICT
	default:
		return s, reply // nothing is decided; there may be room later
	}
	sched = sched.decided(record)
	if reply.Err == nil && !reply.Created && reply.Job.ScheduleID == sched.ID() && !reply.Job.ByHand {
		sched.Fired-- // it was fired, and counted, by a clock that ran ahead
	}
	next = next.putSchedule(sched)
	if reply.Err == nil && !reply.Created {
		next = next.moveLatest(reply.Job)
		sched, _ = next.Schedule(sched.ID())
	}
	return next, Reply{Schedule: sched, Job: reply.Job, Created: reply.Created}
}

// cancelJobsOf cancels the jobs of a schedule's ticks but one.
func (s State) cancelJobsOf(scheduleID, but string) State {
	var jobs []*Job
	s.EachJobOf(scheduleID, func(job *Job) bool {
		if job.ID != but {
			jobs = append(jobs, job)
		}
		return true
	})
	for _, job := range jobs {
		s = s.putJob(job.clone().ended(pb.JobState_JOB_STATE_CANCELLED, s.Now))
	}
	return s
}

// moveLatest lets a schedule's latest be job if it has succeeded and none for a later tick has.
func (s State) moveLatest(job *Job) State {
	if job.Stage != pb.JobState_JOB_STATE_SUCCEEDED || job.ScheduleID == "" {
		return s
	}
	old, ok := s.Schedule(job.ScheduleID)
	if !ok || job.ID != old.TickJobID(job.Tick) || old.LatestJob != "" && job.Tick < old.LatestTick {
		return s // of a schedule that was removed, or overtaken
	}
	sched := *old
	sched.LatestJob, sched.LatestTick = job.ID, job.Tick
	return s.putSchedule(&sched)
}

// decided is the schedule after one more decision.
func (s *Schedule) decided(r TickRecord) *Schedule {
	next := *s
	next.LastTick = r.Tick
	if r.JobID != "" {
		next.Fired++
	} else {
		next.Skipped += uint64(r.Ticks)
	}
	kept := s.Recent[max(0, len(s.Recent)-MaxTickRecords+1):]
	next.Recent = append(slices.Clone(kept), r)
	return &next
}
