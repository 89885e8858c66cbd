package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	maxBackfill = 100         // slots of one call
	clockSkew   = time.Minute // how far a client's clock may be ahead of ours
)

// TriggerSchedule makes the job of an instant. It is no decision on a slot: the schedule goes
// on as if nothing had been, and a slot of the same instant finds its job made.
func (s *Schedules) TriggerSchedule(
	ctx context.Context, req *connect.Request[pb.TriggerScheduleRequest],
) (*connect.Response[pb.TriggerScheduleResponse], error) {
	slot := req.Msg.GetSlotUnixMs()
	if slot <= 0 || time.UnixMilli(slot).UTC().After(s.Wall().Add(clockSkew)) {
		return nil, connect.NewError(connect.CodeInvalidArgument,
			fmt.Errorf("slot_unix_ms %d is not an instant of the past; here it is %s", slot,
				s.Wall().UTC().Format(time.RFC3339)))
	}
	_, sched, err := s.readSchedule(ctx, req.Msg.GetId())
	if err != nil {
		return nil, err
	}
	reply, err := s.submitSlot(ctx, sched, slot)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.TriggerScheduleResponse{Job: s.Describe(reply.Job), Created: reply.Created}), nil
}

// submitSlot submits the job of an instant under the id that follows from schedule and instant.
func (s *Schedules) submitSlot(ctx context.Context, sched *state.Schedule, slot int64) (state.Reply, error) {
	job, err := s.handJob(ctx, sched, slot)
	if err != nil {
		return state.Reply{}, err
	}
	return s.Agree(ctx, &pb.Command{Body: &pb.Command_Submit{Submit: job}})
}

func (s *Schedules) handJob(ctx context.Context, sched *state.Schedule, slot int64) (*pb.SubmitJob, error) {
	view, _ := s.View()
	job, err := s.Commands.Slot(view, sched, time.UnixMilli(slot).UTC())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	job.Id, job.ScheduleId, job.SlotUnixMs = sched.SlotJobID(slot), sched.ID(), slot
	job.SubmittedBy = gate.CallerOf(ctx).TokenID
	return job, nil
}

// BackfillSchedule submits the jobs of the slots of an interval.
func (s *Schedules) BackfillSchedule(
	ctx context.Context, req *connect.Request[pb.BackfillScheduleRequest],
) (*connect.Response[pb.BackfillScheduleResponse], error) {
	from, to := time.UnixMilli(req.Msg.GetFromUnixMs()).UTC(), time.UnixMilli(req.Msg.GetToUnixMs()).UTC()
	if req.Msg.GetFromUnixMs() < 0 || !from.Before(to) || to.After(s.Wall().Add(clockSkew)) {
		return nil, connect.NewError(connect.CodeInvalidArgument,
			fmt.Errorf("%s to %s is not an interval of the past; here it is %s",
				from.Format(time.RFC3339), to.Format(time.RFC3339), s.Wall().UTC().Format(time.RFC3339)))
	}
	view, sched, err := s.readSchedule(ctx, req.Msg.GetId())
	if err != nil {
		return nil, err
	}
	table, err := command.TimetableOf(sched.Definition.GetCron(), sched.Definition.GetTimeZone())
	if err != nil {
		return nil, err
	}
	res := &pb.BackfillScheduleResponse{}
	for at := range upcoming(table, from.Add(-time.Millisecond)) {
		if !at.Before(to) {
			break
		}
		var slot *pb.BackfilledSlot
		if len(res.Slots) < maxBackfill {
			if slot, err = s.backfill(ctx, view, sched, at.UnixMilli(), req.Msg.GetDryRun()); err != nil &&
				len(res.Slots) == 0 {
				return nil, err
			}
		}
		if slot == nil { // the rest is for the next call, which tells the error too
			res.NextUnixMs = at.UnixMilli()
			break
		}
		res.Slots = append(res.Slots, slot)
	}
	return connect.NewResponse(res), nil
}

// backfill submits the job of one slot unless it is there. What is there under an earlier
// definition stays.
func (s *Schedules) backfill(
	ctx context.Context, view state.State, sched *state.Schedule, slot int64, dry bool,
) (*pb.BackfilledSlot, error) {
	job, err := s.handJob(ctx, sched, slot)
	if err != nil {
		return nil, err
	}
	out := &pb.BackfilledSlot{SlotUnixMs: slot, JobId: job.GetId()}
	if old, exists := view.Job(job.GetId()); exists {
		out.Conflict = old.SpecHash != job.GetSpecHash()
		return out, nil
	}
	if dry {
		out.Created = true
		return out, nil
	}
	reply, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_Submit{Submit: job}})
	var refused *state.Rejection
	if errors.As(err, &refused) && refused.Reason == state.Conflict {
		out.Conflict = true
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.Created = reply.Created
	return out, nil
}
