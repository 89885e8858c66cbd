package state_test

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Every field of a definition at its bounds, and one beyond.
func TestDefinitionsAtTheirBounds(t *testing.T) {
	const year = 366 * day
	define := func(spoil func(*pb.PutSchedule)) *pb.Command {
		cmd := putSchedule("n", 1)
		spoil(cmd.GetPutSchedule())
		return cmd
	}
	for name, c := range map[string]struct{ within, beyond func(*pb.PutSchedule) }{
		"the id": {func(p *pb.PutSchedule) { p.Id = strings.Repeat("a", 40) }, func(p *pb.PutSchedule) { p.Id = strings.Repeat("a", 41) }},
		"the job": {
			func(p *pb.PutSchedule) { p.JobJson = make([]byte, 64<<10) }, func(p *pb.PutSchedule) { p.JobJson = make([]byte, 64<<10+1) },
		},
		"a short job":          {func(p *pb.PutSchedule) { p.JobJson = make([]byte, 1) }, func(p *pb.PutSchedule) { p.JobJson = nil }},
		"the expression":       {func(p *pb.PutSchedule) { p.Cron = strings.Repeat("*", 256) }, func(p *pb.PutSchedule) { p.Cron = strings.Repeat("*", 257) }},
		"a short expression":   {func(p *pb.PutSchedule) { p.Cron = "*" }, func(p *pb.PutSchedule) { p.Cron = "" }},
		"the zone":             {func(p *pb.PutSchedule) { p.TimeZone = strings.Repeat("x", 64) }, func(p *pb.PutSchedule) { p.TimeZone = strings.Repeat("x", 65) }},
		"a short zone":         {func(p *pb.PutSchedule) { p.TimeZone = "x" }, func(p *pb.PutSchedule) { p.TimeZone = "" }},
		"the first overlap":    {func(p *pb.PutSchedule) { p.Overlap = 1 }, func(p *pb.PutSchedule) { p.Overlap = 0 }},
		"the last overlap":     {func(p *pb.PutSchedule) { p.Overlap = pb.ScheduleOverlap_SCHEDULE_OVERLAP_QUEUE }, func(p *pb.PutSchedule) { p.Overlap = 5 }},
		"no catch-up":          {func(p *pb.PutSchedule) { p.CatchUp = pb.CatchUp_CATCH_UP_NONE }, func(p *pb.PutSchedule) { p.CatchUp = 0 }},
		"the largest catch-up": {catchUp(100), catchUp(101)},
		"the least catch-up":   {catchUp(1), catchUp(0)},
		"another catch-up":     {func(p *pb.PutSchedule) { p.CatchUpMax = 0 }, func(p *pb.PutSchedule) { p.CatchUpMax = 1 }},
		"the kinds of catch-up": {
			catchUp(1), func(p *pb.PutSchedule) { p.CatchUp = pb.CatchUp_CATCH_UP_ALL + 1 },
		},
		"the deadline": {func(p *pb.PutSchedule) { p.StartDeadlineMs = year }, func(p *pb.PutSchedule) { p.StartDeadlineMs = year + 1 }},
		"no deadline":  {func(p *pb.PutSchedule) { p.StartDeadlineMs = 0 }, func(p *pb.PutSchedule) { p.StartDeadlineMs = -1 }},
		"the jitter":   {func(p *pb.PutSchedule) { p.JitterMs = year }, func(p *pb.PutSchedule) { p.JitterMs = year + 1 }},
		"no jitter":    {func(p *pb.PutSchedule) { p.JitterMs = 0 }, func(p *pb.PutSchedule) { p.JitterMs = -1 }},
	} {
		if _, reply := state.Apply(state.New(), define(c.within)); reply.Err != nil {
			t.Errorf("%s at its bound: %v", name, reply.Err)
		}
		if _, reply := state.Apply(state.New(), define(c.beyond)); reply.Err == nil || reply.Err.Reason != state.Malformed {
			t.Errorf("%s beyond its bound: %v", name, reply.Err)
		}
	}
}

// catchUp has a schedule make up for at most so many slots.
func catchUp(most uint32) func(*pb.PutSchedule) {
	return func(p *pb.PutSchedule) { p.CatchUp, p.CatchUpMax = pb.CatchUp_CATCH_UP_ALL, most }
}

// A slot is skipped for a reason that is known, the first of them and the last included.
func TestSlotsAreSkippedForAKnownReason(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	for reason := pb.SkipReason(-1); int(reason) <= len(pb.SkipReason_name); reason++ {
		cmd := skip(s, "n", 2000, 2000, 1)
		cmd.GetFireSlot().Skip = reason
		_, named := pb.SkipReason_name[int32(reason)]
		if !named || reason == pb.SkipReason_SKIP_REASON_UNSPECIFIED {
			refused(t, s, cmd, state.Malformed, "")
			continue
		}
		after, _ := run(t, s, cmd)
		if sched, _ := after.Schedule("n"); sched.Skipped != 1 || sched.LastSlot != 2000 || sched.Recent[0].Skip != reason {
			t.Errorf("one slot skipped for reason %v: %+v", reason, sched)
		}
	}
}

// Slots are skipped one at a time or several in a row, never backwards, and never again what is decided.
func TestRunsOfSkippedSlots(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	for _, c := range []struct {
		first, last int64
		slots       uint32
		taken       bool
	}{
		{2000, 2000, 1, true}, {2000, 2001, 2, true}, {1001, 2000, 2, true}, {1000, 2000, 2, false},
		{2001, 2000, 1, false}, {2001, 2000, 2, false}, {2000, 2000, 2, false}, {2000, 2001, 1, false}, {2000, 2000, 0, false},
	} {
		cmd := skip(s, "n", c.first, c.last, c.slots)
		if _, reply := state.Apply(s, cmd); (reply.Err == nil) != c.taken {
			t.Errorf("%d slots from %d to %d: %v", c.slots, c.first, c.last, reply.Err)
		}
	}
}

// The job of a slot is bounded as any other, and brings no id: the slot tells it.
func TestTheJobOfASlotIsBounded(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	for name, c := range map[string]struct {
		job   *pb.SubmitJob
		taken bool
	}{
		"the longest spec": {&pb.SubmitJob{SpecHash: "h", SpecJson: make([]byte, protocol.MaxSpecBytes)}, true},
		"one byte more":    {&pb.SubmitJob{SpecHash: "h", SpecJson: make([]byte, protocol.MaxSpecBytes+1)}, false},
		"an id":            {&pb.SubmitJob{SpecHash: "h", Id: "a"}, false},
	} {
		cmd := fire(s, "n", 2000)
		cmd.GetFireSlot().Job = c.job
		if _, reply := state.Apply(s, cmd); (reply.Err == nil) != c.taken || c.taken && !reply.Created {
			t.Errorf("%s: %v", name, reply.Err)
		}
	}
}
