package linearmodel

import (
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/gordan"
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

// newOpen are samples for the machines that are open; nil if none is, or their rows are too long.
func (s *training) newOpen() []*sampling.Sample {
	machines := s.open()
	if len(machines) == 0 {
		return nil
	}
	rows := min(openRows, openNumbers/(len(machines)*s.openLength()))
	if rows < 2 {
		return nil
	}
	list := make([]*sampling.Sample, len(machines))
	for i := range list {
		list[i] = sampling.New(rows)
	}
	return list
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

// offer gathers a support vector for a machine that is open.
func (u *support) offer(k int, r *record, side float64, id dataset.Identity) {
	if i := slices.Index(u.openly, k); i >= 0 && u.open != nil {
		u.gathered = u.openRow(u.gathered, r, side)
		u.open[i].Offer(u.opens.Chance(id), id, u.gathered)
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
