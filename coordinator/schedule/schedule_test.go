package schedule_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

func ref(n uint64) *pb.ObjectRef {
	return &pb.ObjectRef{Sha256: binary.BigEndian.AppendUint64(make([]byte, 24), n), Size: 1}
}

func submit(id string) *pb.Command {
	return &pb.Command{Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: id, SpecHash: "h"}}}
}

func start(id string) *pb.Command {
	return &pb.Command{Body: &pb.Command_Start{Start: &pb.StartJob{Id: id}}}
}

func completions(list ...*pb.Completion) *pb.Command {
	return &pb.Command{Body: &pb.Command_Complete{Complete: &pb.CompleteTasks{Completions: list}}}
}

func planned(job string, trees ...uint32) *pb.Completion {
	return &pb.Completion{
		Id: &pb.TaskID{JobId: job, Kind: pb.TaskKind_TASK_KIND_PLAN},
		Output: &pb.TaskOutput{Manifest: ref(1), Plan: ref(2),
			Next: &pb.Next{Phase: "count", Trees: trees, State: ref(3)}},
	}
}

// nodeDone is the completion of a node; its digest is a function of the node.
func nodeDone(t schedule.Task) *pb.Completion {
	digest := uint64(t.Round)<<56 | uint64(t.Tree)<<40 | uint64(t.Node.Level)<<32 | uint64(t.Node.Index) | 1<<63
	return &pb.Completion{
		Id: &pb.TaskID{
			JobId: t.JobID, Round: t.Round, Kind: t.Kind, Tree: t.Tree, Level: uint32(t.Node.Level),
			Index:   uint32(t.Node.Index),
			Changes: t.Changes,
		},
		Output: &pb.TaskOutput{Object: ref(digest)},
	}
}

// run applies commands and fails the test on a refusal.
func run(t testing.TB, s state.State, commands ...*pb.Command) state.State {
	t.Helper()
	for i, cmd := range commands {
		var reply state.Reply
		if s, reply = state.Apply(s, cmd); reply.Err != nil {
			t.Fatalf("command %d (%v): %v", i, cmd, reply.Err)
		}
	}
	return s
}

func jobOf(s state.State, id string) *state.Job {
	job, _ := s.Job(id)
	return job
}

func node(level, index int) protocol.Node { return protocol.Node{Level: level, Index: index} }

// desk is a leader's board with the state beside it and a clock to turn.
type desk struct {
	*testing.T
	view  state.State
	board *schedule.Board
	now   time.Duration
	cfg   schedule.Config
}

// newDesk is a desk with one running job "a" over the trees, and one worker "w" with slots.
func newDesk(t *testing.T, slots int, trees ...uint32) *desk {
	d := &desk{T: t, cfg: schedule.DefaultConfig()}
	d.view = run(t, state.New(), submit("a"), start("a"), completions(planned("a", trees...)))
	d.board = schedule.NewBoard(d.cfg, 1, state.New(), 0)
	d.register("w", slots)
	return d
}

func (d *desk) register(worker string, slots int, held ...schedule.Held) {
	d.board.Register(d.view, schedule.Worker{ID: worker, Slots: slots}, held, d.now)
}

func (d *desk) lease(worker string, want int) []schedule.Grant {
	return d.board.Lease(d.view, worker, want, d.now)
}

// wantNodes leases and checks which nodes of tree 0 are granted.
func (d *desk) wantNodes(worker string, want int, nodes ...protocol.Node) []schedule.Grant {
	d.Helper()
	grants := d.lease(worker, want)
	var got []protocol.Node
	for _, g := range grants {
		got = append(got, g.Task.Node)
	}
	if !slices.Equal(got, nodes) {
		d.Fatalf("%s was granted %v, want %v", worker, got, nodes)
	}
	return grants
}

// complete commits a node that worker "w" made, as a leader would; the verdict must be the wanted one.
func (d *desk) complete(task schedule.Task, want pb.Verdict) {
	d.Helper()
	d.reported("w", task, want)
}

func (d *desk) reported(worker string, task schedule.Task, want pb.Verdict) {
	d.Helper()
	next, reply := state.Apply(d.view, completions(nodeDone(task)))
	if reply.Verdicts[0] != want {
		d.Fatalf("%v: verdict %v, want %v", task, reply.Verdicts[0], want)
	}
	d.view = next
	d.board.Done(jobOf(d.view, "a"), task, worker, want == pb.Verdict_VERDICT_ACCEPTED, d.now)
}

func (d *desk) commit(nodes ...protocol.Node) {
	d.Helper()
	for _, n := range nodes {
		d.complete(schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE, Node: n},
			pb.Verdict_VERDICT_ACCEPTED)
	}
}

func (d *desk) fault(worker string, g schedule.Grant, class pb.FailureClass, code protocol.Code) *pb.Command {
	return d.board.Fault(d.view, worker, heldOf(g), &pb.Failure{Class: class, Code: string(code), Message: "broke"},
		d.now)
}

func heldOf(g schedule.Grant) schedule.Held { return schedule.Held{Task: g.Task, Token: g.Token} }

func pieces(g schedule.Grant) []protocol.Node {
	var nodes []protocol.Node
	for _, p := range g.Pieces {
		nodes = append(nodes, p.Node)
	}
	return nodes
}
