package folds

import (
	"context"
	"math/bits"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// Names of the phases that deal.
const (
	dealName  = "deal"
	ranksName = "deal-ranks"
)

// Bounds of what is counted exactly.
const (
	maxClasses = 1 << 12
	maxGroups  = 1 << 16
)

// dealer deals the records of a spec into parts: its folds or, of a share that is held out, 1 for the records that are
// and 2 for the others.
//
// By label, the records of a class are ranked by 64-bit draws for their identities, and cut into parts whose numbers of
// records differ by 1 at most. Phase "deal" counts the classes; the draws at the cuts are found digit by digit in the
// rounds of phase "deal-ranks", each of which counts the records of some ranges of draws (a radix selection: Knuth, The
// Art of Computer Programming 3, section 5.2.5 backwards). Memory does not depend on the records.
//
// By groups, phase "deal" counts the records of each, and its step gives the largest group to the smallest part, as
// long as there are any (Graham, "Bounds on multiprocessing timing anomalies", 1969). More than 2^16 groups are dealt
// by draws for their hashes.
type dealer struct {
	seed  uint64
	split protocol.Split
	next  string // first phase of the job
}

func (d dealer) parts() int { return max(2, d.split.Folds) }

func (d dealer) key() philox.Key { return philox.New(d.seed, "folds") }

// hashed is the part of a group that is dealt by a draw.
func (d dealer) hashed(group uint64) uint8 {
	if d.split.Folds == 0 {
		if d.key().Float64(group, 1) < d.split.Test {
			return 1
		}
		return 2
	}
	high, _ := bits.Mul64(d.key().Uint64(group, 1), uint64(d.split.Folds))
	return uint8(high) + 1
}

// dealt is what the phases have in the state: of each class, in byte order, the draws at which its parts after the
// first begin; or of each group, ascending, the part. Without groups, they are hashed.
type dealt struct {
	search search
	labels jobs.Strings
	cuts   []uint64 // classes x (parts - 1), ascending in each class
	groups []uint64
	of     []uint8
	class  map[string]int
}

// Fields lists what was dealt under names that begin with "folds.".
func (t *dealt) Fields(f *jobs.Fields) {
	f.Strings("folds.labels", &t.labels)
	jobs.List(f, "folds.cuts", &t.cuts)
	jobs.List(f, "folds.groups", &t.groups)
	jobs.List(f, "folds.parts", &t.of, len(t.groups))
	t.search.Fields(f, len(t.cuts))
	n := t.labels.Len()
	f.Require(t.labels.StrictlyAscending() && len(t.cuts)%max(1, n) == 0 && (n > 0 || len(t.cuts) == 0) &&
		slices.IsSorted(t.groups), "what was dealt is not in order")
	if f.Reading() {
		t.class = make(map[string]int, n)
		for i := range n {
			t.class[string(t.labels.At(i))] = i
		}
	}
}

// stateNames are the names of the arrays of a dealt; what a job's own phases see of the state is without them.
var stateNames = func() (names []string) {
	for name := range jobs.ArraysOf(new(dealt)) { //lint:ordered sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

// marker gives records their parts. It is for one goroutine.
type marker struct {
	dealer
	*dealt
	draws *dataset.Draws
}

func (d dealer) marker(t *dealt) *marker { return &marker{d, t, dataset.NewDraws(d.key())} }

// mark returns a copy of a block whose records have their parts.
func (m *marker) mark(block *dataset.Block) (*dataset.Block, error) {
	marked := *block
	marked.Folds = make([]uint8, len(block.IDs))
	for i, id := range block.IDs {
		if m.split.By == "" {
			if len(m.groups) == 0 {
				marked.Folds[i] = m.hashed(block.Groups[i])
			} else if at, ok := slices.BinarySearch(m.groups, block.Groups[i]); ok {
				marked.Folds[i] = m.of[at]
			}
		} else if class, ok := m.class[string(block.Labels[i])]; ok {
			n := m.parts() - 1
			at, found := slices.BinarySearch(m.cuts[class*n:(class+1)*n], m.draws.Uint64(id))
			if found {
				at++
			}
			marked.Folds[i] = uint8(at) + 1
		}
		if marked.Folds[i] == 0 {
			return nil, id.Fault("the record was not there when the records were counted").
				WithHint("Do not change the input while a job reads it.")
		}
	}
	return &marked, nil
}

// deals returns the phases that come first.
func (d dealer) deals() []jobs.Phase {
	list := []jobs.Phase{jobs.MapReduce[jobs.Arrays, *census]{
		Name: dealName, State: jobs.Itself, Partial: func() *census { return new(census) },
		Map: d.count, Merge: (*census).plus, Step: d.deal,
	}.Phase()}
	if d.split.By != "" {
		list = append(list, jobs.MapReduce[*searching, *found]{
			Name: ranksName, State: readSearching, Partial: func() *found { return new(found) },
			Map: d.rank, Merge: (*found).plus, Step: d.ranked,
			Rounds: jobs.Most(64), // a round finds at least one of the 64 binary digits of a draw
		}.Phase())
	}
	return list
}

// count counts the records of each class or group of a leaf.
func (d dealer) count(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ *kernelops.Set) (*census, error) {
	c := newCounter(d)
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if err := c.add(block); err != nil {
			return nil, err
		}
	}
	return c.census(), nil
}

// deal deals what was counted, or begins to look for the draws of the cuts.
func (d dealer) deal(_ context.Context, state jobs.Arrays, c *census, _ jobs.Round) (jobs.Next, error) {
	t, report := new(dealt), evaluation.Deal{Parts: make([]int64, d.parts()), Held: d.split.Folds == 0}
	var err error
	if d.split.By != "" {
		err = d.strata(t, c, &report)
	} else {
		err = d.dealGroups(t, c, &report)
	}
	if err != nil {
		return jobs.Next{}, err
	}
	var facts jobs.Facts
	facts.Add(evaluation.DealMetric, report)
	if text := report.Uneven(); text != "" {
		facts.Add(jobs.WarningsMetric, []string{text})
	}
	next := jobs.Next{Phase: d.next, State: withDealt(state, t)}
	if d.split.By != "" {
		next.Phase = ranksName
	}
	next.Metrics, err = facts.Metrics()
	return next, err
}
