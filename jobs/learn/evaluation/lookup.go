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

// Phase returns the phase "mistakes".
func (p *LookUp) Phase() jobs.Phase {
	return jobs.MapReduce[jobs.Arrays, *placed]{
		Name: LookUpName, State: jobs.Itself, Partial: func() *placed { return new(placed) },
		Map: p.find, Merge: (*placed).plus, Step: p.finish,
	}.Phase()
}

// placed are mistakes in a state or partial of the phase.
type placed struct{ *Mistakes }

// Fields lists the mistakes.
func (p *placed) Fields(f *jobs.Fields) { MistakesFields(f, mistakesName, &p.Mistakes) }

// Before has the mistakes of a tally looked up before what follows; shards is how many the data set has. It takes
// them out of the tally, whose metrics are to be read afterwards.
func (p *LookUp) Before(next jobs.Next, judged *Tally, shards int) (jobs.Next, error) {
	mistakes := judged.TakeMistakes()
	if len(mistakes.List()) == 0 {
		return p.Finish(next)
	}
	next.State = maps.Clone(next.State)
	jobs.Add(next.State, &placed{mistakes})
	next.Done, next.Phase, next.Trees = false, LookUpName, []int{shards}
	return next, nil
}

// find finds the identities of the mistakes in one shard, and their pictures.
func (p *LookUp) find(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ *kernelops.Set) (*placed, error) {
	all, err := jobs.Read(state, &placed{})
	if err != nil {
		return nil, err
	}
	wanted := map[int64]Mistake{}
	for _, m := range all.List() {
		if m.ID.Object == strconv.Itoa(leaf.Index) {
			wanted[m.ID.Offset] = m
		}
	}
	found, err := p.lookUp(ctx, leaf, wanted)
	return &placed{found}, err
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
	return nil, jobs.Malformed("shard %d of the queries has %d records, and %d mistakes beyond them", leaf.Index, next,
		len(wanted))
}

// plus puts the mistakes of two neighbors together.
func (p *placed) plus(right *placed) (*placed, error) {
	all := NewMistakes(max(1, len(p.ordered)+len(right.ordered)))
	all.Merge(p.Mistakes)
	all.Merge(right.Mistakes)
	return &placed{all}, nil
}

// finish leaves the metric and goes on as if there had been no mistakes.
func (p *LookUp) finish(_ context.Context, state jobs.Arrays, found *placed, _ jobs.Round) (jobs.Next, error) {
	metric, err := MistakesMetric(found.List())
	if err != nil {
		return jobs.Next{}, err
	}
	state = maps.Clone(state)
	maps.DeleteFunc(state, func(name string, _ jobs.Array) bool { return strings.HasPrefix(name, mistakesName+".") })
	return p.Finish(jobs.Next{State: state, Metrics: []jobs.Metric{metric}})
}
