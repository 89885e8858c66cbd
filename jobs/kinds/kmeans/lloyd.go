package kmeans

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

const lloydName = "lloyd"

// lloydPhase is one turn of the loop of Algorithm 5, or of soft k-means.
type lloydPhase struct{ job }

func (p *lloydPhase) phase() jobs.Phase {
	round := p.assign
	if p.soft() {
		round = p.shareOut
	}
	return jobs.MapReduce[*state, *totals]{
		Name: p.roundName(), State: jobs.Load[state], Partial: func() *totals { return new(totals) },
		Map: round, Merge: (*totals).plus, Step: p.turn, Rounds: jobs.Most(p.mostRounds()),
	}.Phase()
}

// assign assigns each record to its nearest center and adds up those of each, with what the worker remembers of the
// leaf. O(records * k * width).
func (p *lloydPhase) assign(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*totals, error) {
	m := remembered(leaf, s, ops)
	t, err := p.pass(ctx, s, leaf, ops, m)
	if errors.Is(err, errForgotten) {
		m = &memory{ops: ops, restart: s.restart, k: m.k}
		t, err = p.pass(ctx, s, leaf, ops, m)
	}
	if err == nil && leaf.Memo != nil {
		leaf.Memo.Keep(m, m.bytes(s.space.Width))
	}
	return t, err
}

// pass goes over the records of a leaf.
func (p *lloydPhase) pass(
	ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set, m *memory,
) (*totals, error) {
	near := newAssigner(ops, s.centers, origin(s.space))
	near.tree = s.best.tree // of phase means, after algorithm bisecting
	fresh := m.bounds == nil
	if near.packed != nil && near.tree == nil { // a tree decides by more than distances
		m.begin(near.packed)
	}
	recall, print := newRecall(m, near, origin(s.space), leaf.Memo != nil), newFingerprint(leaf.Index)
	err := p.leaf(ctx, s.space, leaf, s.round > 0, func(c chunk) error {
		if err := recall.add(c); err != nil {
			return err
		}
		print.add(near.index)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t, err := recall.end(print.sum())
	m.end(fresh)
	return t, err
}

// turn moves each center to the mean of its records (equation 1.32) and decides what comes next.
func (p *lloydPhase) turn(_ context.Context, s *state, root *totals, _ jobs.Round) (jobs.Next, error) {
	if !slices.ContainsFunc(root.Weight.Floats(), func(w float64) bool { return w > 0 }) {
		return jobs.Next{}, protocol.EmptyFault("no training record weighs more than 0").
			WithHint("Give some records a weight above 0.")
	}
	stop, before := p.stop(s, root), s.centers
	if err := p.move(s, root); err != nil {
		return jobs.Next{}, err
	}
	if p.soft() && stop == "" && slices.Equal(before, s.centers) {
		stop = stopUnchanged
	}
	s.round, s.distortion, s.fingerprint = s.round+1, root.distortion(), root.fingerprint
	metric, err := jobs.NewMetric(fmt.Sprintf("%s%s.%03d.%s", runPrefix(s.restart), p.roundName(), s.round,
		p.objective()), s.distortion)
	if err != nil {
		return jobs.Next{}, err
	}
	next := p.next(s, stop)
	next.Metrics = append([]jobs.Metric{metric}, next.Metrics...)
	return next, nil
}

// stop says why the run ends with this round; "" if it does not.
func (p *lloydPhase) stop(s *state, root *totals) string {
	after := s.round > 0
	fall := s.distortion - root.distortion()
	switch {
	case after && !p.soft() && slices.Equal(s.fingerprint, root.fingerprint):
		return stopUnchanged
	case after && p.params.Tol > 0 && fall <= float64(p.params.Tol*s.distortion):
		return stopTolerance
	case s.round+1 >= p.params.MaxRounds:
		return stopRounds
	}
	return ""
}

// next is another round, another restart, or the end.
func (p *lloydPhase) next(s *state, stop string) jobs.Next {
	if stop == "" {
		if len(s.empty) > 0 && p.params.Empty == emptyFarthest {
			return jobs.Next{Phase: refillName, State: jobs.ArraysOf(s)}
		}
		return jobs.Next{Phase: p.roundName(), State: jobs.ArraysOf(s)}
	}
	metrics := []jobs.Metric{jobs.CountMetric(runPrefix(s.restart)+p.roundName()+".rounds", int64(s.round))}
	if len(s.best.centers) == 0 || s.distortion < s.best.distortion {
		s.best = run{centers: s.centers, distortion: s.distortion, restart: s.restart, rounds: s.round, stop: stop}
	}
	if s.restart+1 < p.params.Restarts {
		s = &state{space: s.space, restart: s.restart + 1, best: s.best}
		return jobs.Next{Phase: p.firstPhase(), State: jobs.ArraysOf(s), Metrics: metrics}
	}
	s = &state{space: s.space, best: s.best}
	s.best.centers = canonical(s.best.centers, s.space.Width)
	return jobs.Next{Phase: p.lastPhase(), State: jobs.ArraysOf(s), Metrics: metrics}
}

// fingerprint is a digest of the assignments of a leaf. Those of all leaves are added, so that the sum
// tells whether any assignment changed, but for a collision of 256 bits.
type fingerprint struct {
	hash  hash.Hash
	bytes []byte
}

func newFingerprint(leaf int) *fingerprint {
	f := &fingerprint{hash: sha256.New()}
	f.hash.Write(binary.LittleEndian.AppendUint64(nil, uint64(leaf)))
	return f
}

func (f *fingerprint) add(index []int32) {
	f.bytes = kernelops.Resize(f.bytes, 4*len(index))
	to := f.bytes
	for _, j := range index {
		binary.LittleEndian.PutUint32(to, uint32(j))
		to = to[4:]
	}
	f.hash.Write(f.bytes)
}

func (f *fingerprint) sum() []uint64 {
	digest, words := f.hash.Sum(nil), make([]uint64, 4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(digest[8*i:])
	}
	return words
}

// canonical orders centers lexicographically. Equal centers are the same in any order.
func canonical(centers []float64, width int) []float64 {
	rows := slices.Collect(slices.Chunk(centers, width))
	// total order: rows that compare equal hold equal numbers
	slices.SortFunc(rows, slices.Compare[[]float64])
	return slices.Concat(rows...)
}
