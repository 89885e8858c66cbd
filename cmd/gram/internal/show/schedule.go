package show

import (
	"encoding/json"
	"strings"

	"github.com/gram-compute/gram/protocol/gramv1"
)

// Schedule is a schedule as -o json prints it.
type Schedule struct {
	SchemaVersion        int             `json:"schema_version,omitempty"`
	ID                   string          `json:"id"`
	State                string          `json:"state"`
	HeldSince            string          `json:"held_since,omitempty"`
	Problem              string          `json:"problem,omitempty"`
	Cron                 string          `json:"cron"`
	TimeZone             string          `json:"time_zone"`
	Overlap              string          `json:"overlap"`
	CatchUp              string          `json:"catch_up"`
	CatchUpMax           uint32          `json:"catch_up_max,omitempty"`
	StartDeadlineSeconds float64         `json:"start_deadline_seconds,omitempty"`
	JitterSeconds        float64         `json:"jitter_seconds,omitempty"`
	LastTick             string          `json:"last_tick"`
	LatestJob            string          `json:"latest_job,omitempty"`
	LatestTick           string          `json:"latest_tick,omitempty"`
	Next                 []string        `json:"next"`
	Fired                uint64          `json:"fired"`
	Skipped              uint64          `json:"skipped"`
	JobsActive           uint32          `json:"jobs_active"`
	Recent               []decisionView  `json:"recent,omitempty"`
	Spec                 json.RawMessage `json:"spec,omitempty"`
}

type decisionView struct {
	First string `json:"first"`
	Tick  string `json:"tick"`
	Ticks uint32 `json:"ticks"`
	Job   string `json:"job,omitempty"`
	Skip  string `json:"skip,omitempty"`
}

// OfSchedule converts a schedule.
func OfSchedule(s *gramv1.Schedule) Schedule {
	d := s.GetDefinition()
	v := Schedule{
		ID: d.GetId(), State: ScheduleState(s), HeldSince: Timestamp(s.GetHeldUnixMs()), Problem: s.GetProblem(),
		Cron: d.GetCron(), TimeZone: d.GetTimeZone(),
		Overlap: OverlapWord(d), CatchUp: CatchUpWord(d), CatchUpMax: d.GetCatchUpMax(),
		StartDeadlineSeconds: seconds(0, d.GetStartDeadlineMs()), JitterSeconds: seconds(0, d.GetJitterMs()),
		LastTick: Timestamp(s.GetLastTickUnixMs()), LatestJob: s.GetLatestJobId(),
		LatestTick: Timestamp(s.GetLatestTickUnixMs()), Next: []string{}, Fired: s.GetFired(), Skipped: s.GetSkipped(),
		JobsActive: s.GetJobsActive(), Spec: json.RawMessage(d.GetSpecJson()),
	}
	for _, at := range s.GetNextTicksUnixMs() {
		v.Next = append(v.Next, Timestamp(at))
	}
	for _, r := range s.GetRecent() {
		v.Recent = append(v.Recent, decisionView{Timestamp(r.GetFirstUnixMs()), Timestamp(r.GetTickUnixMs()),
			r.GetTicks(), r.GetJobId(), SkipWord(r)})
	}
	return v
}

// ScheduleState is active, paused, held or broken.
func ScheduleState(s *gramv1.Schedule) string {
	switch {
	case s.GetProblem() != "":
		return "broken"
	case s.GetHeldUnixMs() != 0:
		return "held"
	case s.GetPaused():
		return "paused"
	}
	return "active"
}

// OverlapWord is the overlap policy as spec files spell it.
func OverlapWord(d *gramv1.ScheduleDefinition) string {
	return strings.ToLower(enumWord(d.GetOverlap().String(), "SCHEDULE_OVERLAP_"))
}

// CatchUpWord is the catch-up policy as spec files spell it.
func CatchUpWord(d *gramv1.ScheduleDefinition) string {
	return strings.ToLower(enumWord(d.GetCatchUp().String(), "CATCH_UP_"))
}

// SkipWord is why a tick was skipped; "" if it was not.
func SkipWord(r *gramv1.TickRecord) string {
	if r.GetSkip() == gramv1.SkipReason_SKIP_REASON_UNSPECIFIED {
		return ""
	}
	return strings.ToLower(enumWord(r.GetSkip().String(), "SKIP_REASON_"))
}
