package schedule_test

import (
	"fmt"
	"testing"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

func (d *desk) wantLoad(when string, want schedule.Load) {
	d.Helper()
	if got := d.board.Load(d.view, d.now); got != want {
		d.Errorf("%s: %+v, want %+v", when, got, want)
	}
}

// What there is to do is counted from the plan to the step; jobs in the queue want nothing.
func TestLoadOfAJob(t *testing.T) {
	d := &desk{T: t, cfg: schedule.DefaultConfig()}
	d.view = run(t, state.New(), submit("a"), start("a"), submit("queued"))
	d.board = schedule.NewBoard(d.cfg, 1, state.New(), 0)
	d.wantLoad("a plan to make", schedule.Load{Waiting: 1, Wanted: 1})
	d.register("w", 2)
	d.register("x", 3)
	d.lease("w", 1)
	d.wantLoad("a plan in the making", schedule.Load{Workers: 2, Slots: 5, Leased: 1, Wanted: 1})
	d.view = run(t, d.view, completions(planned("a", 3)))
	d.wantLoad("planned", schedule.Load{Workers: 2, Slots: 5, Waiting: 3, Wanted: 3})
	d.lease("w", 2)
	d.wantLoad("two of three leased", schedule.Load{Workers: 2, Slots: 5, Leased: 2, Waiting: 1, Wanted: 3})
	d.lease("x", 1)
	d.wantLoad("all leased", schedule.Load{Workers: 2, Slots: 5, Leased: 3, Wanted: 3})
	d.commit(node(0, 0), node(0, 1), node(0, 2))
	d.wantLoad("merges are left", schedule.Load{Workers: 2, Slots: 5, Waiting: 1, Wanted: 1})
	d.commit(node(2, 0))
	d.wantLoad("the step is left", schedule.Load{Workers: 2, Slots: 5, Waiting: 1, Wanted: 1})
	d.lease("w", 1)
	d.wantLoad("the step is leased", schedule.Load{Workers: 2, Slots: 5, Leased: 1, Wanted: 1})
	d.now = d.cfg.LeaseTTL - 1
	d.board.Known("x", d.now)
	d.now++
	d.wantLoad("w is silent", schedule.Load{Workers: 1, Slots: 3, Leased: 1, Wanted: 1})
}

// A job wants no more slots than its workers can have: as many as the widest has, for each.
func TestLoadOfAJobWithFewWorkers(t *testing.T) {
	for most, wanted := range map[uint32]int{0: 100, 1: 3, 2: 6, 33: 99, 34: 100} {
		d := newDesk(t, 2, 1)
		d.commit(node(0, 0))
		d.view = run(t, d.view, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}})
		d.register("x", 3)
		d.run(100, submitted("b", 0, most))
		d.wantLoad("b", schedule.Load{Workers: 2, Slots: 5, Waiting: 100, Wanted: wanted})
	}
}

// Leases are counted by job and by worker.
func TestLeasesAreCounted(t *testing.T) {
	d := newDesk(t, 2, 4)
	d.lease("w", 2)
	d.run(4, submit("b"))
	d.register("x", 2)
	d.lease("x", 2)
	for _, c := range []struct {
		job, worker string
		want        int
	}{
		{"", "", 4}, {"a", "", 2}, {"b", "", 2}, {"", "w", 2}, {"", "x", 2},
		{"a", "w", 2}, {"b", "w", 0}, {"b", "x", 2}, {"a", "y", 0},
	} {
		if got := d.board.Jobs.Leased(c.job, c.worker); got != c.want {
			t.Errorf("%d leases of job %q by worker %q, want %d", got, c.job, c.worker, c.want)
		}
	}
}

// A schedule that says nothing gets every default, and one that says something keeps it.
func TestDefaultsOfASchedule(t *testing.T) {
	definition := func(zone string, overlap pb.ScheduleOverlap, catchUp pb.CatchUp,
		most uint32) *pb.ScheduleDefinition {
		return &pb.ScheduleDefinition{TimeZone: zone, Overlap: overlap, CatchUp: catchUp, CatchUpMax: most}
	}
	const (
		forbid, queue = pb.ScheduleOverlap_SCHEDULE_OVERLAP_FORBID, pb.ScheduleOverlap_SCHEDULE_OVERLAP_QUEUE
		latest, all   = pb.CatchUp_CATCH_UP_LATEST, pb.CatchUp_CATCH_UP_ALL
	)
	for _, c := range []struct{ d, want *pb.ScheduleDefinition }{
		{&pb.ScheduleDefinition{}, definition("UTC", forbid, latest, 0)},
		{definition("Europe/Berlin", queue, all, 0), definition("Europe/Berlin", queue, all, state.MaxCatchUp)},
		{definition("Europe/Berlin", queue, all, 3), definition("Europe/Berlin", queue, all, 3)},
	} {
		if schedule.WithDefaults(c.d); !proto.Equal(c.d, c.want) {
			t.Errorf("%v, want %v", c.d, c.want)
		}
	}
}

// Of jobs with the same rank, those accepted before come before.
func TestWhoComesBeforeInTheQueue(t *testing.T) {
	cfg := schedule.DefaultConfig()
	view := run(t, state.New(), submit("first"), submit("second"), submit("third"))
	named := []string{"", ": first", ": first, second"}
	for before, id := range []string{"first", "second", "third"} {
		want := fmt.Sprintf("waits for its turn: 0 jobs run, 16 may at a time, and %d come before it%s", before,
			named[before])
		if why := schedule.Waits(cfg, view, jobOf(view, id)); why != want {
			t.Errorf("%s %s", id, why)
		}
	}
}
