package state

import (
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// ValidJobID reports whether id may name a job.
func ValidJobID(id string) bool { return protocol.ValidJobID(id) }

// applySubmit accepts a job, or recognises it: the same id and spec hash is the same job.
func applySubmit(s State, cmd *pb.SubmitJob) (State, Reply) {
	if !ValidJobID(cmd.GetId()) {
		return s, reject(Malformed, "job id %q: use 1 to 63 of a-z, 0-9 and -, not beginning with -", cmd.GetId())
	}
	if len(cmd.GetSpecJson()) > protocol.MaxSpecBytes {
		return s, reject(Malformed, "spec of job %s has %d bytes; at most %d are accepted", cmd.GetId(),
			len(cmd.GetSpecJson()), protocol.MaxSpecBytes)
	}
	if _, known := s.Job(cmd.GetId()); !known {
		for _, need := range cmd.GetNeeds() { // jobs before it: they form no circle
			if _, ok := s.Job(need); !ok {
				return s, reject(NotFound, "no job %q, which job %s needs; submit that one first", Clip(need, 64),
					cmd.GetId())
			}
		}
	}
	if cmd.GetScheduleId() == "" {
		return accept(s, cmd, false)
	}
	sched, ok := s.Schedule(cmd.GetScheduleId())
	switch {
	case !ok:
		return s, reject(NotFound, "no schedule %q", Clip(cmd.GetScheduleId(), 64))
	case cmd.GetId() != sched.TickJobID(cmd.GetTickUnixMs()):
		return s, reject(Conflict, "job %s is not that of tick %d of schedule %s", cmd.GetId(), cmd.GetTickUnixMs(),
			sched.ID())
	}
	return accept(s, cmd, true)
}

// accept is applySubmit after its checks; a job that a tick makes is no other.
func accept(s State, cmd *pb.SubmitJob, byHand bool) (State, Reply) {
	if old, ok := s.Job(cmd.GetId()); ok {
		if old.SpecHash != cmd.GetSpecHash() {
			return s, reject(Conflict, "job %s exists with another spec (hash %.12s, not %.12s); choose another id",
				old.ID, old.SpecHash, cmd.GetSpecHash())
		}
		return s, Reply{Job: old}
	}
	if gone, ok := s.Retired.Get(cmd.GetId()); ok {
		return s, reject(Conflict, "job %s was here and is retired; choose another id", gone.ID)
	}
	if model := cmd.GetModelJob(); model != "" {
		if job, ok := s.Job(model); !ok || !job.HasModel() {
			return s, reject(NotFound, "job %q, whose model job %s begins from, is not here any more", Clip(model, 64),
				cmd.GetId())
		}
	}
	if len(cmd.GetNeeds()) > protocol.MaxNeeds {
		return s, reject(Malformed, "job %s needs %d jobs; at most %d are accepted", cmd.GetId(), len(cmd.GetNeeds()),
			protocol.MaxNeeds)
	}
	if s.ActiveCount() >= MaxActiveJobs {
		return s, reject(Exhausted, "%d jobs have not ended; try again when one has", MaxActiveJobs)
	}
	if s.Room(cmd.GetSubmittedBy()) == 0 {
		return s, reject(Exhausted,
			"%d jobs of this token have not ended, and the last %d places are for others; try again when one has",
			MaxActiveOfToken, MaxActiveJobs-MaxActiveOfToken)
	}
	job := &Job{
		ID: cmd.GetId(), Name: cmd.GetName(), Kind: cmd.GetKind(), Number: s.NextJob,
		SpecJSON: cmd.GetSpecJson(), SpecHash: cmd.GetSpecHash(), ResultHash: cmd.GetResultHash(),
		Stage: pb.JobState_JOB_STATE_QUEUED, SubmittedAt: s.Now, Rounds: Rounds{Open: newRound(0, "", nil, Ref{}, 0)},
		ScheduleID: cmd.GetScheduleId(), Tick: cmd.GetTickUnixMs(), ByHand: byHand,
		Priority: int(cmd.GetPriority()), MaxWorkers: int(cmd.GetMaxWorkers()), Needs: cmd.GetNeeds(),
		Keep: cmd.GetKeepMs(), ModelURI: cmd.GetModelUri(), ModelJob: cmd.GetModelJob(),
		ModelReference: cmd.GetModelReference(),
		SubmittedBy:    cmd.GetSubmittedBy(),
		Audits:         Auditing{PPM: min(cmd.GetAuditPpm(), million)},
	}
	s.NextJob++
	return s.putJob(job), Reply{Job: job, Created: true}
}

// applyStart admits a queued job.
func applyStart(s State, cmd *pb.StartJob) (State, Reply) {
	job, ok := s.Job(cmd.GetId())
	if !ok {
		return s, reject(NotFound, "no job %q", cmd.GetId())
	}
	if job.Stage != pb.JobState_JOB_STATE_QUEUED {
		return s, Reply{Job: job}
	}
	job = job.clone()
	job.Stage, job.StartedAt = pb.JobState_JOB_STATE_PLANNING, s.Now
	return s.putJob(job), Reply{Job: job}
}

// MaxActiveOfToken is how many jobs that have not ended one token may have: the last tenth is left to others.
const MaxActiveOfToken = MaxActiveJobs - MaxActiveJobs/10

// Room is how many more jobs a token may have. Jobs of token "", in a cluster without tokens, share what there is.
// It takes time by the number of jobs that have not ended.
func (s State) Room(token string) int {
	room := MaxActiveJobs - s.ActiveCount()
	if token == "" {
		return max(0, room)
	}
	own := MaxActiveOfToken
	s.EachActive(func(job *Job) bool {
		if job.SubmittedBy == token {
			own--
		}
		return true
	})
	return max(0, min(room, own))
}
