package schedule_test

import (
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// The state of the open round, which the closed one made, is asked for during ten delays before it is made again, and
// the plan during fifty.
func TestHowLongAnObjectIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		round  uint32
		object *pb.ObjectRef
		delays time.Duration
	}{{1, ref(50), 10}, {0, ref(2), 50}} {
		for _, late := range []time.Duration{-1, 0} {
			d := newDesk(t, 1, 1)
			d.commit(node(0, 0))
			d.closeRound(50)
			d.now += time.Minute
			d.register("w", 1)
			if cmd := d.missing("w", d.lease("w", 1)[0], c.round, c.object); cmd != nil {
				t.Fatalf("the first word was taken: %v", cmd)
			}
			d.now += c.delays*d.cfg.RetryDelay + late
			if cmd := d.missing("w", d.lease("w", 1)[0], c.round, c.object); (cmd.GetUncommit() != nil) != (late == 0) {
				t.Errorf("%v after %d delays: %v", late, c.delays, cmd)
			}
		}
	}
}

// closeRound commits the step, which makes a state; nobody is named as its maker, so it is not audited.
func (d *desk) closeRound(state uint64) { d.closeRoundBy("", state) }

func (d *desk) closeRoundBy(worker string, state uint64) {
	d.Helper()
	d.view = run(d.T, d.view, completions(by(worker, &pb.Completion{
		Id:     &pb.TaskID{JobId: "a", Round: jobOf(d.view, "a").Rounds.Open.Number, Kind: pb.TaskKind_TASK_KIND_STEP},
		Output: &pb.TaskOutput{Next: &pb.Next{Phase: "count", Trees: []uint32{1}, State: ref(state)}},
	})))
}

// One worker's word is enough the fourth time, when another never gets as far.
func TestTheFourthReportIsBelieved(t *testing.T) {
	d, partial := mergeDesk(t, "w2")
	for attempt := range d.cfg.MaxAttempts {
		cmd := d.missing("w", d.wantNodes("w", 1, node(1, 0))[0], 1, partial)
		if last := attempt == d.cfg.MaxAttempts-1; (cmd != nil) != last {
			t.Fatalf("report %d: %v", attempt+1, cmd)
		}
		d.now += 10 * time.Second
		d.register("w", 1)
		d.register("w2", 1)
		if g := d.lease("w2", 1); len(g) == 1 {
			d.fault("w2", g[0], infraClass, protocol.CodeStore)
		}
		d.now += 10 * time.Second
	}
}

// How long the store refuses counts from its first refusal, whenever that was. At the limit the job fails, and the
// message names the limit.
func TestARefusalCountsFromItsBeginning(t *testing.T) {
	for _, c := range []struct {
		patience, after time.Duration
		fails           bool
	}{
		{16 * time.Minute, 16*time.Minute - 1, false}, {16 * time.Minute, 16 * time.Minute, true},
		{0, 100 * time.Hour, false},
	} {
		d := newDesk(t, 1, 4)
		d.cfg.DenyPatience = c.patience
		d.board = schedule.NewBoard(d.cfg, 1, d.view, 0)
		d.now = 5 * time.Hour
		d.register("w", 1)
		d.fault("w", d.lease("w", 1)[0], infraClass, protocol.CodeStoreDenied)
		d.now += c.after
		d.register("w", 1)
		cmd := d.fault("w", d.lease("w", 1)[0], infraClass, protocol.CodeStoreDenied)
		if (cmd != nil) != c.fails {
			t.Errorf("patience %v, after %v: %v", c.patience, c.after, cmd)
		}
		if text := cmd.GetFail().GetFailure().GetMessage(); c.fails && text != "for 16m0s: broke" {
			t.Error(text)
		}
		since, _, _, waits := d.board.Store.Denied(jobOf(d.view, "a"), d.now)
		if !waits || since != c.after || d.board.Store.DeniedJobs() != 1 {
			t.Errorf("refused for %v, want %v; %d jobs", since, c.after, d.board.Store.DeniedJobs())
		}
	}
	if n := newDesk(t, 1, 4).board.Store.DeniedJobs(); n != 0 {
		t.Errorf("%d jobs of a board that knows none", n)
	}
}

// A refusal that one worker meets ends the job when no other is there, and that two meet ends it beside a third.
func TestWhoMeetsARefusal(t *testing.T) {
	for _, c := range []struct {
		first, second string
		fails         bool
	}{{"w", "w", false}, {"w", "x", true}} {
		d := newDesk(t, 1, 8)
		d.register("x", 1)
		d.fault(c.first, d.lease(c.first, 1)[0], infraClass, protocol.CodeStoreDenied)
		d.now += d.cfg.DenyPatience
		for _, worker := range []string{"w", "x", "y"} {
			d.register(worker, 1)
		}
		cmd := d.fault(c.second, d.lease(c.second, 1)[0], infraClass, protocol.CodeStoreDenied)
		if (cmd != nil) != c.fails {
			t.Errorf("refused to %s, then %s: %v", c.first, c.second, cmd)
		}
	}
}

// A node's fault is forgotten when the node is committed, by itself or in parts, and not before.
func TestFaultsEndWithTheWork(t *testing.T) {
	d := newDesk(t, 1, 16)
	d.fault("w", d.wantNodes("w", 1, node(2, 0))[0], taskClass, protocol.CodePanic)
	for i, want := range []int{1, 1, 1, 0} {
		d.commit(node(0, i))
		if tries, _ := d.board.Jobs.Trouble(jobOf(d.view, "a")); tries != want {
			t.Errorf("leaf %d is done: %d tries, want %d", i, tries, want)
		}
	}
	d.now += time.Minute
	d.register("w", 1)
	d.fault("w", d.wantNodes("w", 1, node(1, 2))[0], taskClass, protocol.CodePanic)
	d.commit(node(1, 2))
	if tries, _ := d.board.Jobs.Trouble(jobOf(d.view, "a")); tries != 0 {
		t.Errorf("the node is done: %d tries", tries)
	}
}
