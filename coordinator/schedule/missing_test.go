package schedule_test

import (
	"fmt"
	"testing"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Workers that fall silent are remembered while what they lost counts, so that it can be taken back, and no longer: a
// leader may see very many of them.
func TestSilentWorkersAreForgotten(t *testing.T) {
	for _, last := range []string{"job", "worker"} {
		d := newDesk(t, 1, 50)
		silence := func() { d.now += 11 * d.cfg.LeaseTTL; d.board.Expire(d.now) }
		for i := range 30 {
			id := fmt.Sprint("dies", i)
			d.register(id, 1)
			if len(d.lease(id, 1)) != 1 {
				t.Fatalf("%s has nothing to do", id)
			}
		}
		if last == "job" {
			silence()
		} else {
			d.now += 2 * d.cfg.LeaseTTL
			d.board.Expire(d.now)
		}
		if n := d.board.Missing(); n != 30 {
			t.Fatalf("%d silent workers are remembered while the job runs, want 30", n)
		}
		d.register("dies7", 1)
		if n := d.board.Missing(); n != 29 {
			t.Errorf("one is back, and %d are remembered", n)
		}
		d.view, _ = state.Apply(d.view, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}})
		d.lease("dies7", 1)
		if last == "worker" {
			silence()
		}
		if n := d.board.Missing(); n != 0 {
			t.Errorf("the %s went last: %d silent workers are remembered, and nothing counts any more", last, n)
		}
	}
}

// What one silent worker lost is done by another, and it is forgotten; the other silent one is not.
func TestASilentWorkerIsForgottenAlone(t *testing.T) {
	d := newDesk(t, 1, 50)
	lost := map[string]schedule.Grant{}
	for _, id := range []string{"done", "counts"} {
		d.register(id, 1)
		lost[id] = d.lease(id, 1)[0]
	}
	d.now += 11 * d.cfg.LeaseTTL
	d.board.Expire(d.now)
	d.register("w", 1)
	d.complete(lost["done"].Task, pb.Verdict_VERDICT_ACCEPTED)
	d.now += 11 * d.cfg.LeaseTTL
	d.board.Expire(d.now)
	if n := d.board.Missing(); n != 1 {
		t.Errorf("%d silent workers are remembered, want the one whose loss counts", n)
	}
}

// A worker is silent for long and comes back: what it lost counts against nothing any more.
func TestASilentWorkerComesBack(t *testing.T) {
	d := newDesk(t, 1, 4)
	d.register("x", 1)
	d.lease("x", 1)
	for range 40 {
		d.now += d.cfg.LeaseTTL / 2
		d.board.Known("w", d.now)
		d.board.Expire(d.now)
	}
	if lost, missing := d.board.Deaths.Count(jobOf(d.view, "a")), d.board.Missing(); lost != 1 || missing != 1 {
		t.Fatalf("silent: %d lost, %d missing", lost, missing)
	}
	d.register("x", 1)
	if lost, missing := d.board.Deaths.Count(jobOf(d.view, "a")), d.board.Missing(); lost != 0 || missing != 0 {
		t.Errorf("back: %d lost, %d missing", lost, missing)
	}
}
