package command

import (
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

// Schedule checks a definition and writes the defaults in, those of its jobs' spec too.
// So equal definitions make equal commands, and a tick's job is refused here if it ever is.
func (m Maker) Schedule(req *pb.CreateScheduleRequest, now time.Time) (*pb.PutSchedule, error) {
	d := &pb.ScheduleDefinition{}
	proto.Merge(d, req.GetDefinition())
	schedule.WithDefaults(d)
	cmd := &pb.PutSchedule{
		Id: d.GetId(), Cron: d.GetCron(), TimeZone: d.GetTimeZone(), Overlap: d.GetOverlap(), CatchUp: d.GetCatchUp(),
		CatchUpMax: d.GetCatchUpMax(), StartDeadlineMs: d.GetStartDeadlineMs(), JitterMs: d.GetJitterMs(),
		Replace: req.GetReplace(),
	}
	table, err := TimetableOf(cmd.GetCron(), cmd.GetTimeZone())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	spec, err := protocol.ParseSpec([]byte(d.GetSpecJson()))
	if err == nil && len(spec.Spec.Run.Needs) > 0 {
		err = errors.New("spec.run.needs names jobs that are there once; the jobs of a schedule come again and " +
			"again: leave it out, or let one job do both")
	}
	if err == nil {
		spec, err = spec.WithTickDefaults(table.Tick(table.Next(now)), m.Validate)
	}
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	if cmd.JobJson, err = spec.Canonical(); err != nil {
		return nil, err
	}
	cmd.Model = spec.Spec.Model
	if err := m.checkOutput(spec.Spec.Output.URI); err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	if len(cmd.JobJson) > protocol.MaxSpecBytes {
		return nil, connect.NewError(connect.CodeInvalidArgument,
			fmt.Errorf("the spec has %d bytes with its defaults; at most %d are accepted", len(cmd.JobJson),
				protocol.MaxSpecBytes))
	}
	return cmd, nil
}
