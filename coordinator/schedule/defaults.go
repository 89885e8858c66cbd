package schedule

import (
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// What a schedule is that does not say.
const (
	DefaultZone    = "UTC"
	DefaultOverlap = pb.ScheduleOverlap_SCHEDULE_OVERLAP_FORBID
	DefaultCatchUp = pb.CatchUp_CATCH_UP_LATEST
)

// WithDefaults writes into a definition what it leaves out.
func WithDefaults(d *pb.ScheduleDefinition) {
	if d.TimeZone == "" {
		d.TimeZone = DefaultZone
	}
	if d.Overlap == pb.ScheduleOverlap_SCHEDULE_OVERLAP_UNSPECIFIED {
		d.Overlap = DefaultOverlap
	}
	if d.CatchUp == pb.CatchUp_CATCH_UP_UNSPECIFIED {
		d.CatchUp = DefaultCatchUp
	}
	if d.CatchUp == pb.CatchUp_CATCH_UP_ALL && d.CatchUpMax == 0 {
		d.CatchUpMax = state.MaxCatchUp
	}
}
