package knn

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/kernelops"
)

// mistakesName names the phase that looks up the records of a few mistakes; in its state they are
// named by their places.
const mistakesName = "mistakes"

// placeOf names a query by its shard and its number within: what is known of it when it is decided.
func placeOf(shard int, number int64) dataset.Identity {
	return dataset.Identity{Object: strconv.Itoa(shard), Offset: number}
}

// mistakesPhase has one tree with a leaf for each shard of queries. Few of them are read.
type mistakesPhase struct{ *plan }

func (p *mistakesPhase) Name() string { return mistakesName }

// Map finds the identities of the mistakes in one shard, and their pictures.
func (p *mistakesPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	placed, err := evaluation.ReadMistakes(state, mistakesName)
	if err != nil {
		return nil, nil, err
	}
	wanted := map[int64]evaluation.Mistake{}
	for _, m := range placed.List() {
		if m.ID.Object == strconv.Itoa(leaf.Index) {
			wanted[m.ID.Offset] = m
		}
	}
	found, err := p.lookUp(ctx, leaf, wanted)
	if err != nil {
		return nil, nil, err
	}
	partial := jobs.Arrays{}
	found.Put(partial, mistakesName)
	return partial, nil, nil
}

// lookUp reads the queries of a shard until nothing is wanted any more.
func (p *mistakesPhase) lookUp(ctx context.Context, leaf jobs.Leaf, wanted map[int64]evaluation.Mistake) (*evaluation.Mistakes, error) {
	found, next := evaluation.NewMistakes(max(1, len(wanted))), int64(0)
	if len(wanted) == 0 {
		return found, nil
	}
	source := jobs.Input
	if p.queries {
		source = jobs.Queries
	}
	for block, err := range leaf.Read(ctx, source, leaf.Index) {
		if err != nil {
			return nil, err
		}
		for i, id := range block.IDs {
			if m, ok := wanted[next+int64(i)]; ok {
				delete(wanted, next+int64(i))
				m.ID, m.Picture = id, evaluation.PictureOf(block, i)
				found.Offer(m)
			}
		}
		if next += int64(len(block.IDs)); len(wanted) == 0 {
			return found, nil
		}
	}
	return nil, jobs.Malformed("shard %d of the queries has %d records, and %d mistakes beyond them", leaf.Index, next, len(wanted))
}

// Merge puts the mistakes of two neighbours together.
func (p *mistakesPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := evaluation.ReadMistakes(left, mistakesName)
	if err != nil {
		return nil, err
	}
	b, err := evaluation.ReadMistakes(right, mistakesName)
	if err != nil {
		return nil, err
	}
	all := evaluation.NewMistakes(max(1, len(a.List())+len(b.List())))
	all.Merge(a)
	all.Merge(b)
	out := jobs.Arrays{}
	all.Put(out, mistakesName)
	return out, nil
}

// Step goes on as if there had been no mistakes.
func (p *mistakesPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	found, err := evaluation.ReadMistakes(root, mistakesName)
	if err != nil {
		return jobs.Next{}, err
	}
	metric, err := evaluation.MistakesMetric(found.List())
	if err != nil {
		return jobs.Next{}, err
	}
	state = maps.Clone(state)
	maps.DeleteFunc(state, func(name string, _ jobs.Array) bool { return strings.HasPrefix(name, mistakesName+".") })
	return p.finish(jobs.Next{State: state, Metrics: []jobs.Metric{metric}})
}
