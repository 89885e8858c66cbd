package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Tick is the job of a schedule's tick, the same wherever it is made.
func (m Maker) Tick(
	view state.State, sched *state.Schedule, at time.Time,
) (*pb.SubmitJob, error) {
	spec, err := protocol.ParseSpec(sched.Definition.GetJobJson())
	if err != nil {
		return nil, err
	}
	table, err := TimetableOf(sched.Definition.GetCron(), sched.Definition.GetTimeZone())
	if err != nil {
		return nil, err
	}
	if spec, err = spec.ForTick(table.Tick(at)); err != nil {
		return nil, err
	}
	id := sched.TickJobID(at.UnixMilli())
	job, err := m.Job(view, id, spec)
	if err != nil {
		return nil, err
	}
	job.Id = "" // FireTick takes none: it follows from the tick
	if size := len(job.GetSpecJson()); size > protocol.MaxSpecBytes {
		return nil, fmt.Errorf("the spec of the tick has %d bytes; at most %d are accepted", size,
			protocol.MaxSpecBytes)
	}
	return job, nil
}

// TimetableOf reads a cron rule in a time zone.
func TimetableOf(cron, zoneName string) (schedule.Timetable, error) {
	zone, err := LoadZone(zoneName)
	if err != nil {
		return schedule.Timetable{}, err
	}
	return schedule.ParseCron(cron, zone)
}

// errZone: no such time zone in this machine's table, nor in the program's.
var errZone = errors.New("unknown time zone")

// LoadZone reads a zone by its IANA name. "Local" would be another on every machine.
func LoadZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%w %q; give an IANA name such as Europe/Berlin, or UTC", errZone, name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%w %.64q; give an IANA name such as Europe/Berlin, or UTC", errZone, name)
	}
	return zone, nil
}
