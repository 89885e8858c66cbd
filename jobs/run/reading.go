package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
)

// skipWatch counts what a leaf's complete passes over shards skipped.
type skipWatch struct {
	limits skipLimits
	found  skips
	kept   kept
	taker  *noteTaker // nil where nothing is noted
	// counter counts records for logical blocks; nil where they are known, or not asked for
	counter *counter
}

// attach returns a leaf's partial with what was found beside it.
func (w *skipWatch) attach(partial jobs.Arrays) (jobs.Arrays, error) {
	found := beside{skips: w.found, counts: w.counter.counts()}
	if w.taker != nil {
		found.notes = w.taker.notes
	}
	return found.attach(partial)
}

// watch passes on a leaf's reads: those of the plan only, and counted. Blocks is the read of
// the leaf's own shard.
func (w *skipWatch) watch(leaf jobs.Leaf) jobs.Leaf {
	read, own := leaf.Read, leaf.Blocks
	leaf.Read = func(ctx context.Context, from jobs.Source, shard int) iter.Seq2[*dataset.Block, error] {
		if err := checkShard(leaf.Plan, from, shard); err != nil {
			return failing(err)
		}
		return w.pass(place{from, shard}, read(ctx, from, shard))
	}
	leaf.Blocks = func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
		if own != nil {
			return w.pass(place{jobs.Input, leaf.Index}, own(ctx))
		}
		return leaf.Read(ctx, jobs.Input, leaf.Index)
	}
	return leaf
}

// pass ends with a BAD_RECORD fault as soon as one shard alone is beyond the bound.
func (w *skipWatch) pass(at place, blocks iter.Seq2[*dataset.Block, error]) iter.Seq2[*dataset.Block, error] {
	return func(yield func(*dataset.Block, error) bool) {
		var pass skips
		records := int64(0)
		noting := w.taker != nil && w.taker.begin(at)
		if noting {
			defer w.taker.abandon() // which does nothing after end
		}
		for block, err := range blocks {
			if err == nil {
				err = w.kept.check(at.Source, block)
			}
			if err == nil && noting {
				err = w.taker.add(block)
			}
			if err == nil && len(block.Skipped) > 0 {
				pass.add(at, block.Skipped)
				err = w.limits.check(pass)
			}
			if err == nil {
				records += int64(len(block.IDs))
			}
			if !yield(block, err) || err != nil {
				return
			}
		}
		w.found = w.found.plus(pass)
		w.counter.note(at, records)
		if noting {
			w.taker.end()
		}
	}
}

// add counts further records of the only shard of s.
func (s *skips) add(at place, found []dataset.Skip) {
	if s.shards == nil {
		s.shards = []shardSkips{{place: at}}
	}
	s.shards[0].count += int64(len(found))
	for _, skip := range found[:min(len(found), maxSkipSamples-len(s.samples))] {
		s.samples = append(s.samples, sample{at, skip})
	}
}

// plainRoots detaches the roots that a step reads.
type plainRoots struct {
	read   func(ctx context.Context, tree int) (jobs.Arrays, error)
	limits skipLimits
	found  skips
	notes  notes // of the first tree
	counts counts
	ahead  jobs.Arrays // the first root, where it was read before the step asks for it
	nodes  [][]byte    // of each tree that was read, the digests of its nodes
}

func (r *plainRoots) root(ctx context.Context, tree int) (jobs.Arrays, error) {
	if tree == 0 && r.ahead != nil {
		return r.ahead, nil
	}
	root, err := r.read(ctx, tree)
	if err != nil {
		return nil, err
	}
	plain, beneath, err := detachNodes(root)
	if err != nil {
		return nil, err
	}
	if r.nodes[tree] == nil {
		digest := root.Digest()
		r.nodes[tree] = slices.Concat(beneath, digest[:])
	}
	plain, b, err := detachAll(plain)
	if err != nil {
		return nil, err
	}
	if tree == 0 {
		r.notes, r.counts = b.notes, b.counts
	}
	r.found = r.found.plus(b.skips)
	return plain, r.limits.check(r.found)
}

// record lists the nodes of all trees; it reads those roots that the step did not want.
func (r *plainRoots) record(ctx context.Context, to *proof.Record) error {
	for tree, nodes := range r.nodes {
		if nodes == nil {
			if _, err := r.root(ctx, tree); err != nil {
				return err
			}
			nodes = r.nodes[tree]
		}
		to.Trees = append(to.Trees, int64(len(nodes)/digestBytes+1)/2)
		to.Nodes = append(to.Nodes, nodes...)
	}
	return nil
}

// metrics tell people of what was skipped and, in the first phase, of what reading noticed.
func (r *plainRoots) metrics(phase string, first bool, passed string) ([]jobs.Metric, error) {
	all, err := r.found.metrics(phase)
	if err != nil || !first {
		return all, err
	}
	noticed, err := r.notes.metrics(passed)
	return append(all, noticed...), err
}

// layOut reads the only root of the first round before its step does, for the step plans by the blocks.
func (t *Tasks) layOut(ctx context.Context, phase string, round jobs.Round, roots *plainRoots) (*layout, []jobs.Metric,
	error) {
	var err error
	if roots.ahead, err = roots.root(ctx, 0); err != nil {
		return nil, nil, err
	}
	l, err := layoutOf(t.blocks, round.Plan, roots.counts)
	if err != nil {
		return nil, nil, err
	}
	metrics, err := l.metrics(phase, roots.counts)
	return l, metrics, err
}

// checkShard refuses shards that a plan does not have.
func checkShard(p jobs.Plan, from jobs.Source, shard int) error {
	shards := p.Shards
	if from == jobs.Queries {
		shards = p.QueryShards
	}
	if !from.Known() || shard < 0 || shard >= shards {
		return fmt.Errorf("jobs: there is no shard %d of %s; the plan has %d", shard, from, shards)
	}
	return nil
}

func failing(err error) iter.Seq2[*dataset.Block, error] {
	return func(yield func(*dataset.Block, error) bool) { yield(nil, err) }
}

type partSeq = iter.Seq2[jobs.Part, error]

// noParts is the error of who reads blocks that are not there.
func noParts(what string) partSeq {
	return func(yield func(jobs.Part, error) bool) { yield(jobs.Part{}, errors.New(what)) }
}
