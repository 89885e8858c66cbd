package state

import (
	"fmt"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

// Reason says why a command was refused; a refused command changes nothing but Now.
type Reason int

// The reasons for refusing a command.
const (
	Malformed Reason = iota + 1 // undecodable, unknown, or with fields that make no sense
	NotFound                    // names no job, token or schedule
	Conflict                    // the id is in use with another content, or the proposer's view was old
	Exhausted                   // a bound on the state is reached
	Ended                       // the job has ended
	Held                        // somebody names the job
	LastAdmin                   // nobody could make tokens any more
)

// Rejection is the error of a refused command.
type Rejection struct {
	Reason  Reason
	Message string
}

func (r *Rejection) Error() string { return r.Message }

func reject(reason Reason, format string, args ...any) Reply {
	return Reply{Err: &Rejection{Reason: reason, Message: fmt.Sprintf(format, args...)}}
}

// Reply is what the proposer of a command learns.
type Reply struct {
	Err      *Rejection
	Job      *Job         // the job concerned, as it is now
	Created  bool         // the command made the job, or the schedule
	Verdicts []pb.Verdict // one per completion
	Schedule *Schedule    // the schedule concerned, as it is now
	Token    *Token       // the token made, or as it was before it was revoked
	// Checkpoint: compare the state after this command with that of the other members.
	Checkpoint bool
	Retired    []string // the jobs that were
	Alias      Alias    // the alias concerned; as it was, when it is gone
	Previous   string   // the job that the alias meant before
}

// ApplyBytes decodes one log entry and applies it. It is total: any bytes give a reply.
func ApplyBytes(s State, entry []byte) (State, Reply) {
	var cmd pb.Command
	if err := proto.Unmarshal(entry, &cmd); err != nil {
		return s, reject(Malformed, "undecodable log entry: %v", err)
	}
	return Apply(s, &cmd)
}

// Apply is the one place where the state changes.
func Apply(s State, cmd *pb.Command) (State, Reply) {
	if cmd.GetSetClock() == nil {
		s.Now = max(s.Now, cmd.GetNowUnixMs())
	}
	switch body := cmd.GetBody().(type) {
	case *pb.Command_Init:
		return applyInit(s, body.Init)
	case *pb.Command_Submit:
		return applySubmit(s, body.Submit)
	case *pb.Command_Start:
		return applyStart(s, body.Start)
	case *pb.Command_Complete:
		return applyComplete(s, body.Complete)
	case *pb.Command_Fail:
		return applyFail(s, body.Fail)
	case *pb.Command_Cancel:
		return applyCancel(s, body.Cancel)
	case *pb.Command_PutToken:
		return applyPutToken(s, body.PutToken)
	case *pb.Command_RevokeToken:
		return applyRevokeToken(s, body.RevokeToken)
	}
	return applyToSchedule(s, cmd)
}

// applyToSchedule takes what is about schedules, and what is about members.
func applyToSchedule(s State, cmd *pb.Command) (State, Reply) {
	switch body := cmd.GetBody().(type) {
	case *pb.Command_PutSchedule:
		return applyPutSchedule(s, body.PutSchedule, cmd.GetNowUnixMs())
	case *pb.Command_RemoveSchedule:
		return applyRemoveSchedule(s, body.RemoveSchedule)
	case *pb.Command_PauseSchedule:
		return applyPause(s, body.PauseSchedule.GetId(), true, cmd.GetNowUnixMs())
	case *pb.Command_ResumeSchedule:
		return applyPause(s, body.ResumeSchedule.GetId(), false, cmd.GetNowUnixMs())
	case *pb.Command_FireTick:
		return applyFireTick(s, body.FireTick)
	case *pb.Command_Checkpoint:
		return s, Reply{Checkpoint: true}
	case *pb.Command_ReleaseSchedules:
		return applyRelease(s)
	case *pb.Command_RemoveMember:
		return applyRemoveMember(s, body.RemoveMember)
	}
	return applyUpkeep(s, cmd)
}

func applyUpkeep(s State, cmd *pb.Command) (State, Reply) {
	switch body := cmd.GetBody().(type) {
	case *pb.Command_WaiveAudits:
		return applyWaive(s, body.WaiveAudits)
	case *pb.Command_SetSecret:
		return applySetSecret(s, body.SetSecret)
	case *pb.Command_RetireJobs:
		return applyRetire(s, body.RetireJobs)
	case *pb.Command_MarkSwept:
		return applyMarkSwept(s, body.MarkSwept)
	case *pb.Command_SetAlias:
		return applySetAlias(s, body.SetAlias)
	case *pb.Command_Uncommit:
		return applyUncommit(s, body.Uncommit)
	case *pb.Command_RemoveAlias:
		return applyRemoveAlias(s, body.RemoveAlias)
	case *pb.Command_SetClock:
		return applySetClock(s, body.SetClock)
	}
	return s, reject(Malformed, "unknown command; the log was written by a newer release")
}
