package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"golang.org/x/sync/errgroup"
)

// in names what the round of a task makes, before what the round before it made: the state that the
// task begins with, and what was kept for its leaves. Where the rounds begin anew, that is the plan.
func (j *job) in(task *pb.Task) made { return j.madeBy(task.GetId().GetRound()) }
func (j *job) before(task *pb.Task) made {
	if task.StateRound != nil {
		return j.madeBy(task.GetStateRound())
	}
	return j.madeBy(task.GetId().GetRound() - 1)
}

// node makes the partial of one node: committed pieces are read, other leaves mapped.
func (j *job) node(ctx context.Context, task *pb.Task) (*pb.TaskOutput, error) {
	state, err := j.state(ctx, task)
	if err != nil {
		return nil, err
	}
	tasks, emit, err := j.with(task)
	if err != nil {
		return nil, err
	}
	advance(ctx) // it begins
	n := &nodeTask{job: j, tasks: tasks, emit: emit, task: task, state: state, kept: jobs.Arrays{}}
	id := task.GetId()
	partial, err := tasks.Fold(ctx, task.GetPhase(), protocol.Tree(task.GetTreeLeaves()),
		protocol.Node{Level: int(id.GetLevel()), Index: int(id.GetIndex())},
		run.FoldSource{Made: n.made, Leaf: n.leaf, Keep: j.keeper().Partials(emit)})
	if err != nil {
		return nil, n.located(ctx, err)
	}
	out := &pb.TaskOutput{SelfChecked: n.checked}
	if out.Object, err = j.w.putArrays(ctx, j.in(task), partial); err != nil {
		return nil, err
	}
	n.piece = nil // before what is kept is encoded
	if len(n.kept) > 0 {
		out.Carry, err = j.w.putArrays(ctx, j.in(task), n.kept)
	}
	return out, err
}

type nodeTask struct {
	job     *job
	tasks   *run.Tasks
	emit    jobs.Emit
	task    *pb.Task
	state   jobs.Arrays
	kept    jobs.Arrays // carries of the leaves mapped, named "<leaf>/<array>"
	checked uint32      // leaves that were computed with two kernel sets

	pieceOf *pb.CarryPiece // the one whose object was read last
	piece   jobs.Arrays    // and what it holds, named "<leaf>/<array>"

	fetched []context.CancelFunc // ends of what was fetched ahead, the latest last

	unread error      // of a reader
	last   []lastRead // of each data set, the latest last
	at     place
}

func (n *nodeTask) made(ctx context.Context, node protocol.Node) (jobs.Arrays, [32]byte, error) {
	for _, p := range n.task.GetPieces() {
		if int(p.GetLevel()) == node.Level && int(p.GetIndex()) == node.Index {
			partial, err := n.job.w.getArrays(ctx, n.job.in(n.task), p.GetObject())
			if err != nil {
				return nil, [32]byte{}, err
			}
			return partial, [32]byte(p.GetObject().GetSha256()), nil
		}
	}
	return nil, [32]byte{}, nil
}

func (n *nodeTask) leaf(ctx context.Context, index int) (jobs.Arrays, error) {
	carry, err := n.carry(ctx, index)
	if err != nil {
		return nil, err
	}
	defer n.placePanic()
	n.at = place{leaf: index}
	leaf := jobs.Leaf{Tree: int(n.task.GetId().GetTree()), Index: index, Plan: n.job.cut(), Read: n.read,
		ReadRange: n.readRange, Emit: n.emit, Memo: n.memo(n.task.GetPhase(), index),
		MemoOf: func(phase string) jobs.Memo { return n.memo(phase, index) }}
	partial, carried, err := n.tasks.Map(ctx, n.task.GetPhase(), n.state, leaf, carry)
	if err != nil {
		return nil, n.placed(err)
	}
	if err := n.checkLeaf(ctx, leaf, carry, partial, carried); err != nil {
		return nil, err
	}
	for _, name := range carried.Names() {
		n.kept[strconv.Itoa(index)+"/"+name] = carried[name]
	}
	return partial, nil
}

// memo is where a leaf is remembered from round to round. A task that is made again, to compare, begins with nothing.
func (n *nodeTask) memo(phase string, index int) jobs.Memo {
	id := n.task.GetId()
	if id.GetAgain() {
		return nil
	}
	return n.job.w.cache.memo(n.job.cached(), phase, int(id.GetTree()), index, id.GetChanges())
}

// carry picks out what the phase kept for a leaf in its last round. The leaves of a task come in order, so that each
// piece is read once and one is held at a time.
func (n *nodeTask) carry(ctx context.Context, index int) (jobs.Arrays, error) {
	for _, c := range n.task.GetCarries() {
		if uint32(index) < c.GetFirst() || uint32(index) >= c.GetEnd() {
			continue
		}
		if n.pieceOf != c {
			n.pieceOf, n.piece = nil, nil // before the next is read
			piece, err := n.job.w.getArrays(ctx, n.job.before(n.task), c.GetObject())
			if err != nil {
				return nil, err
			}
			n.pieceOf, n.piece = c, piece
		}
		own := jobs.Arrays{}
		for _, name := range n.piece.Names() {
			if rest, ok := strings.CutPrefix(name, strconv.Itoa(index)+"/"); ok {
				own[rest] = n.piece[name]
			}
		}
		return own, nil
	}
	return nil, nil
}

// step turns the roots into the next round or the model.
func (j *job) step(ctx context.Context, task *pb.Task) (*pb.TaskOutput, error) {
	state, err := j.state(ctx, task)
	if err != nil {
		return nil, err
	}
	tasks, emit, err := j.with(task)
	if err != nil {
		return nil, err
	}
	var files emitted
	roots := &stepRoots{job: j, tasks: tasks, task: task, trees: piecesByTree(task.GetPieces()), emit: emit}
	next, record, err := tasks.Step(ctx, task.GetPhase(), state, jobs.Round{Plan: j.cut(), Trees: len(roots.trees),
		Emit: files.watch(emit), Root: roots.read})
	if err != nil {
		return nil, j.named(ctx, err)
	}
	wire := &pb.Next{Done: next.Done, Phase: next.Phase}
	if !next.Done {
		if wire.Trees, err = j.trees(next.Trees); err != nil {
			return nil, err
		}
	}
	kept, err := j.keeper().Round(state, record)
	if err != nil {
		return nil, err
	}
	next.Metrics = append(next.Metrics, kept.Metric)
	if next.Metrics, err = files.metrics(next.Metrics); err != nil {
		return nil, err
	}
	if err := j.putStep(ctx, task, next, wire, kept.Writes(emit)); err != nil {
		return nil, err
	}
	return &pb.TaskOutput{Next: wire}, nil
}

// putStep stores what a step made, beside the other writes: each is a round trip to a store, and none needs another.
func (j *job) putStep(
	ctx context.Context, task *pb.Task, next jobs.Next, wire *pb.Next, others []func(context.Context) error,
) error {
	writes, ctx := errgroup.WithContext(ctx)
	for _, write := range others {
		writes.Go(func() error { return write(ctx) })
	}
	writes.Go(func() (err error) {
		wire.State, err = j.w.putArrays(ctx, j.in(task), next.State)
		return err
	})
	writes.Go(func() (err error) {
		wire.Metrics, err = j.putMetrics(ctx, j.in(task), next.Metrics)
		return err
	})
	if next.Done {
		wire.Course = j.putCourse(ctx, j.in(task), task.GetTimeline())
	}
	return writes.Wait()
}

// stepRoots are the roots of the round that a step ends: each as it is stored, or folded from the pieces of its tree.
type stepRoots struct {
	job   *job
	tasks *run.Tasks
	task  *pb.Task
	trees [][]*pb.Piece // of each tree, in order of leaf
	emit  jobs.Emit
}

// piecesByTree parts pieces, which are in order of tree.
func piecesByTree(pieces []*pb.Piece) (trees [][]*pb.Piece) {
	for i, p := range pieces {
		if i == 0 || p.GetTree() != pieces[i-1].GetTree() {
			trees = append(trees, nil)
		}
		trees[len(trees)-1] = append(trees[len(trees)-1], p)
	}
	return trees
}

// readAtOnce is how many pieces are read at a time: each may be a round trip to a store.
const readAtOnce = 8

// read reads the root of a tree, or its pieces: the coordinator leases a step few and small ones to fold.
func (r *stepRoots) read(ctx context.Context, tree int) (jobs.Arrays, error) {
	if tree < 0 || tree >= len(r.trees) {
		return nil, fmt.Errorf("the round has %d trees and no tree %d", len(r.trees), tree)
	}
	by, list := r.job.in(r.task), r.trees[tree]
	if len(list) == 1 {
		return r.job.w.getArrays(ctx, by, list[0].GetObject())
	}
	pieces := make([]run.Piece, len(list))
	reads, reading := errgroup.WithContext(ctx)
	reads.SetLimit(readAtOnce)
	for i, p := range list {
		reads.Go(func() error {
			partial, err := r.job.w.getArrays(reading, by, p.GetObject())
			if err == nil {
				pieces[i] = run.Piece{Node: protocol.Node{Level: int(p.GetLevel()), Index: int(p.GetIndex())},
					Partial: partial, Digest: [32]byte(p.GetObject().GetSha256())}
			}
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	root, err := r.tasks.FoldPieces(ctx, r.task.GetPhase(), pieces, r.job.keeper().Partials(r.emit))
	if err != nil { // a fault that a merge finds, and knows the record of
		return nil, (&nodeTask{job: r.job}).located(ctx, err)
	}
	return root, nil
}

// trees is a forest as it crosses the wire; nil means one tree over the shards.
func (j *job) trees(trees []int) ([]uint32, error) {
	if trees == nil {
		trees = []int{j.cut().Shards}
	}
	wire := make([]uint32, len(trees))
	for i, n := range trees {
		if n < 1 || n > math.MaxUint32 {
			return nil, fmt.Errorf("step asks for a tree of %d leaves", n)
		}
		wire[i] = uint32(n)
	}
	return wire, nil
}

func (j *job) putMetrics(ctx context.Context, by made, metrics []jobs.Metric) (*pb.ObjectRef, error) {
	if len(metrics) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(metrics)
	if err != nil {
		return nil, fmt.Errorf("encode metrics: %w", err)
	}
	return j.w.put(ctx, by, data)
}
