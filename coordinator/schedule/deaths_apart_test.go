package schedule_test

import "testing"

// lostTwice is a desk of two leaves, the first of which must be alone, and of another job with plenty to do.
func lostTwice(t *testing.T) *desk {
	d := quietDesk(t, 2)
	d.diesWith("p1", node(0, 0))
	d.diesWith("p2", node(0, 0))
	d.run(100, submit("b"))
	return d
}

// A worker that has something is granted nothing more until it is free for what must be alone. Others go on, and one of
// them takes its place when it has been silent for a lease's time.
func TestAWorkerIsKeptApart(t *testing.T) {
	d := quietDesk(t, 2)
	d.diesWith("p1", node(0, 0))
	d.register("p2", 1)
	d.wantNodes("p2", 1, node(0, 0))
	d.register("x", 3)
	own := d.wantNodes("x", 1, node(0, 1))
	d.now += d.cfg.LeaseTTL - 1
	d.beat("x", own...)
	heard := d.now
	d.pass(1) // p2 has ended
	d.run(100, submit("b"))
	d.wantJobs("x", 2, "") // it has only looked
	d.register("y", 1)
	d.wantJobs("y", 1, "b")
	d.wantJobs("x", 2, "")
	d.now = heard + d.cfg.LeaseTTL - 1
	d.register("z", 1)
	d.wantJobs("z", 1, "b")
	d.now = heard + d.cfg.LeaseTTL
	d.register("late", 1)
	if g := d.wantNodes("late", 1, node(0, 0)); g[0].Task.JobID != "a" {
		t.Errorf("granted %v of job %s", g[0].Task, g[0].Task.JobID)
	}
}

// A worker with a task that had to be alone gets nothing else until it is done, even if the workers that it was lost
// with come back.
func TestAloneUntilItIsDone(t *testing.T) {
	d := lostTwice(t)
	d.register("x", 3)
	d.wantNodes("x", 3, node(0, 0))
	d.board.Known("p1", d.now)
	d.board.Known("p2", d.now)
	d.wantDeaths(0)
	d.wantNodes("x", 2)
	d.commit(node(0, 0))
	d.wantJobs("x", 2, "a b")
}
