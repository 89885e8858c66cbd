package state_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Every field of a definition at its bounds, and one beyond.
func TestDefinitionsAtTheirBounds(t *testing.T) {
	const year = 366 * day
	type counts []int64
	for name, c := range map[string]struct {
		set            func(p *pb.PutSchedule, n int64)
		within, beyond counts
	}{
		"the id": {
			func(p *pb.PutSchedule, n int64) { p.Id = strings.Repeat("a", int(n)) }, counts{1, 40}, counts{0, 41},
		},
		"the job": {
			func(p *pb.PutSchedule, n int64) { p.JobJson = make([]byte, n) }, counts{1, 64 << 10},
			counts{0, 64<<10 + 1},
		},
		"the expression": {
			func(p *pb.PutSchedule, n int64) { p.Cron = strings.Repeat("*", int(n)) }, counts{1, 256}, counts{0, 257},
		},
		"the zone": {
			func(p *pb.PutSchedule, n int64) { p.TimeZone = strings.Repeat("x", int(n)) }, counts{1, 64}, counts{0, 65},
		},
		"the overlap": {
			func(p *pb.PutSchedule, n int64) { p.Overlap = pb.ScheduleOverlap(n) }, counts{1, 4}, counts{-1, 0, 5},
		},
		"the catch-up": {func(p *pb.PutSchedule, n int64) {
			if p.CatchUp = pb.CatchUp(n); p.CatchUp == pb.CatchUp_CATCH_UP_ALL {
				p.CatchUpMax = 1
			}
		}, counts{1, 2, 3}, counts{-1, 0, 4}},
		"the number of a catch-up": {func(p *pb.PutSchedule, n int64) {
			p.CatchUp, p.CatchUpMax = pb.CatchUp_CATCH_UP_ALL, uint32(n)
		}, counts{1, 100}, counts{0, 101}},
		"a number of another": {func(p *pb.PutSchedule, n int64) { p.CatchUpMax = uint32(n) }, counts{0}, counts{1}},
		"the deadline": {
			func(p *pb.PutSchedule, n int64) { p.StartDeadlineMs = n }, counts{0, year}, counts{-1, year + 1},
		},
		"the jitter": {func(p *pb.PutSchedule, n int64) { p.JitterMs = n }, counts{0, year}, counts{-1, year + 1}},
	} {
		for _, n := range slices.Concat(c.within, c.beyond) {
			cmd := putSchedule("n", 1)
			c.set(cmd.GetPutSchedule(), n)
			within := slices.Contains(c.within, n)
			_, reply := state.Apply(state.New(), cmd)
			if (reply.Err == nil) != within || !within && reply.Err.Reason != state.Malformed {
				t.Errorf("%s, %d: %v", name, n, reply.Err)
			}
		}
	}
}

// A tick is skipped for a reason that is known, the first of them and the last included.
func TestTicksAreSkippedForAKnownReason(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	for reason := pb.SkipReason(-1); int(reason) <= len(pb.SkipReason_name); reason++ {
		cmd := skip(s, "n", 2000, 2000, 1)
		cmd.GetFireTick().Skip = reason
		_, named := pb.SkipReason_name[int32(reason)]
		if !named || reason == pb.SkipReason_SKIP_REASON_UNSPECIFIED {
			refused(t, s, cmd, state.Malformed, "")
			continue
		}
		after, _ := run(t, s, cmd)
		if sched, _ := after.Schedule("n"); sched.Skipped != 1 || sched.LastTick != 2000 ||
			sched.Recent[0].Skip != reason {
			t.Errorf("one tick skipped for reason %v: %+v", reason, sched)
		}
	}
}

// Ticks are skipped one at a time or several in a row, never backwards, and never again what is decided.
func TestRunsOfSkippedTicks(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	for _, c := range []struct {
		first, last int64
		ticks       uint32
		taken       bool
	}{
		{2000, 2000, 1, true}, {2000, 2001, 2, true}, {1001, 2000, 2, true}, {1000, 2000, 2, false},
		{2001, 2000, 1, false}, {2001, 2000, 2, false}, {2000, 2000, 2, false},
		{2000, 2001, 1, false}, {2000, 2000, 0, false},
	} {
		cmd := skip(s, "n", c.first, c.last, c.ticks)
		if _, reply := state.Apply(s, cmd); (reply.Err == nil) != c.taken {
			t.Errorf("%d ticks from %d to %d: %v", c.ticks, c.first, c.last, reply.Err)
		}
	}
}

// The job of a tick is bounded as any other, and brings no id: the id follows from the tick.
func TestTheJobOfATickIsBounded(t *testing.T) {
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
		cmd.GetFireTick().Job = c.job
		if _, reply := state.Apply(s, cmd); (reply.Err == nil) != c.taken || c.taken && !reply.Created {
			t.Errorf("%s: %v", name, reply.Err)
		}
	}
}
