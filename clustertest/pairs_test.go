package clustertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// pairsKind is a kind of job that uses everything of the contract: it reads its input over a
// number of rounds, then counts the pairs of an input text and a query text that are equal,
// with a tree for each shard of queries, and adds the pairs of the model it began from. Each
// leaf of the pairs leaves a file, and the last step an index.
func pairsKind() jobs.Kind {
	return jobs.Kind{
		Name: "Pairs", UsesQueries: true, UsesModel: true,
		Params: params.Set{Defaults: func(given json.RawMessage) (json.RawMessage, error) { return given, nil }},
		New: func(spec protocol.JobSpec) (jobs.Algorithm, error) {
			var p struct{ Rounds int }
			if err := json.Unmarshal(spec.Spec.Params, &p); err != nil {
				return nil, err
			}
			return pairsJob{rounds: p.Rounds}, nil
		},
	}
}

type pairsJob struct{ rounds int }

func (p pairsJob) Phases() []jobs.Phase {
	return []jobs.Phase{readPhase{sumPhase{"read"}, p.rounds}, pairsPhase{sumPhase{"pairs"}}}
}

// sumPhase merges counts.
type sumPhase struct{ name string }

func (p sumPhase) Name() string { return p.name }

func (sumPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := jobs.GetScalar[int64](left, "n")
	b, err2 := jobs.GetScalar[int64](right, "n")
	return counted(a + b), errors.Join(err, err2)
}

func counted(n int64) jobs.Arrays {
	a := jobs.Arrays{}
	jobs.PutScalar(a, "n", n)
	return a
}

// readPhase reads every shard in each of its rounds.
type readPhase struct {
	sumPhase
	rounds int
}

func (readPhase) Map(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays,
	jobs.Arrays, error) {
	n := int64(0)
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		n += int64(len(block.IDs))
	}
	return counted(n), nil, nil
}

// Step keeps in the state: pairs of the model, rounds done, records read in the last.
func (p readPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	next := jobs.Next{Phase: p.name, State: jobs.Arrays{}}
	done, pairs := int64(1), int64(0)
	if _, _, err := state.Kind(); err == nil { // a model
		if pairs, err = jobs.GetScalar[int64](state, "pairs"); err != nil {
			return jobs.Next{}, err
		}
	} else if before, err := jobs.Get[int64](state, "so.far", 2); err == nil {
		pairs, done = before[0], before[1]+1
	}
	n, err := jobs.GetScalar[int64](root, "n")
	jobs.Put(next.State, "so.far", []int64{pairs, done})
	jobs.PutScalar(next.State, "records", n)
	switch {
	case done < int64(p.rounds):
	case round.Plan.QueryShards == 0:
		next.Done = true
	default:
		next.Phase = "pairs"
		for range round.Plan.QueryShards {
			next.Trees = append(next.Trees, round.Plan.Shards)
		}
	}
	return next, err
}

type pairsPhase struct{ sumPhase }

func (pairsPhase) Map(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays,
	jobs.Arrays, error) {
	n := int64(0)
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for queries, err := range leaf.Read(ctx, jobs.Queries, leaf.Tree) {
			if err != nil {
				return nil, nil, err
			}
			for _, text := range block.Texts {
				for _, query := range queries.Texts {
					if string(text) == string(query) {
						n++
					}
				}
			}
		}
	}
	_, err := leaf.Emit(ctx, fmt.Sprintf("pairs/part-%03d-%03d.txt", leaf.Tree, leaf.Index), []byte(fmt.Sprint(n)))
	return counted(n), nil, err
}

func (pairsPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	before, err := jobs.Get[int64](state, "so.far", 2)
	if err != nil {
		return jobs.Next{}, err
	}
	pairs := before[0]
	for tree := range round.Trees {
		root, err := round.Root(ctx, tree)
		if err != nil {
			return jobs.Next{}, err
		}
		n, err := jobs.GetScalar[int64](root, "n")
		if err != nil {
			return jobs.Next{}, err
		}
		pairs += n
	}
	index, err := round.Emit(ctx, "pairs/index.json",
		[]byte(fmt.Sprintf(`{"trees":%d,"leaves":%d}`, round.Trees, round.Plan.Shards)))
	if err != nil {
		return jobs.Next{}, err
	}
	model := jobs.Arrays{}
	model.PutKind("Pairs", 1)
	jobs.PutScalar(model, "pairs", pairs)
	model.PutText("index", index.SHA256)
	return jobs.Next{Done: true, State: model}, nil
}
