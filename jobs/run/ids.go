package run

import (
	"context"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// Where a data set has ids, the first phase of every job shows that no two of its records have the same. Leaves list
// the hashes of their ids, in order, and merges unite the lists. A list holds the least of the hashes that fit into it;
// what does not fit is a matter of further rounds, with a tree for each range of hashes that does. See docs/adr/0026.
const (
	idsName      = "ids"       // of the phase that compares hashes
	idsTwiceName = "ids.twice" // of the phase that finds the records of equal ones

	idsPrefix   = notesPrefix + "ids."
	rangesArray = idsPrefix + "ranges" // U64 [ranges, 2], of a state: the first and the last hash of each
	twiceArray  = idsPrefix + "twice"  // U64 [hashes, 2], of a state: those that occur more than once
)

const (
	// idsShare is the share of run.max_state_bytes that a list may take. That is a bound of the spec and not of a
	// worker, because the step that decides about trees may be repeated elsewhere.
	idsShare    = 128
	mostIDBytes = 256 << 20
	leastHashes = 64
	// maxIDTrees and maxIDLeaves bound a round, below what the coordinator takes.
	maxIDTrees  = 4096
	maxIDLeaves = 1 << 20
)

// idsPhases are the phases that compare ids, none where no data set has any.
func idsPhases(spec protocol.JobSpec, first string) []jobs.Phase {
	in := spec.Spec
	c := &idCheck{seed: in.Repro.Seed, next: first}
	c.hasIDs[jobs.Input], c.rows[jobs.Input] = in.Input.HasIDs(), dataset.CountsRows(in.Input.Format)
	if q := in.Queries; q != nil {
		c.hasIDs[jobs.Queries], c.rows[jobs.Queries] = q.HasIDs(), dataset.CountsRows(q.Format)
	}
	if !slices.Contains(c.hasIDs[:], true) {
		return nil
	}
	most := min(int64(in.Run.MaxStateBytes)/idsShare, mostIDBytes)
	if in.Run.MaxStateBytes == 0 { // no bound
		most = mostIDBytes
	}
	c.most = int(max(most/hashBytes, leastHashes))
	return []jobs.Phase{
		jobs.MapReduce[idRanges, *idList]{
			Name: idsName, State: readRanges, Partial: func() *idList { return new(idList) },
			Map: c.list, Merge: c.merge, Forest: c.step, Gathers: c.gathers, Rounds: jobs.Unbounded,
		}.Phase(),
		jobs.MapReduce[jobs.Arrays, *idPlaces]{
			Name: idsTwiceName, State: jobs.Itself, Partial: func() *idPlaces { return new(idPlaces) },
			Map: c.find, Merge: (*idPlaces).plus, Step: c.refuse,
		}.Phase(),
	}
}

// idCheck compares the ids of a job's data sets.
type idCheck struct {
	seed   uint64
	hasIDs [2]bool // by jobs.Source
	rows   [2]bool // places are rows of objects
	most   int     // hashes of a list
	next   string  // the phase that follows
}

// gathers bounds the bytes that a leaf keeps: a list, and what it grew out of.
func (c *idCheck) gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	read := int64(0)
	for at := range c.shards(leaf) {
		read += records(at.Source, at.Shard)
	}
	return min(3*hashBytes*int64(c.most), 4*read)
}

// shards are those that a leaf reads: its own, and those of the queries whose number is its own modulo the shards.
func (c *idCheck) shards(leaf jobs.Leaf) iter.Seq[place] {
	return func(yield func(place) bool) {
		if c.hasIDs[jobs.Input] && !yield(place{jobs.Input, leaf.Index}) || !c.hasIDs[jobs.Queries] {
			return
		}
		for shard := leaf.Index; shard < leaf.Plan.QueryShards; shard += leaf.Plan.Shards {
			if !yield(place{jobs.Queries, shard}) {
				return
			}
		}
	}
}

// list lists the hashes of a leaf in the range of its tree.
func (c *idCheck) list(ctx context.Context, s idRanges, leaf jobs.Leaf, _ *kernelops.Set) (*idList, error) {
	if leaf.Tree >= len(s.ranges) {
		return nil, jobs.Malformed("tree %d of %d ranges of ids", leaf.Tree, len(s.ranges))
	}
	g := &idGatherer{list: idList{last: s.ranges[leaf.Tree].last}, most: c.most}
	for at := range c.shards(leaf) {
		h := newIDHasher(c.seed, at.Source)
		for block, err := range leaf.Read(ctx, at.Source, at.Shard) {
			if err != nil {
				return nil, err
			}
			for _, id := range block.IDs {
				if hash := h.hash(id); s.ranges[leaf.Tree].has(hash) {
					if err := g.add(hash); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	return g.finish()
}

func (c *idCheck) merge(left, right *idList) (*idList, error) {
	return left.plus(right, c.most)
}

// step ends the comparison, has equal hashes looked up, or goes on with the ranges that are left.
func (c *idCheck) step(
	ctx context.Context, s idRanges, roots iter.Seq2[*idList, error], round jobs.Round,
) (jobs.Next, error) {
	left, tree, twice := []idRange(nil), 0, []idHash(nil)
	for root, err := range roots {
		if err != nil {
			return jobs.Next{}, err
		}
		if tree >= len(s.ranges) {
			return jobs.Next{}, jobs.Malformed("%d trees for %d ranges of ids", round.Trees, len(s.ranges))
		}
		rest, err := s.ranges[tree].after(root, c.most)
		if err != nil {
			return jobs.Next{}, err
		}
		left, twice, tree = append(left, rest...), append(twice, root.twice...), tree+1
	}
	left = append(left, s.ranges[tree:]...)
	next := jobs.Next{Phase: c.next, State: maps.Clone(s.arrays)}
	switch {
	case len(twice) > 0:
		slices.SortFunc(twice, idHash.compare) // total order: hashes of a list differ
		twice = twice[:min(len(twice), maxTwice)]
		jobs.Put(next.State, twiceArray, flatHashes(twice), len(twice), 2)
		next.Phase = idsTwiceName
	case len(left) > 0:
		next.Phase = idsName
		trees := min(len(left), maxIDTrees, max(1, maxIDLeaves/round.Plan.Shards))
		next.Trees = slices.Repeat([]int{round.Plan.Shards}, trees)
		jobs.Put(next.State, rangesArray, flatRanges(left), len(left), 2)
	}
	return next, nil
}

// idRange is a range of hashes by their higher halves, both ends included.
type idRange struct{ first, last uint64 }

func (r idRange) has(h idHash) bool { return h[0] >= r.first && h[0] <= r.last }

// after is what a list does not hold of the range, cut so that each part fits a list by a margin of a quarter.
func (r idRange) after(l *idList, most int) ([]idRange, error) {
	if l.last == r.last {
		return nil, nil
	}
	if l.last < r.first || l.last > r.last {
		return nil, jobs.Malformed("a list of ids up to %x of the range from %x to %x", l.last, r.first, r.last)
	}
	missing, fits := max(l.records-int64(l.len()), 1), int64(max(most-most/4, 1))
	n := uint64((missing-1)/fits + 1)
	first, width := l.last+1, r.last-l.last
	n = min(n, width)
	parts := make([]idRange, n)
	for i := range n {
		parts[i] = idRange{first + share(width, i, n), first + share(width, i+1, n) - 1}
	}
	return parts, nil
}

// share is width i / n, rounded down, for i up to n.
func share(width, i, n uint64) uint64 {
	if i == n {
		return width
	}
	high, low := bits.Mul64(width, i)
	quotient, _ := bits.Div64(high, low, n)
	return quotient
}

// idRanges is a state of the phase.
type idRanges struct {
	arrays jobs.Arrays // without what is of the phase
	ranges []idRange   // those of the round's trees come first
}

// readRanges reads a state; that of the first round has no ranges, and stands for all hashes.
func readRanges(state jobs.Arrays) (idRanges, error) {
	if _, later := state[rangesArray]; !later {
		return idRanges{state, []idRange{{0, ^uint64(0)}}}, nil
	}
	flat, err := jobs.Get[uint64](state, rangesArray, -1, 2)
	if err != nil {
		return idRanges{}, err
	}
	s := idRanges{arrays: withoutIDs(state)}
	for ; len(flat) > 0; flat = flat[2:] {
		s.ranges = append(s.ranges, idRange{flat[0], flat[1]})
	}
	return s, nil
}

func withoutIDs(state jobs.Arrays) jobs.Arrays {
	plain := maps.Clone(state)
	maps.DeleteFunc(plain, func(name string, _ jobs.Array) bool { return strings.HasPrefix(name, idsPrefix) })
	return plain
}

func flatRanges(ranges []idRange) []uint64 {
	flat := make([]uint64, 0, 2*len(ranges))
	for _, r := range ranges {
		flat = append(flat, r.first, r.last)
	}
	return flat
}

func flatHashes(hashes []idHash) []uint64 {
	flat := make([]uint64, 0, 2*len(hashes))
	for _, h := range hashes {
		flat = append(flat, h[:]...)
	}
	return flat
}

// stepIDs is the step of a phase that compares ids. No phase of a kind sees what the state keeps besides.
func (t *Tasks) stepIDs(
	ctx context.Context, p jobs.Phase, state jobs.Arrays, round jobs.Round,
) (jobs.Next, *proof.Record, error) {
	record := &proof.Record{Phase: p.Name(), State: state.Digest(), StateSize: state.EncodedSize()}
	state, known, err := detachKept(state)
	if err != nil {
		return jobs.Next{}, nil, err
	}
	roots := &plainRoots{read: round.Root, limits: t.skipMax, nodes: make([][]byte, round.Trees)}
	round.Root = roots.root
	next, err := p.Step(ctx, state, round)
	if err != nil {
		return jobs.Next{}, nil, err
	}
	if err := roots.record(ctx, record); err != nil {
		return jobs.Next{}, nil, err
	}
	next.State, err = known.after(record).attach(next.State, false)
	return next, record, err
}
