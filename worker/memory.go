package worker

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"golang.org/x/sync/semaphore"
)

// DefaultMemory is a worker's budget where its Config names none.
const DefaultMemory = 1 << 30

// DefaultScratchLimit is how many bytes a worker may have in its scratch directory where its Config names no number.
const DefaultScratchLimit = 16 << 30

// A worker's budget in parts of the whole. What is left is for code, connections and
// what the garbage collector has not found yet.
const (
	taskShare  = 2 // a half for tasks at work
	cacheShare = 4 // a quarter for blocks of shards
	stateShare = 8 // an eighth for the states of jobs that wait
)

// taskMemory lets tasks begin while what they will want fits together. A task that wants
// more than there is runs alone.
type taskMemory struct {
	room   int64
	tokens *semaphore.Weighted
}

func newTaskMemory(budget int64) *taskMemory {
	room := max(budget/taskShare, 1)
	return &taskMemory{room: room, tokens: semaphore.NewWeighted(room)}
}

// take waits until there is room, and returns how to give it back.
func (m *taskMemory) take(ctx context.Context, want int64) (giveBack func(), err error) {
	want = min(max(want, 0), m.room)
	if err := m.tokens.Acquire(ctx, want); err != nil {
		return nil, err
	}
	return func() { m.tokens.Release(want) }, nil
}

// readerBytes is what reading a shard takes (dataset.Source.Blocks), beside its records.
const readerBytes = 4 << 20

// wants estimates what a task takes: buffers to read shards with, the state, a partial of the state's
// size for its leaf and each level above, the pieces it merges, and the shards that its phase gathers.
func (j *job) wants(brief *pb.JobBrief, task *pb.Task) int64 {
	state, largest := task.GetState().GetSize(), int64(0)
	for _, p := range task.GetPieces() {
		largest = max(largest, p.GetObject().GetSize())
	}
	folded := int64(0) // what a step folds: the pieces, and what is made of them
	for _, pieces := range piecesByTree(task.GetPieces()) {
		if len(pieces) > 1 {
			folded = max(folded, 2*int64(len(pieces))*largest)
		}
	}
	switch task.GetId().GetKind() {
	case pb.TaskKind_TASK_KIND_NODE:
		want := (2+int64(task.GetId().GetLevel()))*state + 3*largest
		for _, in := range j.inputs {
			want += readerBytes + 3*int64(in.spec.MaxRecordBytes)
		}
		for _, c := range task.GetCarries() {
			want += 3 * c.GetObject().GetSize() // as read, as made, and encoded
		}
		return want + j.gathers(task)
	case pb.TaskKind_TASK_KIND_STEP:
		return 3*state + 2*largest + folded
	}
	return readerBytes + 2*brief.GetModel().GetSize() // its figures read it
}

// Listed is a data set of a job as its plan lists it.
type Listed struct {
	Spec     protocol.Input // with its defaults
	Manifest dataset.Manifest
	Shards   []dataset.Shard
}

// LeafMemory estimates what a task of the first round takes that maps one shard, the largest of all shards, where the
// state has some bytes: what a worker would set aside for it.
func LeafMemory(tasks *run.Tasks, sets []Listed, state int64) int64 {
	j := &job{tasks: tasks}
	for _, s := range sets {
		j.inputs = append(j.inputs, &input{spec: s.Spec, manifest: s.Manifest, shards: s.Shards})
	}
	most := int64(0)
	for shard := range j.cut().Shards {
		most = max(most, j.wants(nil, &pb.Task{Phase: tasks.First(), State: &pb.ObjectRef{Size: state},
			Id: &pb.TaskID{Kind: pb.TaskKind_TASK_KIND_NODE, Index: uint32(shard)}}))
	}
	return most
}

// gathers estimates what the phase of a node keeps of whole shards, by the node's first leaf.
func (j *job) gathers(task *pb.Task) int64 {
	id := task.GetId()
	leaf := jobs.Leaf{Tree: int(id.GetTree()), Index: int(id.GetIndex()) << id.GetLevel(), Plan: j.cut()}
	return j.tasks.Gathers(task.GetPhase(), leaf, func(from jobs.Source, shard int) int64 {
		if int(from) >= len(j.inputs) {
			return 0
		}
		return j.inputs[from].recordBytes(shard)
	})
}

// recordBytes estimates what the records of a shard take when they are decoded. Where that cannot be told from the
// stored bytes it rather says too much, at the cost of tasks that wait.
func (in *input) recordBytes(shard int) int64 {
	if shard < 0 || shard >= len(in.shards) {
		return 0
	}
	bytes := int64(0)
	for _, piece := range in.shards[shard].Pieces {
		bytes += dataset.DecodedBytes(&in.spec, in.manifest.Objects[piece.Object].Key, piece.End-piece.Start)
	}
	return bytes
}
