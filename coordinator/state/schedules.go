package state

import (
	"google.golang.org/protobuf/proto"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Schedule makes a job at each of its ticks. Here a tick is an instant that a proposer
// gives: which instants a cron expression means is not state's concern. A Schedule in a
// State is never changed: commands put a changed copy.
type Schedule struct {
	Definition     *pb.PutSchedule // not to be changed
	Number         uint64          // tells apart schedules of one id, one made after the other was removed
	Revision       uint64          // grows with each change, pause and resume
	Since          int64           // the last of these; ticks up to it are not fired. Unix milliseconds, as LastTick
	LastTick       int64           // the last tick decided, or when the schedule was made
	Paused         bool
	Fired, Skipped uint64       // ticks
	Recent         []TickRecord // the newest decisions, oldest first
	LatestJob      string       // of the latest tick whose job has succeeded; or empty
	LatestTick     int64
}

// TickRecord is what became of a tick, or of several in a row that were skipped.
type TickRecord struct {
	First, Tick int64  // Unix milliseconds
	Ticks       uint32 // from First to Tick
	JobID       string // fired
	Skip        pb.SkipReason
}

// ID names the schedule.
func (s *Schedule) ID() string { return s.Definition.GetId() }

// Schedule returns the schedule with this id. The caller must not change it.
func (s State) Schedule(id string) (*Schedule, bool) { return s.schedules.Get([]byte(id)) }

// ScheduleCount is how many schedules there are.
func (s State) ScheduleCount() int { return s.schedules.Len() }

// EachSchedule visits the schedules in order of id until visit returns false.
func (s State) EachSchedule(visit func(*Schedule) bool) {
	s.schedules.Root().Walk(func(_ []byte, sched *Schedule) bool { return !visit(sched) })
}

// SameSchedules reports, at once, that nothing has happened to schedules between two
// states; false may also mean that the states have no common history.
func (s State) SameSchedules(other State) bool { return s.schedules == other.schedules }

// EachJobOf visits the jobs of a schedule's ticks that have not ended, in order of acceptance. Those of a
// schedule that was removed are nobody's, though another may have its id by now.
func (s State) EachJobOf(scheduleID string, visit func(*Job) bool) {
	sched, ok := s.Schedule(scheduleID)
	if !ok {
		return
	}
	s.running.Root().WalkPrefix(runningKey(scheduleID), func(_ []byte, id string) bool {
		job, _ := s.Job(id)
		return job.ID == sched.TickJobID(job.Tick) && !visit(job)
	})
}

// JobsOf counts what EachJobOf visits.
func (s State) JobsOf(scheduleID string) int {
	count := 0
	s.EachJobOf(scheduleID, func(*Job) bool { count++; return true })
	return count
}

// runningKey ends with a byte that no id holds, so that no id's key begins another's.
func runningKey(scheduleID string) []byte { return append([]byte(scheduleID), 0) }

func (s State) putSchedule(sched *Schedule) State {
	s.schedules, _, _ = s.schedules.Insert([]byte(sched.ID()), sched)
	return s
}

func (s *Schedule) record() *pb.ScheduleRecord {
	return &pb.ScheduleRecord{
		Definition: s.Definition, Number: s.Number, Revision: s.Revision, SinceUnixMs: s.Since,
		LastTickUnixMs: s.LastTick, Paused: s.Paused, Fired: s.Fired, Skipped: s.Skipped, Recent: s.TickRecords(),
		LatestJobId: s.LatestJob, LatestTickUnixMs: s.LatestTick,
	}
}

// TickRecords are the newest decisions as they cross the wire.
func (s *Schedule) TickRecords() []*pb.TickRecord {
	var records []*pb.TickRecord
	for _, r := range s.Recent {
		records = append(records, &pb.TickRecord{
			FirstUnixMs: r.First, TickUnixMs: r.Tick, Ticks: r.Ticks, JobId: r.JobID, Skip: r.Skip,
		})
	}
	return records
}

func scheduleFrom(r *pb.ScheduleRecord) *Schedule {
	sched := &Schedule{
		Definition: r.GetDefinition(), Number: r.GetNumber(), Revision: r.GetRevision(), Since: r.GetSinceUnixMs(),
		LastTick: r.GetLastTickUnixMs(), Paused: r.GetPaused(), Fired: r.GetFired(), Skipped: r.GetSkipped(),
		LatestJob: r.GetLatestJobId(), LatestTick: r.GetLatestTickUnixMs(),
	}
	for _, one := range r.GetRecent() {
		sched.Recent = append(sched.Recent, TickRecord{
			First: one.GetFirstUnixMs(), Tick: one.GetTickUnixMs(), Ticks: one.GetTicks(), JobID: one.GetJobId(),
			Skip: one.GetSkip(),
		})
	}
	return sched
}

// applyPutSchedule makes a schedule, or changes it; the same definition again is no change.
func applyPutSchedule(s State, cmd *pb.PutSchedule, now int64) (State, Reply) {
	if refused := checkDefinition(cmd); refused != nil {
		return s, Reply{Err: refused}
	}
	definition := proto.CloneOf(cmd)
	definition.Replace = false
	old, exists := s.Schedule(cmd.GetId())
	switch {
	case exists && old.defines(definition):
		return s, Reply{Schedule: old}
	case exists && !cmd.GetReplace():
		return s, reject(Conflict,
			"schedule %s exists with another definition; remove it, choose another id, or ask to replace it",
			cmd.GetId())
	case !exists && s.ScheduleCount() >= MaxSchedules:
		return s, reject(Exhausted, "there are %d schedules already; remove one", MaxSchedules)
	case !exists:
		old = &Schedule{Number: s.NextJob, LastTick: now}
	}
	sched := *old
	sched.Definition = definition
	s, sched.Revision, sched.Since = s.revise(), s.NextJob, now
	return s.putSchedule(&sched), Reply{Schedule: &sched, Created: !exists}
}

// defines reports whether a definition is the schedule's, by whichever token it comes.
func (s *Schedule) defines(definition *pb.PutSchedule) bool {
	own := proto.CloneOf(s.Definition)
	own.SubmittedBy = definition.GetSubmittedBy()
	return proto.Equal(own, definition)
}

// revise takes the number of one change.
func (s State) revise() State {
	s.NextJob++
	return s
}

func checkDefinition(cmd *pb.PutSchedule) *Rejection {
	overlap, catchUp := cmd.GetOverlap(), cmd.GetCatchUp()
	if !ValidScheduleID(cmd.GetId()) {
		return reject(Malformed, "schedule id %q: use 1 to 40 of a-z, 0-9 and -, not beginning with -",
			Clip(cmd.GetId(), 64)).Err
	}
	bounds := []struct {
		ok   bool
		what string
	}{
		{len(cmd.GetJobJson()) > 0 && len(cmd.GetJobJson()) <= maxJobJSON, "its job must have 1 byte to 64 KiB"},
		{len(cmd.GetCron()) > 0 && len(cmd.GetCron()) <= 256, "its cron expression must have 1 to 256 bytes"},
		{len(cmd.GetTimeZone()) > 0 && len(cmd.GetTimeZone()) <= 64, "its time zone must have 1 to 64 bytes"},
		{overlap >= pb.ScheduleOverlap_SCHEDULE_OVERLAP_ALLOW && overlap <= pb.ScheduleOverlap_SCHEDULE_OVERLAP_QUEUE,
			"unknown overlap policy"},
		{catchUp >= pb.CatchUp_CATCH_UP_NONE && catchUp <= pb.CatchUp_CATCH_UP_ALL, "unknown catch-up policy"},
		{(catchUp == pb.CatchUp_CATCH_UP_ALL) == (cmd.GetCatchUpMax() > 0) && cmd.GetCatchUpMax() <= MaxCatchUp,
			"catch-up all, and no other, takes a number from 1 to 100"},
		{cmd.GetStartDeadlineMs() >= 0 && cmd.GetStartDeadlineMs() <= maxDelay,
			"its start deadline must lie between 0 and a year"},
		{cmd.GetJitterMs() >= 0 && cmd.GetJitterMs() <= maxDelay, "its jitter must lie between 0 and a year"},
	}
	for _, b := range bounds {
		if !b.ok {
			return reject(Malformed, "schedule %s: %s", cmd.GetId(), b.what).Err
		}
	}
	return nil
}

func applyRemoveSchedule(s State, cmd *pb.RemoveSchedule) (State, Reply) {
	schedules, old, found := s.schedules.Delete([]byte(cmd.GetId()))
	if !found {
		return s, reject(NotFound, "no schedule %q", Clip(cmd.GetId(), 64))
	}
	s.schedules = schedules
	return s, Reply{Schedule: old}
}

// applyPause pauses or resumes; what is so already stays as it is.
func applyPause(s State, id string, paused bool, now int64) (State, Reply) {
	old, ok := s.Schedule(id)
	switch {
	case !ok:
		return s, reject(NotFound, "no schedule %q", Clip(id, 64))
	case old.Paused == paused:
		return s, Reply{Schedule: old}
	}
	sched := *old
	s, sched.Revision, sched.Paused = s.revise(), s.NextJob, paused
	if !paused {
		sched.Since = now
	}
	return s.putSchedule(&sched), Reply{Schedule: &sched}
}
