package jobstest

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// maxRounds ends an algorithm that never does.
const maxRounds = 10_000

// Grouping says which nodes are tasks of their own.
type Grouping struct {
	// Cut splits a node into a task for each child and a reduce; nil folds every tree in one task.
	Cut func(tree int, node protocol.Node) bool
	// RightFirst runs the right child's task before the left one's.
	RightFirst func(tree int, node protocol.Node) bool
}

// Result is what a job leaves behind.
type Result struct {
	Model   jobs.Arrays
	Metrics []jobs.Metric
	Files   map[string][]byte // emitted, by name
	Rounds  int
}

// Run carries a job over the shards of its input through all its rounds.
func Run(ctx context.Context, algorithm jobs.Algorithm, spec protocol.JobSpec, shards []Blocks, ops *kernelops.Set,
	grouping Grouping, opts ...Option) (Result, error) {
	tasks, err := run.NewTasks(algorithm, spec, ops)
	if err != nil {
		return Result{}, err
	}
	inputs := inputsOf(shards, opts)
	r := runner{tasks: tasks, inputs: inputs, grouping: grouping, carries: map[leafKey][]byte{},
		between: &memos{kept: map[leafKey]any{}}}
	next := jobs.Next{Phase: tasks.First(), State: inputs.model}
	result := Result{Files: inputs.files}
	for !next.Done {
		if result.Rounds == maxRounds {
			return Result{}, fmt.Errorf("jobstest: not done after %d rounds", maxRounds)
		}
		if next, err = r.round(ctx, next); err != nil {
			return Result{}, err
		}
		result.Rounds++
		result.Metrics = append(result.Metrics, next.Metrics...)
	}
	result.Model = next.State
	return result, nil
}

type leafKey struct {
	phase       string
	tree, index int
}

type runner struct {
	*inputs
	tasks    *run.Tasks
	grouping Grouping
	carries  map[leafKey][]byte
	between  *memos // what leaves of one phase remember for those of another
}

func (r *runner) round(ctx context.Context, now jobs.Next) (jobs.Next, error) {
	state, err := stored(now.State)
	if err != nil {
		return jobs.Next{}, err
	}
	trees := now.Trees
	if trees == nil {
		trees = []int{len(r.shards[jobs.Input])}
	}
	roots := make([]jobs.Arrays, len(trees))
	for i, n := range trees {
		job := treeRun{runner: r, phase: now.Phase, state: state, index: i, tree: protocol.Tree(n)}
		if roots[i], err = job.task(ctx, job.tree.Canonical(job.tree.Root())); err != nil {
			return jobs.Next{}, err
		}
	}
	round := jobs.RoundOf(r.plan(), roots...)
	round.Emit = r.emit
	next, _, err := r.tasks.Step(ctx, now.Phase, state, round)
	return next, err
}

// treeRun computes one tree of a round.
type treeRun struct {
	*runner
	phase string
	state jobs.Arrays
	index int
	tree  protocol.Tree
}

// task computes a node: its children as tasks of their own where the grouping cuts it.
func (t treeRun) task(ctx context.Context, node protocol.Node) (jobs.Arrays, error) {
	made := map[protocol.Node]jobs.Arrays{}
	left, right, ok := t.tree.Children(node)
	if ok && t.grouping.Cut != nil && t.grouping.Cut(t.index, node) {
		order := []protocol.Node{left, right}
		if t.grouping.RightFirst != nil && t.grouping.RightFirst(t.index, node) {
			order = []protocol.Node{right, left}
		}
		for _, child := range order {
			partial, err := t.task(ctx, child)
			if err != nil {
				return nil, err
			}
			made[child] = partial
		}
	}
	partial, err := t.tasks.Fold(ctx, t.phase, t.tree, node, run.FoldSource{
		Made: func(_ context.Context, node protocol.Node) (jobs.Arrays, [32]byte, error) {
			return made[node], made[node].Digest(), nil
		},
		Leaf: t.leaf,
	})
	if err != nil {
		return nil, err
	}
	return stored(partial)
}

func (t treeRun) leaf(ctx context.Context, index int) (jobs.Arrays, error) {
	key := leafKey{t.phase, t.index, index}
	var carry jobs.Arrays
	var err error
	if data, ok := t.carries[key]; ok {
		if carry, err = jobs.Decode(data); err != nil {
			return nil, err
		}
	}
	leaf := t.inputs.leaf(t.index, index)
	if t.memos != nil {
		leaf.Memo = leafMemo{t.memos, key}
	}
	if t.between != nil && index%2 == 0 { // as with blocks, no result may depend on what is remembered
		leaf.MemoOf = func(phase string) jobs.Memo { return leafMemo{t.between, leafKey{phase, t.index, index}} }
	}
	partial, carry, err := t.tasks.Map(ctx, t.phase, t.state, leaf, carry)
	if err != nil {
		return nil, err
	}
	if carry != nil {
		t.carries[key] = carry.Encode()
	}
	return partial, nil
}

// stored is what is read back after a was written.
func stored(a jobs.Arrays) (jobs.Arrays, error) { return jobs.Decode(a.Encode()) }
