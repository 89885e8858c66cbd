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

// SlotJobID is the id of the job of a slot: a function of schedule and slot, so that
// the job of a slot is the same one, made now or by hand later.
func (s *Schedule) SlotJobID(slot int64) string {
	sum := sha256.New()
	sum.Write([]byte("gram schedule slot\x00" + s.ID() + "\x00"))
	sum.Write(numberKey(s.Number))
	sum.Write(numberKey(uint64(slot)))
	return s.ID() + "-" + hex.EncodeToString(sum.Sum(nil)[:10])
}

// applyFireSlot decides on a slot. That it happens once rests on two comparisons: the slot
// lies after the last one decided, and that is the one the proposer saw. The second also
// keeps a decision from passing over slots whose own decision was lost on the way.
func applyFireSlot(s State, cmd *pb.FireSlot) (State, Reply) {
	sched, ok := s.Schedule(cmd.GetScheduleId())
	switch {
	case !ok:
		return s, reject(NotFound, "no schedule %q", Clip(cmd.GetScheduleId(), 64))
	case s.Held():
		return s, reject(Conflict, "no slot is decided since the cluster was restored: release the schedules first")
	case cmd.GetRevision() != sched.Revision:
		return s, reject(Conflict, "schedule %s has changed since", sched.ID())
	case cmd.GetAfterUnixMs() != sched.LastSlot || cmd.GetSlotUnixMs() <= sched.LastSlot:
		return s, reject(Conflict, "slot %d of schedule %s is decided already", cmd.GetSlotUnixMs(), sched.ID())
	case (cmd.GetJob() == nil) == (cmd.GetSkip() == pb.SkipReason_SKIP_REASON_UNSPECIFIED):
		return s, reject(Malformed, "a slot either makes a job or is skipped for a reason")
	case cmd.GetJob() == nil:
		return skipSlots(s, sched, cmd)
	case len(cmd.GetJob().GetSpecJson()) > maxJobJSON || cmd.GetJob().GetId() != "":
		return s, reject(Malformed, "the job of a slot of schedule %s is too big or brings an id", sched.ID())
	}
	return fireSlot(s, sched, cmd)
}

// skipSlots records a run of slots that make no job.
func skipSlots(s State, sched *Schedule, cmd *pb.FireSlot) (State, Reply) {
	first, last, slots := cmd.GetFirstUnixMs(), cmd.GetSlotUnixMs(), cmd.GetSlots()
	if slots == 0 || first <= sched.LastSlot || first > last || (first == last) != (slots == 1) ||
		!knownReason(cmd.GetSkip()) {
		return s, reject(Malformed, "a skip of %d slots from %d to %d, for reason %d", slots, first, last,
			cmd.GetSkip())
	}
	sched = sched.decided(SlotRecord{First: first, Slot: last, Slots: slots, Skip: cmd.GetSkip()})
	return s.putSchedule(sched), Reply{Schedule: sched}
}

// SkipName is how a reason to skip is written in labels and audit lines: "overlap".
func SkipName(reason pb.SkipReason) string {
	return strings.ToLower(strings.TrimPrefix(reason.String(), "SKIP_REASON_"))
}

func knownReason(r pb.SkipReason) bool {
	return r >= pb.SkipReason_SKIP_REASON_PAUSED && r <= pb.SkipReason_SKIP_REASON_INVALID
}

// fireSlot makes the slot's job, after ending earlier ones where the schedule says so.
// A job that exists under its id, made by hand, is the slot's job if its spec is the same.
func fireSlot(s State, sched *Schedule, cmd *pb.FireSlot) (State, Reply) {
	slot := cmd.GetSlotUnixMs()
	job := proto.CloneOf(cmd.GetJob())
	job.Id, job.ScheduleId, job.SlotUnixMs = sched.SlotJobID(slot), sched.ID(), slot
	job.SubmittedBy = sched.Definition.GetSubmittedBy()
	before := s
	if sched.Definition.GetOverlap() == pb.ScheduleOverlap_SCHEDULE_OVERLAP_REPLACE {
		before = s.cancelJobsOf(sched.ID(), job.Id)
	}
	next, reply := accept(before, job, false)
	record := SlotRecord{First: slot, Slot: slot, Slots: 1}
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

// cancelJobsOf cancels the jobs of a schedule's slots but one.
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

// moveLatest lets a schedule's latest be job if it has succeeded and none for a later slot has.
func (s State) moveLatest(job *Job) State {
	if job.Stage != pb.JobState_JOB_STATE_SUCCEEDED || job.ScheduleID == "" {
		return s
	}
	old, ok := s.Schedule(job.ScheduleID)
	if !ok || job.ID != old.SlotJobID(job.Slot) || old.LatestJob != "" && job.Slot < old.LatestSlot {
		return s // of a schedule that was removed, or overtaken
	}
	sched := *old
	sched.LatestJob, sched.LatestSlot = job.ID, job.Slot
	return s.putSchedule(&sched)
}

// decided is the schedule after one more decision.
func (s *Schedule) decided(r SlotRecord) *Schedule {
	next := *s
	next.LastSlot = r.Slot
	if r.JobID != "" {
		next.Fired++
	} else {
		next.Skipped += uint64(r.Slots)
	}
	kept := s.Recent[max(0, len(s.Recent)-MaxSlotRecords+1):]
	next.Recent = append(slices.Clone(kept), r)
	return &next
}
