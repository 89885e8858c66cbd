package features

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/ranks"
	"github.com/gram-compute/gram/protocol"
)

// maxRobust bounds the columns whose quartiles are found: each has 12 KiB of counts.
const maxRobust = 4096

// CheckOnePass refuses a scale that needs more than one pass over the training records, for kinds that make one.
func (p Params) CheckOnePass(kind string) error {
	if p.Scale != ScaleRobust {
		return nil
	}
	return protocol.SpecFault("features.scale: %s reads the records once before it begins; scale robust takes five passes",
		kind).WithHint("Take scale standard, or another kind.")
}

// quartile is one of n numbers, between two of them: that of rank low and the next, and how far from it in quarters. It
// is NumPy's percentile by linear interpolation.
func quartile(q, records int64) (low int64, quarters float64) {
	at := q * (records - 1)
	return at / 4, float64(at % 4)
}

// scan is the state of the passes that find quartiles: what the job began with, the space without its scaling yet, and
// the search.
type scan struct {
	given  jobs.Arrays
	space  *Space
	search *ranks.Search
}

// scanPrefix marks the arrays of a scan among those that the job began with.
const scanPrefix = "robust."

// beginScan begins the search for the quartiles of a space.
func beginScan(given jobs.Arrays, s *Space) (*scan, error) {
	if s.Width > maxRobust {
		return nil, protocol.InputFault(protocol.CodeInputLimit, "scale robust finds the quartiles of up to %d columns, not %d",
			maxRobust, s.Width).WithHint("Take scale standard, or fewer columns with spec.input.features.")
	}
	var wanted []int64
	for q := int64(1); q <= 3; q++ {
		low, _ := quartile(q, s.Records)
		wanted = append(wanted, low, min(low+1, s.Records-1))
	}
	return &scan{given, s, ranks.New(s.Width, wanted)}, nil
}

// arrays are those of the state.
func (s *scan) arrays() jobs.Arrays {
	own, all := jobs.ArraysOf(s.space), maps.Clone(s.given)
	if all == nil {
		all = jobs.Arrays{}
	}
	jobs.Add(own, s.search)
	for name, array := range own { //lint:ordered a union of names that differ
		all[scanPrefix+name] = array
	}
	return all
}

// readScan reads the state of a pass, nil for that of the first one, which counts all else.
func readScan(state jobs.Arrays) (*scan, error) {
	s, own := &scan{given: jobs.Arrays{}}, jobs.Arrays{}
	for name, array := range state { //lint:ordered two unions of names that differ
		if rest, ok := strings.CutPrefix(name, scanPrefix); ok {
			own[rest] = array
		} else {
			s.given[name] = array
		}
	}
	if len(own) == 0 {
		return nil, nil
	}
	var err error
	if s.space, err = ReadSpace(own); err != nil {
		return nil, err
	}
	if s.search, err = jobs.Read(own, &ranks.Search{}); err != nil {
		return nil, err
	}
	return s, s.search.Of(s.space.Width, 6)
}

// rank counts the training records of one leaf for the search.
func (b *Builder) rank(ctx context.Context, s *scan, leaf jobs.Leaf) (*Counts, error) {
	found, train, reader := s.search.NewCounts(), b.train(), s.space.NewReader()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		var wrong error
		rows, err := reader.Read(block, func(block *dataset.Block, i int) bool {
			if !train(block, i) || b.leavesOut == nil {
				return train(block, i)
			}
			out, err := b.leavesOut(block.IDs[i], block.Labels, i)
			if wrong == nil {
				wrong = err
			}
			return !out
		})
		if err != nil || wrong != nil {
			return nil, cmp.Or(err, wrong)
		}
		for i := range rows.Rows {
			s.search.Add(found, rows.Dense.Row(i))
		}
	}
	return &Counts{builder: b, ranks: found}, nil
}

// scanned is the next pass of a scan.
func scanned(s *scan, err error) (jobs.Next, error) {
	if err != nil {
		return jobs.Next{}, err
	}
	return jobs.Next{Phase: Name, State: s.arrays()}, nil
}

// step ends a pass of a scan. After the last, what then says is next.
func (s *scan) step(root *Counts, then func(*scan) (jobs.Next, error)) (jobs.Next, error) {
	if done, err := s.narrow(root); err != nil || !done {
		return scanned(s, err)
	}
	return then(s)
}

// narrow ends a pass, and reports whether the space has its scaling.
func (s *scan) narrow(root *Counts) (done bool, err error) {
	if root.ranks == nil {
		return false, jobs.Malformed("a partial without counts of ranks")
	}
	if s.search, err = s.search.Narrow(root.ranks); err != nil || !s.search.Done() {
		return false, err
	}
	between := func(q int64, column int) float64 {
		_, quarters := quartile(q, s.space.Records)
		low, high := float64(s.search.At(int(2*q-2), column)), float64(s.search.At(int(2*q-1), column))
		return low + float64((high-low)*(quarters/4))
	}
	p := s.space
	p.shift, p.factor = slices.Clone(p.shift), slices.Clone(p.factor)
	p.Mean, p.Variance = slices.Clone(p.Mean), slices.Clone(p.Variance)
	for j := range p.Width {
		p.shift[j], p.factor[j] = between(2, j), factor(between(3, j)-between(1, j))
		p.Mean[j] = float64((p.Mean[j] - p.shift[j]) * p.factor[j])
		p.Variance[j] = float64(float64(p.Variance[j]*p.factor[j]) * p.factor[j])
	}
	return true, nil
}
