package lease

import (
	"crypto/sha256"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

// Response is the answer to a worker that was granted leases; courses are the timelines of jobs that may end.
func Response(
	view state.State, workerID string, grants []schedule.Grant, courses map[string]*pb.Timeline,
) *pb.LeaseResponse {
	res := &pb.LeaseResponse{}
	briefed := make(map[string]bool)
	for _, g := range grants {
		job, _ := view.Job(g.Task.JobID)
		if !briefed[job.ID] {
			briefed[job.ID] = true
			res.Jobs = append(res.Jobs, brief(job))
		}
		task := wireTask(job, g)
		task.Token.Mac = MAC(view.Secret, workerID, g.Task, g.Token, basisOf(g))
		if g.Task.Kind == pb.TaskKind_TASK_KIND_STEP {
			task.Timeline = courses[job.ID]
		}
		res.Tasks = append(res.Tasks, task)
	}
	return res
}

// basisOf is what a lease has a node or a step made from.
func basisOf(g schedule.Grant) [sha256.Size]byte {
	if g.Audit != nil {
		return state.Basis(g.Audit.Pieces)
	}
	return state.Basis(g.Pieces)
}

func brief(job *state.Job) *pb.JobBrief {
	b := &pb.JobBrief{
		Id: job.ID, SpecJson: string(job.SpecJSON), SpecHash: job.SpecHash, ResultHash: job.ResultHash,
		Model: job.Model.Proto(),
	}
	if job.Stage != pb.JobState_JOB_STATE_PLANNING { // where it is made again, nobody can read it
		b.Manifest, b.Plan = job.Manifest.Proto(), job.Plan.Proto()
	}
	if job.Reporting() {
		b.Kernels, b.Workers, b.Course = job.Kernels, job.Workers, job.Course.Proto()
		b.Audit = job.Audits.Summary()
		b.Record = &pb.Job{
			Id: job.ID, Name: job.Name, Kind: job.Kind, SubmittedUnixMs: job.SubmittedAt, StartedUnixMs: job.StartedAt,
			Counters: job.Counters.Proto(), Rounds: job.Rounds.RecordsSince(),
		}
	}
	return b
}

func wireTask(job *state.Job, g schedule.Grant) *pb.Task {
	if g.Audit != nil {
		return wireAudit(g)
	}
	open := &job.Rounds.Open
	t := &pb.Task{
		Id: g.Task.ID(), Token: &pb.LeaseToken{Term: g.Token.Term, Sequence: g.Token.Sequence, Epoch: g.Token.Epoch},
		Phase: open.Phase, State: open.State.Proto(), StateRound: proto.Uint32(open.Base),
	}
	for _, p := range g.Pieces {
		t.Pieces = append(t.Pieces, &pb.Piece{Tree: p.Tree, Level: uint32(p.Node.Level), Index: uint32(p.Node.Index),
			Object: p.Object.Proto()})
	}
	if g.Task.Kind == pb.TaskKind_TASK_KIND_NODE {
		t.TreeLeaves = open.Trees[g.Task.Tree]
		first, end := open.Tree(g.Task.Tree).Range(g.Task.Node)
		for _, carry := range open.CarriesIn(g.Task.Tree, first, end) {
			t.Carries = append(t.Carries, &pb.CarryPiece{Tree: carry.Tree, First: carry.First, End: carry.End,
				Object: carry.Object.Proto()})
		}
	}
	return t
}

// wireAudit is a task that is made a second time as it crosses the wire: like the first time.
func wireAudit(g schedule.Grant) *pb.Task {
	return &pb.Task{
		Id: g.Task.ID(), Token: &pb.LeaseToken{Term: g.Token.Term, Sequence: g.Token.Sequence, Epoch: g.Token.Epoch},
		Phase: g.Audit.Phase, State: g.Audit.State.Proto(), StateRound: proto.Uint32(g.Audit.Base),
		TreeLeaves: g.Audit.TreeLeaves,
		Pieces:     g.Audit.PieceRecords(), Carries: g.Audit.CarryRecords(),
	}
}

// WireCopies is nil for nothing: it would take room in every entry.
func WireCopies(b schedule.SpeculativeCopies) *pb.SpeculativeCopies {
	if b == (schedule.SpeculativeCopies{}) {
		return nil
	}
	return &pb.SpeculativeCopies{Launched: b.Launched, Won: b.Won, Wasted: b.Wasted}
}

// TaskFrom reads a task off the wire.
func TaskFrom(id *pb.TaskID) schedule.Task {
	return schedule.Task{
		JobID: id.GetJobId(), Round: id.GetRound(), Kind: id.GetKind(), Tree: id.GetTree(),
		Node:    protocol.Node{Level: int(min(id.GetLevel(), 63)), Index: int(id.GetIndex())},
		Changes: id.GetChanges(), Again: id.GetAgain(),
	}
}

// HeldFrom reads the leases that a worker says it holds.
func HeldFrom(list []*pb.HeldTask) []schedule.Held {
	held := make([]schedule.Held, len(list))
	for i, h := range list {
		held[i] = schedule.Held{Task: TaskFrom(h.GetId()), Token: TokenFrom(h.GetToken()), Progress: h.GetProgress()}
	}
	return held
}

// GrantedTo are the tasks of a list that were leased to the worker by this cluster.
func GrantedTo(view state.State, workerID string, list []*pb.HeldTask) (held []schedule.Held) {
	for i, h := range HeldFrom(list) {
		if _, ok := Authentic(view.Secret, workerID, h, list[i].GetToken().GetMac()); ok {
			held = append(held, h)
		}
	}
	return held
}

// TokenFrom reads a lease token off the wire.
func TokenFrom(t *pb.LeaseToken) schedule.Token {
	return schedule.Token{Term: t.GetTerm(), Sequence: t.GetSequence(), Epoch: t.GetEpoch()}
}
