package coordinator

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

type scheduleService struct{ c *Coordinator }

// CreateSchedule checks the definition and proposes it.
func (s *scheduleService) CreateSchedule(ctx context.Context, req *connect.Request[pb.CreateScheduleRequest]) (*connect.Response[pb.CreateScheduleResponse], error) {
	cmd, err := s.c.commands.Schedule(req.Msg, s.c.wall())
	if err != nil {
		return nil, err
	}
	cmd.SubmittedBy = gate.CallerOf(ctx).TokenID
	reply, err := s.c.agree(ctx, &pb.Command{Body: &pb.Command_PutSchedule{PutSchedule: cmd}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.CreateScheduleResponse{Schedule: s.c.describeSchedule(reply.Schedule, 1), Created: reply.Created}), nil
}

// agree proposes a command; a refusal is an error.
func (c *Coordinator) agree(ctx context.Context, cmd *pb.Command) (state.Reply, error) {
	if _, err := c.leader(); err != nil {
		return state.Reply{}, err
	}
	reply, err := c.propose(ctx, cmd)
	switch {
	case err != nil:
		return reply, err
	case reply.Err != nil:
		return reply, reply.Err
	}
	return reply, nil
}

// GetSchedule reads one schedule.
func (s *scheduleService) GetSchedule(ctx context.Context, req *connect.Request[pb.GetScheduleRequest]) (*connect.Response[pb.GetScheduleResponse], error) {
	_, sched, err := s.c.readSchedule(ctx, req.Msg.GetId())
	if err != nil {
		return nil, err
	}
	out := s.c.describeSchedule(sched, int(min(req.Msg.GetNext(), 1000)))
	return connect.NewResponse(&pb.GetScheduleResponse{Schedule: out}), nil
}

func (c *Coordinator) readSchedule(ctx context.Context, id string) (state.State, *state.Schedule, error) {
	view, _, err := c.read(ctx)
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
func (s *scheduleService) ListSchedules(ctx context.Context, req *connect.Request[pb.ListSchedulesRequest]) (*connect.Response[pb.ListSchedulesResponse], error) {
	limit := int(min(req.Msg.GetLimit(), 1000))
	if limit == 0 {
		limit = 100
	}
	view, _, err := s.c.read(ctx)
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
			brief := s.c.describeSchedule(sched, 1)
			brief.Definition.SpecJson, brief.Recent = "", nil
			res.Schedules = append(res.Schedules, brief)
		}
		return !res.More
	})
	return connect.NewResponse(res), nil
}

// PauseSchedule proposes that slots pass.
func (s *scheduleService) PauseSchedule(ctx context.Context, req *connect.Request[pb.PauseScheduleRequest]) (*connect.Response[pb.PauseScheduleResponse], error) {
	reply, err := s.c.agree(ctx, &pb.Command{Body: &pb.Command_PauseSchedule{PauseSchedule: &pb.PauseSchedule{Id: req.Msg.GetId()}}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.PauseScheduleResponse{Schedule: s.c.describeSchedule(reply.Schedule, 1)}), nil
}

// ResumeSchedule proposes that slots fire again, from the next one on.
func (s *scheduleService) ResumeSchedule(ctx context.Context, req *connect.Request[pb.ResumeScheduleRequest]) (*connect.Response[pb.ResumeScheduleResponse], error) {
	reply, err := s.c.agree(ctx, &pb.Command{Body: &pb.Command_ResumeSchedule{ResumeSchedule: &pb.ResumeSchedule{Id: req.Msg.GetId()}}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.ResumeScheduleResponse{Schedule: s.c.describeSchedule(reply.Schedule, 1)}), nil
}

// ReleaseSchedules proposes that slots are decided again, after a restore.
func (s *scheduleService) ReleaseSchedules(ctx context.Context, _ *connect.Request[pb.ReleaseSchedulesRequest]) (*connect.Response[pb.ReleaseSchedulesResponse], error) {
	reply, err := s.c.agree(ctx, &pb.Command{Body: &pb.Command_ReleaseSchedules{ReleaseSchedules: &pb.ReleaseSchedules{}}})
	if err != nil {
		return nil, err
	}
	view, _ := s.c.fsm.View()
	return connect.NewResponse(&pb.ReleaseSchedulesResponse{Schedules: uint32(view.ScheduleCount()), Released: reply.Created}), nil
}

// RemoveSchedule proposes the schedule's end; its jobs stay.
func (s *scheduleService) RemoveSchedule(ctx context.Context, req *connect.Request[pb.RemoveScheduleRequest]) (*connect.Response[pb.RemoveScheduleResponse], error) {
	reply, err := s.c.agree(ctx, &pb.Command{Body: &pb.Command_RemoveSchedule{RemoveSchedule: &pb.RemoveSchedule{Id: req.Msg.GetId()}}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.RemoveScheduleResponse{Schedule: s.c.describeSchedule(reply.Schedule, 0)}), nil
}

// describeSchedule is a schedule as people see it, with so many of its next slots.
func (c *Coordinator) describeSchedule(sched *state.Schedule, next int) *pb.Schedule {
	d := sched.Definition
	view, _ := c.fsm.View()
	out := &pb.Schedule{
		Definition: &pb.ScheduleDefinition{
			Id: d.GetId(), SpecJson: string(d.GetJobJson()), Cron: d.GetCron(), TimeZone: d.GetTimeZone(), Overlap: d.GetOverlap(),
			CatchUp: d.GetCatchUp(), CatchUpMax: d.GetCatchUpMax(), StartDeadlineMs: d.GetStartDeadlineMs(), JitterMs: d.GetJitterMs(),
		},
		Paused: sched.Paused, LastSlotUnixMs: sched.LastSlot, Fired: sched.Fired, Skipped: sched.Skipped, Recent: sched.SlotRecords(),
		HeldUnixMs: view.HeldSince, LatestJobId: sched.LatestJob, LatestSlotUnixMs: sched.LatestSlot, JobsActive: uint32(view.JobsOf(sched.ID())),
	}
	table, err := command.TimetableOf(d.GetCron(), d.GetTimeZone())
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	from := utc(sched.LastSlot)
	if now := c.wall(); sched.Paused || view.Held() && from.Before(now) {
		from = now // what has passed is decided when it goes on
	}
	for at := range upcoming(table, from) {
		if next--; next < 0 {
			break
		}
		out.NextSlotsUnixMs = append(out.NextSlotsUnixMs, at.UnixMilli())
	}
	return out
}

// upcoming are a timetable's instants after the given one.
func upcoming(table schedule.Timetable, after time.Time) func(yield func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		for at := table.Next(after); !at.IsZero() && yield(at); at = table.Next(at) {
		}
	}
}
