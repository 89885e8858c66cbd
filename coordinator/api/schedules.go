package api

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Schedules implements gramv1connect.ScheduleServiceHandler.
type Schedules struct {
	Cluster
	Commands command.Maker
}

// CreateSchedule checks the definition and proposes it.
func (s *Schedules) CreateSchedule(
	ctx context.Context, req *connect.Request[pb.CreateScheduleRequest],
) (*connect.Response[pb.CreateScheduleResponse], error) {
	cmd, err := s.Commands.Schedule(req.Msg, s.Wall())
	if err != nil {
		return nil, err
	}
	cmd.SubmittedBy = gate.CallerOf(ctx).TokenID
	reply, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_PutSchedule{PutSchedule: cmd}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.CreateScheduleResponse{Schedule: s.describeSchedule(reply.Schedule, 1),
		Created: reply.Created}), nil
}

// GetSchedule reads one schedule.
func (s *Schedules) GetSchedule(
	ctx context.Context, req *connect.Request[pb.GetScheduleRequest],
) (*connect.Response[pb.GetScheduleResponse], error) {
	_, sched, err := s.readSchedule(ctx, req.Msg.GetId())
	if err != nil {
		return nil, err
	}
	out := s.describeSchedule(sched, int(min(req.Msg.GetNext(), 1000)))
	return connect.NewResponse(&pb.GetScheduleResponse{Schedule: out}), nil
}

func (s *Schedules) readSchedule(ctx context.Context, id string) (state.State, *state.Schedule, error) {
	view, _, err := s.Read(ctx)
	if err != nil {
		return view, nil, err
	}
	sched, ok := view.Schedule(id)
	if !ok {
		return view, nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("no schedule %.64q", id))
	}
	return view, sched, nil
}

// ListSchedules pages through the schedules, in order of id.
func (s *Schedules) ListSchedules(
	ctx context.Context, req *connect.Request[pb.ListSchedulesRequest],
) (*connect.Response[pb.ListSchedulesResponse], error) {
	limit := int(min(req.Msg.GetLimit(), 1000))
	if limit == 0 {
		limit = 100
	}
	view, _, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	res := &pb.ListSchedulesResponse{}
	view.EachSchedule(func(sched *state.Schedule) bool {
		switch {
		case sched.ID() <= req.Msg.GetAfter():
		case len(res.Schedules) == limit:
			res.More = true
		default:
			brief := s.describeSchedule(sched, 1)
			brief.Definition.SpecJson, brief.Recent = "", nil
			res.Schedules = append(res.Schedules, brief)
		}
		return !res.More
	})
	return connect.NewResponse(res), nil
}

// PauseSchedule proposes that ticks pass.
func (s *Schedules) PauseSchedule(
	ctx context.Context, req *connect.Request[pb.PauseScheduleRequest],
) (*connect.Response[pb.PauseScheduleResponse], error) {
	cmd := &pb.PauseSchedule{Id: req.Msg.GetId()}
	reply, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_PauseSchedule{PauseSchedule: cmd}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.PauseScheduleResponse{Schedule: s.describeSchedule(reply.Schedule, 1)}), nil
}

// ResumeSchedule proposes that ticks fire again, from the next one on.
func (s *Schedules) ResumeSchedule(
	ctx context.Context, req *connect.Request[pb.ResumeScheduleRequest],
) (*connect.Response[pb.ResumeScheduleResponse], error) {
	cmd := &pb.ResumeSchedule{Id: req.Msg.GetId()}
	reply, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_ResumeSchedule{ResumeSchedule: cmd}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.ResumeScheduleResponse{Schedule: s.describeSchedule(reply.Schedule, 1)}), nil
}

// ReleaseSchedules proposes that ticks are decided again, after a restore.
func (s *Schedules) ReleaseSchedules(
	ctx context.Context, _ *connect.Request[pb.ReleaseSchedulesRequest],
) (*connect.Response[pb.ReleaseSchedulesResponse], error) {
	cmd := &pb.ReleaseSchedules{}
	reply, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_ReleaseSchedules{ReleaseSchedules: cmd}})
	if err != nil {
		return nil, err
	}
	view, _ := s.View()
	return connect.NewResponse(&pb.ReleaseSchedulesResponse{Schedules: uint32(view.ScheduleCount()),
		Released: reply.Created}), nil
}

// RemoveSchedule proposes the schedule's end; its jobs stay.
func (s *Schedules) RemoveSchedule(
	ctx context.Context, req *connect.Request[pb.RemoveScheduleRequest],
) (*connect.Response[pb.RemoveScheduleResponse], error) {
	cmd := &pb.RemoveSchedule{Id: req.Msg.GetId()}
	reply, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_RemoveSchedule{RemoveSchedule: cmd}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.RemoveScheduleResponse{Schedule: s.describeSchedule(reply.Schedule, 0)}), nil
}
