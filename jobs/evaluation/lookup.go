package evaluation

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// LookUpName names the phase that looks mistakes up.
const LookUpName = "mistakes"

// PlaceOf names a record by its shard and its number within: what is known of it where decisions are made
// from the roots of trees.
func PlaceOf(shard int, number int64) dataset.Identity {
	return dataset.Identity{Object: strconv.Itoa(shard), Offset: number}
}

// LookUp is a phase that finds the identities and the pictures of a few mistakes whose records are named by their
// places. It has one tree with a leaf for each shard of From; few of them are read.
type LookUp struct {
	From jobs.Source
	// Finish says what follows, as if there had been no mistakes.
	Finish func(jobs.Next) (jobs.Next, error)
}

// Before has the mistakes of a tally looked up before what follows; the data set has so many shards. It takes
// them out of the tally, whose metrics are to be read afterwards.
func (p *LookUp) Before(next jobs.Next, judged *Tally, shards int) (jobs.Next, error) {
	mistakes := judged.TakeMistakes()
	if len(mistakes.List()) == 0 {
		return p.Finish(next)
	}
	next.State = maps.Clone(next.State)
	mistakes.Put(next.State, mistakesName)
	next.Done, next.Phase, next.Trees = false, LookUpName, []int{shards}
	return next, nil
}

// Name is "mistakes".
func (p *LookUp) Name() string { return LookUpName }

// Map finds the identities of the mistakes in one shard, and their pictures.
func (p *LookUp) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	placed, err := ReadMistakes(state, mistakesName)
	if err != nil {
		return nil, nil, err
	}
	wanted := map[int64]Mistake{}
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

// lookUp reads the records of a shard until nothing is wanted any more.
func (p *LookUp) lookUp(ctx context.Context, leaf jobs.Leaf, wanted map[int64]Mistake) (*Mistakes, error) {
	found, next := NewMistakes(max(1, len(wanted))), int64(0)
	if len(wanted) == 0 {
		return found, nil
	}
	for block, err := range leaf.Read(ctx, p.From, leaf.Index) {
		if err != nil {
			return nil, err
		}
		for i, id := range block.IDs {
			if m, ok := wanted[next+int64(i)]; ok {
				delete(wanted, next+int64(i))
				m.ID, m.Picture = id, PictureOf(block, i)
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
func (p *LookUp) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := ReadMistakes(left, mistakesName)
	if err != nil {
		return nil, err
	}
	b, err := ReadMistakes(right, mistakesName)
	if err != nil {
		return nil, err
	}
	all := NewMistakes(max(1, len(a.List())+len(b.List())))
	all.Merge(a)
	all.Merge(b)
	out := jobs.Arrays{}
	all.Put(out, mistakesName)
	return out, nil
}

// Step leaves the metric and goes on as if there had been no mistakes.
func (p *LookUp) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	found, err := ReadMistakes(root, mistakesName)
	if err != nil {
		return jobs.Next{}, err
	}
	metric, err := MistakesMetric(found.List())
	if err != nil {
		return jobs.Next{}, err
	}
	state = maps.Clone(state)
	maps.DeleteFunc(state, func(name string, _ jobs.Array) bool { return strings.HasPrefix(name, mistakesName+".") })
	return p.Finish(jobs.Next{State: state, Metrics: []jobs.Metric{metric}})
}
