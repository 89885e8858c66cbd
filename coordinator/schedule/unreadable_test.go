package schedule_test

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// fails has worker "w" fail a task until a command follows.
func (d *desk) fails(kind pb.TaskKind, code protocol.Code) *pb.Command {
	d.Helper()
	for range 1000 {
		for _, g := range d.lease("w", 1) {
			if g.Task.Kind != kind {
				d.Fatalf("granted %v, want a task of kind %v", g.Task, kind)
			}
			if cmd := d.fault("w", g, taskClass, code); cmd != nil {
				return cmd
			}
		}
		d.now += d.cfg.RetryDelay
		d.board.Known("w", d.now)
	}
	d.Fatal("it is tried without end")
	return nil
}

func nodesOf(cmd *pb.Command) (nodes []protocol.Node) {
	for _, id := range cmd.GetUncommit().GetTasks() {
		if id.GetKind() == leafKind {
			nodes = append(nodes, node(int(id.GetLevel()), int(id.GetIndex())))
		}
	}
	return nodes
}

// A fold fails of what it reads as often as a task may. What it reads is made again, three times; then the job fails of
// the task's fault. A fault that has another reason fails it at once.
func TestWhatAFoldCannotReadIsMadeAgain(t *testing.T) {
	for code, again := range map[protocol.Code]int{
		protocol.CodeCorrupt: state.MaxUnreadable, protocol.CodePanic: state.MaxUnreadable,
		protocol.CodeInternal: state.MaxUnreadable, protocol.CodeDeterminism: 0,
	} {
		d, _ := mergeDesk(t)
		for round := range again {
			cmd := d.fails(leafKind, code)
			change := cmd.GetUncommit()
			if change.GetReason() != pb.UncommitReason_UNCOMMIT_REASON_UNREADABLE ||
				len(nodesOf(cmd)) != 2 || len(change.GetTasks()) != 2 ||
				!strings.Contains(change.GetMessage(), "of what others made: broke") {
				t.Fatalf("%s, time %d: %v", code, round+1, cmd)
			}
			d.view = run(t, d.view, cmd)
			for _, g := range d.lease("w", 2) {
				if g.Task.Node.Level != 0 {
					t.Fatalf("granted %v", g.Task)
				}
				d.complete(g.Task, pb.Verdict_VERDICT_ACCEPTED)
			}
		}
		if cmd := d.fails(leafKind, code); cmd.GetFail().GetFailure().GetCode() != string(code) {
			t.Errorf("%s: %v", code, cmd)
		}
	}
}

// A leaf that cannot read the round's state, or its carry, has the round before made again. One that panics does not:
// that is most likely the record.
func TestWhatALeafCannotReadIsMadeAgain(t *testing.T) {
	d := newDesk(t, 1, 1)
	d.commit(node(0, 0))
	d.closeRound(50)
	if cmd := d.fails(leafKind, protocol.CodePanic); cmd.GetFail() == nil {
		t.Errorf("of a panic: %v", cmd)
	}
	cmd := d.fails(leafKind, protocol.CodeCorrupt)
	tasks := cmd.GetUncommit().GetTasks()
	if len(tasks) != 2 || tasks[0].GetKind() != pb.TaskKind_TASK_KIND_STEP || len(nodesOf(cmd)) != 1 {
		t.Fatalf("%v", cmd)
	}
	d.view = run(t, d.view, cmd)
	if job := jobOf(d.view, "a"); job.Rounds.Open.Number != 1 || job.Rounds.Open.Covered != 0 ||
		job.Counters.Remade.Reopened != 1 {
		t.Errorf("round %d, %d leaves, %+v", job.Rounds.Open.Number, job.Rounds.Open.Covered, job.Counters.Remade)
	}
}

// A step that cannot read its roots has them made again; so has a report, with the model.
func TestWhatAStepOrAReportCannotReadIsMadeAgain(t *testing.T) {
	d := newDesk(t, 1, 1)
	d.commit(node(0, 0))
	cmd := d.fails(pb.TaskKind_TASK_KIND_STEP, protocol.CodeCorrupt)
	if len(nodesOf(cmd)) != 1 || len(cmd.GetUncommit().GetTasks()) != 1 {
		t.Fatalf("the step: %v", cmd)
	}
	d.view = run(t, d.view, completions(stepDone(9)))
	cmd = d.fails(pb.TaskKind_TASK_KIND_REPORT, protocol.CodeCorrupt)
	if tasks := cmd.GetUncommit().GetTasks(); len(tasks) != 2 || tasks[0].GetKind() != pb.TaskKind_TASK_KIND_STEP {
		t.Fatalf("the report: %v", cmd)
	}
	d.view = run(t, d.view, cmd)
	if job := jobOf(d.view, "a"); job.Reporting() || job.Rounds.Open.Covered != 0 {
		t.Errorf("reporting %v, %d leaves", job.Reporting(), job.Rounds.Open.Covered)
	}
	want := schedule.Task{JobID: "a", Round: 1, Kind: leafKind, Changes: 1}
	if g := d.lease("w", 1); len(g) != 1 || g[0].Task != want {
		t.Errorf("granted %v", g)
	}
}

// A worker folded what no other can read. Audits of that fail, and it is made again; where that was done often enough,
// the audit is waived as any that fails.
func TestAnAuditOfWhatNobodyElseCanRead(t *testing.T) {
	d := auditDesk(t)
	d.made("o", stepDone(7), pb.Verdict_VERDICT_AUDITED)
	d.worker("f", "")
	d.worker("g", "") // one worker's word is not enough
	failed := func() *pb.Command {
		for range 1000 {
			d.board.Known("m", d.now)
			for _, id := range []string{"f", "g"} {
				d.board.Known(id, d.now)
				for _, g := range d.lease(id, 1) {
					if cmd := d.fault(id, g, inTask, protocol.CodeCorrupt); cmd != nil {
						return cmd
					}
				}
			}
			d.now += d.cfg.RetryDelay
		}
		return nil
	}
	for time := range state.MaxUnreadable {
		cmd := failed()
		change := cmd.GetUncommit()
		if change.GetReason() != pb.UncommitReason_UNCOMMIT_REASON_UNREADABLE || len(nodesOf(cmd)) != 1 {
			t.Fatalf("time %d: %v", time+1, cmd)
		}
		d.view = run(t, d.view, cmd)
		changes := uint64(time + 1)
		leaf, step := leafTask, stepDone(7)
		leaf.Changes, step.Id.Changes = changes, changes
		d.made("m", nodeDone(leaf), pb.Verdict_VERDICT_ACCEPTED)
		d.made("m", step, pb.Verdict_VERDICT_ACCEPTED)
		d.made("o", step, pb.Verdict_VERDICT_AUDITED)
	}
	if cmd := failed(); cmd.GetWaiveAudits() == nil {
		t.Errorf("at last: %v", cmd)
	}
}

// One auditor's word is not enough to have a job's work made again: its audits are waived.
func TestOneAuditorCannotHaveAJobMadeAgain(t *testing.T) {
	for kind, task := range map[string]pb.TaskKind{
		"plan": pb.TaskKind_TASK_KIND_PLAN, "leaf": leafKind, "step": pb.TaskKind_TASK_KIND_STEP,
	} {
		d := allAudited(t)
		d.worker("m", "")
		d.worker("f", "")
		d.made("m", planned("a", 1), pb.Verdict_VERDICT_ACCEPTED)
		d.made("m", nodeDone(leafTask), pb.Verdict_VERDICT_ACCEPTED)
		d.made("m", stepDone(7), pb.Verdict_VERDICT_ACCEPTED)
		for range 1000 {
			d.board.Known("m", d.now)
			d.board.Known("f", d.now)
			for _, g := range d.lease("f", 1) {
				code := protocol.CodeCorrupt
				if g.Task.Kind != task {
					code = protocol.CodePanic
				}
				if cmd := d.fault("f", g, inTask, code); cmd != nil {
					d.view = run(t, d.view, cmd)
				}
			}
			d.now += d.cfg.RetryDelay
		}
		job := jobOf(d.view, "a")
		if job.Counters.Remade.Changes != 0 || job.Audits.Pending() != 0 || job.Audits.Counts.Waived != 3 {
			t.Errorf("%s: %+v, %d audits pending, %d waived",
				kind, job.Counters.Remade, job.Audits.Pending(), job.Audits.Counts.Waived)
		}
	}
}

// A panic is no word on what was read: a second auditor must say that it cannot be read.
func TestAPanicDoesNotConfirmWhatCannotBeRead(t *testing.T) {
	for second, want := range map[protocol.Code]bool{protocol.CodePanic: false, protocol.CodeCorrupt: true} {
		d := auditDesk(t)
		codes := map[string]protocol.Code{"f": protocol.CodeCorrupt, "g": second}
		for id := range codes {
			d.worker(id, "")
		}
		made := false
		for range 1000 {
			for _, id := range []string{"g", "f"} {
				d.board.Known("o", d.now)
				d.board.Known(id, d.now)
				for _, g := range d.lease(id, 1) {
					if g.Task.Kind != leafKind {
						continue
					}
					if cmd := d.fault(id, g, inTask, codes[id]); cmd != nil {
						made = made || cmd.GetUncommit() != nil
						d.view = run(t, d.view, cmd)
					}
				}
			}
			d.now += d.cfg.RetryDelay
		}
		if made != want {
			t.Errorf("the second says %s: made again %v, want %v", second, made, want)
		}
	}
}

// Where two auditors cannot read what a step was made of, its roots are made again with it.
func TestAStepThatNobodyElseCanMake(t *testing.T) {
	d := auditDesk(t)
	d.made("o", nodeDone(leafTask), pb.Verdict_VERDICT_AUDITED)
	for _, id := range []string{"f", "g"} {
		d.worker(id, "")
	}
	for range 1000 {
		for _, id := range []string{"m", "f", "g"} {
			d.board.Known(id, d.now)
		}
		for _, id := range []string{"f", "g"} {
			for _, g := range d.lease(id, 1) {
				cmd := d.fault(id, g, inTask, protocol.CodeCorrupt)
				if cmd == nil {
					continue
				}
				tasks := cmd.GetUncommit().GetTasks()
				if len(tasks) != 2 || tasks[0].GetKind() != pb.TaskKind_TASK_KIND_STEP || len(nodesOf(cmd)) != 1 {
					t.Fatalf("%v", cmd)
				}
				d.view = run(t, d.view, cmd)
				if job := jobOf(d.view, "a"); job.Reporting() || job.Rounds.Open.Covered != 0 {
					t.Errorf("reporting %v, %d leaves", job.Reporting(), job.Rounds.Open.Covered)
				}
				return
			}
		}
		d.now += d.cfg.RetryDelay
	}
	t.Fatal("it is tried without end")
}
