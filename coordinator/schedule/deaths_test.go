package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// crew are workers of a desk, on its clock. Each that ends is replaced by another process.
type crew struct {
	*desk
	workers []*hand
	born    int
	deaths  int
	poison  func(schedule.Grant) bool // ends the worker that begins with it
	takes   func() int                // spells of a task
	alone   int                       // grants of tasks that had to be alone
}

type hand struct {
	id    string
	slots int
	held  []schedule.Grant
	left  []int // spells of each
}

func newCrew(t *testing.T, workers, slots int, trees ...uint32) *crew {
	c := &crew{desk: newDesk(t, slots, trees...), poison: func(schedule.Grant) bool {
		return false
	}, takes: func() int { return 1 }}
	c.now = 11 * c.cfg.LeaseTTL // newDesk's worker is forgotten
	for range workers {
		c.workers = append(c.workers, nil)
		c.replace(len(c.workers) - 1)
	}
	return c
}

func (c *crew) replace(at int) {
	c.born++
	c.workers[at] = &hand{id: fmt.Sprint("p", c.born), slots: 2}
	c.register(c.workers[at].id, c.workers[at].slots)
}

func (c *crew) kill(at int) {
	c.deaths++
	c.replace(at)
}

// work lets every worker work for a while, and returns the command that fails the job.
func (c *crew) work() *pb.Command {
	c.now += c.cfg.LeaseTTL / 10
	c.board.Expire(c.now)
	if cmds := c.board.Deaths.Condemned(c.view, c.now); len(cmds) > 0 {
		return cmds[0]
	}
	for at, w := range c.workers {
		var held []schedule.Held
		for _, g := range w.held {
			held = append(held, heldOf(g))
		}
		lost := c.board.Heartbeat(c.view, w.id, held, c.now)
		c.finish(w, lost)
		for _, g := range c.lease(w.id, w.slots-len(w.held)) {
			if c.poison(g) {
				c.kill(at)
				break
			}
			w.held, w.left = append(w.held, g), append(w.left, c.takes())
		}
		if w == c.workers[at] {
			c.checkAlone(w)
		}
	}
	return nil
}

// finish reports what is done, and drops what is lost.
func (c *crew) finish(w *hand, lost []schedule.Task) {
	for i := len(w.held) - 1; i >= 0; i-- {
		dropped := slices.Contains(lost, w.held[i].Task)
		if w.left[i]--; w.left[i] > 0 && !dropped {
			continue
		}
		if g := w.held[i]; !dropped && g.Task.Kind == pb.TaskKind_TASK_KIND_NODE {
			next, reply := state.Apply(c.view, completions(nodeDone(g.Task)))
			c.view = next // a speculative copy's report may be late
			c.board.Done(jobOf(c.view, "a"), g.Task, w.id, reply.Verdicts[0] == pb.Verdict_VERDICT_ACCEPTED, c.now)
		}
		w.held, w.left = slices.Delete(w.held, i, i+1), slices.Delete(w.left, i, i+1)
	}
}

// checkAlone: who has a task that must be alone has no other.
func (c *crew) checkAlone(w *hand) {
	for _, l := range c.board.Live() {
		if l.Worker == w.id && l.Alone {
			if c.alone++; len(w.held) != 1 {
				c.Fatalf("%s has %d tasks, one of which must be alone", w.id, len(w.held))
			}
		}
	}
}

func covers(g schedule.Grant, leaf int) bool {
	first, n := g.Task.Node.Index<<g.Task.Node.Level, 1<<g.Task.Node.Level
	return len(g.Pieces) == 0 && leaf >= first && leaf < first+n
}

// A leaf that ends every worker fails its job by name, after halves and four workers that had nothing else; all
// that is innocent gets done meanwhile, and other jobs go on.
func TestALeafThatEndsItsWorkers(t *testing.T) {
	c := newCrew(t, 3, 2, 64)
	const bad = 37
	c.poison = func(g schedule.Grant) bool { return g.Task.JobID == "a" && covers(g, bad) }
	c.takes = func() int { return 2 }
	var cmd *pb.Command
	for spells := 0; cmd == nil; spells++ {
		if spells > 1000 {
			t.Fatalf("the job has not failed after %d deaths", c.deaths)
		}
		cmd = c.work()
	}
	failure := cmd.GetFail().GetFailure()
	if failure.GetCode() != string(protocol.CodeWorkerDied) || failure.GetTask() != "round 1, tree 0, node 0/37" ||
		!strings.Contains(failure.GetMessage(), "leaf 37") {
		t.Errorf("failed with %v", failure)
	}
	if done := jobOf(c.view, "a").Rounds.Open.Covered; done != 63 {
		t.Errorf("%d leaves are done, want all but one", done)
	}
	if c.deaths > 10 || c.deaths < c.cfg.MaxDeaths+2 {
		t.Errorf("%d workers ended for it", c.deaths)
	}
	t.Logf("%d workers ended, %d looks at tasks that had to be alone", c.deaths, c.alone)
}

// Two such leaves are told apart from each other, and from a task that is only near them.
func TestTwoLeavesThatEndTheirWorkers(t *testing.T) {
	c := newCrew(t, 2, 2, 32)
	c.poison = func(g schedule.Grant) bool { return covers(g, 3) || covers(g, 20) }
	var cmd *pb.Command
	for spells := 0; cmd == nil && spells < 2000; spells++ {
		cmd = c.work()
	}
	if task := cmd.GetFail().GetFailure().GetTask(); task != "round 1, tree 0, node 0/3" &&
		task != "round 1, tree 0, node 0/20" {
		t.Errorf("failed with %v after %d deaths", cmd, c.deaths)
	}
}

// Workers that are killed at random, at any rate, fail no job: the work gets done, or goes on.
func TestRandomKillsFailNoJob(t *testing.T) {
	alone := 0
	defer func() {
		if alone == 0 {
			t.Error("no task ever had to be alone")
		}
	}()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(7, seed))
		workers, every := 1+rng.IntN(4), 3+rng.IntN(20)
		c := newCrew(t, workers, 2, 48)
		c.takes = func() int { return 1 + rng.IntN(5) }
		for range 1500 {
			if cmd := c.work(); cmd != nil {
				t.Fatalf("seed %d, %d workers, a kill in %d spells: after %d kills %v", seed, workers, every, c.deaths,
					cmd)
			}
			if rng.IntN(every) == 0 {
				c.kill(rng.IntN(workers))
			}
			if jobOf(c.view, "a").Rounds.Open.Complete() {
				break
			}
		}
		if alone += c.alone; !jobOf(c.view, "a").Rounds.Open.Complete() {
			t.Errorf("seed %d, %d workers, a kill in %d spells: %d of 48 leaves after %d kills", seed, workers, every,
				jobOf(c.view, "a").Rounds.Open.Covered, c.deaths)
		}
	}
}

// A worker that was silent and is heard of again has not ended: what its tasks were blamed for is taken back.
func TestAPausedWorkerIsNotLost(t *testing.T) {
	d := newDesk(t, 1, 4)
	for i := range 6 {
		id := fmt.Sprint("w", i)
		d.register(id, 4)
		g := d.lease(id, 4)
		if len(g) != 4 {
			t.Fatalf("worker %d was granted %d tasks", i, len(g))
		}
		d.now += d.cfg.LeaseTTL
		d.board.Expire(d.now)
		if n := d.board.Deaths.Count(jobOf(d.view, "a")); n != 1 {
			t.Fatalf("%d workers count", n)
		}
		d.board.Known(id, d.now)
		if n := d.board.Deaths.Count(jobOf(d.view, "a")); n != 0 {
			t.Fatalf("%d workers count after it came back", n)
		}
		d.now += time.Hour
		d.board.Expire(d.now)
	}
}
