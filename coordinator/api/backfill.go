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
	maxBackfill = 100         // ticks of one call
	clockSkew   = time.Minute // how far a client's clock may be ahead of ours
)

// TriggerSchedule makes the job of an instant. It is no decision on a tick: the schedule goes
// on as if nothing had been, and a tick of the same instant finds its job made.
func (s *Schedules) TriggerSchedule(
	ctx context.Context, req *connect.Request[pb.TriggerScheduleRequest],
) (*connect.Response[pb.TriggerScheduleResponse], error) {
	tick := req.Msg.GetTickUnixMs()
	if tick <= 0 || time.UnixMilli(tick).UTC().After(s.Wall().Add(clockSkew)) {
		return nil, connect.NewError(connect.CodeInvalidArgument,
			fmt.Errorf("the tick %s is not an instant of the past; here it is %s",
				time.UnixMilli(tick).UTC().Format(time.RFC3339), s.Wall().UTC().Format(time.RFC3339)))
	}
	_, sched, err := s.readSchedule(ctx, req.Msg.GetId())
	if err != nil {
		return nil, err
	}
	reply, err := s.submitTick(ctx, sched, tick)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.TriggerScheduleResponse{Job: s.Describe(reply.Job), Created: reply.Created}), nil
}

// submitTick submits the job of an instant under the id that follows from schedule and instant.
func (s *Schedules) submitTick(ctx context.Context, sched *state.Schedule, tick int64) (state.Reply, error) {
	job, err := s.handJob(ctx, sched, tick)
	if err != nil {
		return state.Reply{}, err
	}
	return s.Agree(ctx, &pb.Command{Body: &pb.Command_Submit{Submit: job}})
}

func (s *Schedules) handJob(ctx context.Context, sched *state.Schedule, tick int64) (*pb.SubmitJob, error) {
	view, _ := s.View()
	job, err := s.Commands.Tick(view, sched, time.UnixMilli(tick).UTC())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	job.Id, job.ScheduleId, job.TickUnixMs = sched.TickJobID(tick), sched.ID(), tick
	job.SubmittedBy = gate.CallerOf(ctx).TokenID
	return job, nil
}

// BackfillSchedule submits the jobs of the ticks of an interval.
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
		var tick *pb.BackfilledTick
		if len(res.Ticks) < maxBackfill {
			if tick, err = s.backfill(ctx, view, sched, at.UnixMilli(), req.Msg.GetDryRun()); err != nil &&
				len(res.Ticks) == 0 {
				return nil, err
			}
		}
		if tick == nil { // the rest is for the next call, which tells the error too
			res.NextUnixMs = at.UnixMilli()
			break
		}
		res.Ticks = append(res.Ticks, tick)
	}
	return connect.NewResponse(res), nil
}

// backfill submits the job of one tick unless it is there. What is there under an earlier
// definition stays.
func (s *Schedules) backfill(
	ctx context.Context, view state.State, sched *state.Schedule, tick int64, dry bool,
) (*pb.BackfilledTick, error) {
	job, err := s.handJob(ctx, sched, tick)
	if err != nil {
		return nil, err
	}
	out := &pb.BackfilledTick{TickUnixMs: tick, JobId: job.GetId()}
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
