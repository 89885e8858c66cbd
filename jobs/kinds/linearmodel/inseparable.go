package linearmodel

import (
	"fmt"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/gordan"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/jobs/learn/sampling"
)

// Bounds of what is gathered to prove that a machine cannot separate: support vectors of one machine, and numbers of
// all.
const (
	openRows    = 2048
	openNumbers = 1 << 20
)

// open are the machines of which it is not known whether they can separate, if the model is to say so.
func (s *training) open() (machines []int) {
	if s.asked == 0 {
		return nil
	}
	for k, g := range s.margins {
		if !g.Separates() && g.Hi > 0 {
			machines = append(machines, k)
		}
	}
	return machines
}

// A row of a sample is its side and its values and, of sparse vectors, both with the halves of the columns in front: 16
// bits each, as float32 holds them exactly. All rows are as long as the longest.
const sparseNumbers = 3

func (s *training) openLength() int {
	if s.space.Dense() {
		return 1 + s.space.Width
	}
	return 1 + sparseNumbers*int(max(0, s.longest-1)) // which counts the bias
}

// undecided gathers the support vectors of machines that are open, each in a sample.
type undecided struct {
	open    []int
	samples []*sampling.Sample
	race    *sampling.Race
	values  []float32
}

// newUndecided begins; it has no samples if no machine is open, or their rows are too long.
func newUndecided(s *training, seed uint64) *undecided {
	u := &undecided{open: s.open(), race: sampling.NewRace(seed, "linearmodel/open")}
	if len(u.open) == 0 {
		return u
	}
	rows := min(openRows, openNumbers/(len(u.open)*s.openLength()))
	for range u.open {
		if rows > 1 {
			u.samples = append(u.samples, sampling.New(rows))
		}
	}
	return u
}

// written is what the leaves of the last round wrote and gathered.
type written struct {
	*margin.Written
	samples []*sampling.Sample // of the machines that are open
}

// Fields lists what was written and gathered.
func (w *written) Fields(f *jobs.Fields) {
	jobs.Make(f, &w.Written).Fields(f)
	n := len(w.samples)
	if f.Int("open", &n, 0, openNumbers); f.Reading() {
		w.samples = make([]*sampling.Sample, n)
	}
	for i := range w.samples {
		sampling.Fields(f, fmt.Sprintf("open.%d", i), &w.samples[i])
	}
}

// plus joins what two neighbors wrote and gathered. Either both belong to the last round, or none.
func (w *written) plus(right *written) (*written, error) {
	switch {
	case w == nil && right == nil:
		return nil, nil
	case w == nil || right == nil || len(w.samples) != len(right.samples):
		return nil, jobs.Malformed("two tallies are not both of the last round, or of other machines")
	}
	for i, sample := range w.samples {
		if err := sample.Merge(right.samples[i]); err != nil {
			return nil, err
		}
	}
	both, err := w.Written.Plus(right.Written)
	return &written{both, w.samples}, err
}

// openRow is a support vector as a row of a sample.
func (s *training) openRow(into []float32, r *record, side float64) []float32 {
	into = append(into[:0], float32(side))
	for e, v := range r.Values {
		if r.Index != nil {
			into = append(into, float32(r.Index[e]>>16), float32(r.Index[e]&0xffff))
		}
		into = append(into, v)
	}
	for len(into) < s.openLength() {
		into = append(into, 0)
	}
	return into
}

// gordanRow reads a row of a sample.
func (s *training) gordanRow(row []float32) (gordan.Row, error) {
	if len(row) != s.openLength() || row[0] != 1 && row[0] != -1 || !jobs.Finite(row) {
		return gordan.Row{}, jobs.Malformed("a support vector of %d numbers", len(row))
	}
	r := gordan.Row{Bias: s.biasScale, Side: float64(row[0]), Values: row[1:]}
	if s.space.Dense() {
		return r, nil
	}
	r.Values = nil
	for at := 1; at < len(row); at += sparseNumbers {
		if row[at+2] == 0 {
			continue
		}
		high, low := row[at], row[at+1]
		if !(high >= 0 && high < 1<<15 && low >= 0 && low < 1<<16) {
			return gordan.Row{}, jobs.Malformed("a support vector with a value in column %v, %v", high, low)
		}
		index := int32(high)<<16 | int32(low) //lint:checked below 2^15 and 2^16
		r.Index, r.Values = append(r.Index, index), append(r.Values, row[at+2])
	}
	if r.Index == nil {
		r.Index = []int32{}
	}
	return r, nil
}

// offer gathers a support vector, if its machine is open.
func (u support) offer(k int, r *record, side float64, id dataset.Identity) {
	if i := slices.Index(u.undecided.open, k); i >= 0 && i < len(u.samples) {
		u.values = u.openRow(u.values, r, side)
		u.samples[i].Offer(u.race.Chance(id), id, u.values)
	}
}

// decide sets the bound on the margin of machines that cannot separate to 0, where the support vectors that were
// gathered prove it.
func (s *training) decide(samples []*sampling.Sample) error {
	machines := s.open()
	if len(samples) == 0 {
		return nil
	}
	if len(samples) != len(machines) {
		return jobs.Malformed("samples of %d machines, not %d", len(samples), len(machines))
	}
	s.margins = slices.Clone(s.margins)
	for i, k := range machines {
		var rows []gordan.Row
		for _, d := range samples[i].Draws() {
			r, err := s.gordanRow(d.Row)
			if err != nil {
				return err
			}
			rows = append(rows, r)
		}
		if gordan.Proves(rows) {
			s.margins[k].Hi = 0
		}
	}
	return nil
}
