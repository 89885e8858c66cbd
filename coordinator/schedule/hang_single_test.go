package schedule_test

import (
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// singleStandsStill has worker "w" lease a job's plan or report. That is not taken away while it gets on, however long
// it takes; it is taken away once it stands still for half an hour, and goes to another worker.
func (d *desk) singleStandsStill(kind pb.TaskKind) {
	d.Helper()
	g := d.lease("w", 1)[0]
	if g.Task.Kind != kind {
		d.Fatalf("granted %v", g.Task)
	}
	for progress := range uint64(100) {
		if lost := d.at(progress+1, g); len(lost) > 0 {
			d.Fatalf("lost at progress %d", progress)
		}
		d.now += time.Minute / 3
		d.board.Known("w", d.now)
	}
	if took := d.still(101, g, time.Hour); took < 30*time.Minute || took > 31*time.Minute {
		d.Errorf("taken away after %v", took)
	}
	d.register("other", 1)
	d.now += d.cfg.RetryDelay
	if again := d.lease("other", 1); len(again) != 1 || again[0].Task != g.Task {
		d.Errorf("the other worker is leased %v", again)
	}
}

// A plan that stands still is taken away, as a node is, and goes to another worker; one that gets on is not.
func TestAPlanThatStandsStill(t *testing.T) {
	d := &desk{T: t, cfg: schedule.DefaultConfig()}
	d.view = run(t, state.New(), submit("a"), start("a"))
	d.board = schedule.NewBoard(d.cfg, 1, state.New(), 0)
	d.register("w", 1)
	d.singleStandsStill(pb.TaskKind_TASK_KIND_PLAN)
}

// So is a report, also of a job whose steps were quick: there is no other report to compare it with.
func TestAReportThatStandsStill(t *testing.T) {
	d := newDesk(t, 1, 1)
	for range 9 {
		d.complete(d.lease("w", 1)[0].Task, pb.Verdict_VERDICT_ACCEPTED)
		d.lease("w", 1)
		d.now += 2 * time.Second
		d.board.Known("w", d.now)
		d.nextRound("count", 1)
	}
	d.complete(d.lease("w", 1)[0].Task, pb.Verdict_VERDICT_ACCEPTED)
	model := stepDone(9)
	model.Id.Round = 10
	d.view = run(t, d.view, completions(model))
	d.singleStandsStill(pb.TaskKind_TASK_KIND_REPORT)
}

// A step that stands still is taken away after half an hour, and after a minute once eight steps of the phase took less
// than a fifth of that.
func TestAStepThatStandsStill(t *testing.T) {
	d := newDesk(t, 1, 1)
	for round := range 9 {
		d.complete(d.lease("w", 1)[0].Task, pb.Verdict_VERDICT_ACCEPTED)
		g := d.lease("w", 1)[0]
		if g.Task.Kind != pb.TaskKind_TASK_KIND_STEP {
			t.Fatalf("granted %v", g.Task)
		}
		least := 30 * time.Minute
		if round == 8 {
			least = time.Minute
		}
		if round == 0 || round == 8 {
			if took := d.still(7, g, time.Hour); took < least || took > least+time.Minute {
				t.Errorf("round %d: taken away after %v", round, took)
			}
			d.now += d.cfg.RetryDelay
			g = d.lease("w", 1)[0] // the only worker there is
		}
		d.now += 2 * time.Second
		d.board.Known("w", d.now)
		d.at(8, g)
		d.nextRound("count", 1)
	}
}
