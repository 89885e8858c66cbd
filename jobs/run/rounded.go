package run

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gram-compute/gram/dataset"
)

// roundedShare is how much of a column's standard deviation rounding may move a value before a report names the column.
const roundedShare = 1e-3

// moments are the mean of values and the sum of their squared distances from it.
type moments struct {
	n        int64
	mean, m2 float64
}

// momentSample is how many records of a block tell its moments roughly.
const momentSample = 256

// blockMoments are those of the columns of block.Notes.Rounded: of a sample of the records where it shows that
// rounding is far from mattering, else of all of them.
func blockMoments(block *dataset.Block) []moments {
	rounded := block.Notes.Rounded
	step := max(1, len(block.IDs)/momentSample)
	all := momentsOf(block, rounded, step)
	if step == 1 {
		return all
	}
	var near []dataset.Rounding
	var at []int
	for i, r := range rounded {
		if all[i].n == 0 { // the sample misses all values
			near, at = append(near, r), append(at, i)
			continue
		}
		if most := max(math.Abs(r.Low), math.Abs(r.High)); most > float64(roundedShare/10*all[i].deviation()) {
			near, at = append(near, r), append(at, i)
		}
		all[i].m2 = float64(all[i].m2 * (float64(len(block.IDs)) / float64(all[i].n)))
		all[i].n = int64(len(block.IDs))
	}
	if len(near) > 0 {
		for k, m := range momentsOf(block, near, 1) {
			all[at[k]] = m
		}
	}
	return all
}

// momentsOf are the moments of every step-th record, but for missing values; what a sparse row does not store is 0.
func momentsOf(block *dataset.Block, columns []dataset.Rounding, step int) []moments {
	sums, absent := make([]shifted, len(columns)), make([]int64, len(columns))
	place := map[int32]int{}
	for k, c := range columns {
		place[int32(c.Column)] = k
	}
	records := int64(0)
	for i := 0; i < len(block.IDs); i += step {
		records++
		if block.Dense.Width > 0 {
			row := block.Dense.Row(i)
			for k := range sums {
				if v := row[columns[k].Column]; v == v {
					sums[k].add(float64(v))
				} else {
					absent[k]++
				}
			}
			continue
		}
		index, value := block.Sparse.Row(i)
		for e, col := range index {
			if k, ok := place[col]; ok {
				sums[k].add(float64(value[e]))
			}
		}
	}
	all := make([]moments, len(sums))
	for k := range sums {
		all[k] = sums[k].moments(records - absent[k])
	}
	return all
}

// shifted adds up differences from the first value.
type shifted struct {
	n                   int64
	first, sum, squares float64
}

func (s *shifted) add(v float64) {
	if s.n == 0 {
		s.first = v
	}
	d := v - s.first
	s.n, s.sum, s.squares = s.n+1, s.sum+d, s.squares+float64(d*d)
}

// moments are those of n values, of which those not added are 0.
func (s *shifted) moments(n int64) moments {
	if n == 0 {
		return moments{}
	}
	if zeros := float64(n - s.n); zeros > 0 {
		s.sum -= float64(zeros * s.first)
		s.squares += float64(float64(s.first*s.first) * zeros)
	}
	mean := s.sum / float64(n)
	return moments{n, s.first + mean, max(0, s.squares-float64(s.sum*mean))}
}

func (m moments) deviation() float64 { return math.Sqrt(m.m2 / float64(m.n)) }

// plus joins two moments by the formula of Chan, Golub and LeVeque (1979).
func (m moments) plus(o moments) moments {
	switch {
	case m.n == 0:
		return o
	case o.n == 0:
		return m
	}
	share := float64(o.n) / float64(m.n+o.n)
	d := o.mean - m.mean
	return moments{m.n + o.n, m.mean + float64(d*share), m.m2 + o.m2 +
		float64(float64(d*d)*float64(float64(m.n)*share))}
}

func (c columnNote) moments() moments { return moments{c.N, c.Mean, c.M2} }

func (c columnNote) plus(o columnNote) columnNote {
	m := c.moments().plus(o.moments())
	c.Moved, c.Low, c.High = c.Moved+o.Moved, min(c.Low, o.Low), max(c.High, o.High)
	if c.Equal[0] == "" {
		c.Equal = o.Equal
	}
	c.N, c.Mean, c.M2 = m.n, m.mean, m.m2
	return c
}

// largest is the largest change of a value.
func (c columnNote) largest() float64 { return max(math.Abs(c.Low), math.Abs(c.High)) }

// matters says that rounding moved a value by more than share of the standard deviation, or made two whole numbers
// equal.
func (c columnNote) matters(share float64) bool {
	return c.Equal[0] != "" || c.largest() > float64(share*c.moments().deviation())
}

// named says that a report names the column. A constant is moved as a whole, which changes no difference.
func (c columnNote) named() bool {
	constant := c.M2 == 0 && c.Low == c.High && c.Moved == c.N
	return !constant && c.matters(roundedShare)
}

// text tells people what rounding did to the column, and what to do.
func (c columnNote) text() string {
	of := ""
	if c.N > 0 {
		of = fmt.Sprintf("; its standard deviation is %.4g", c.moments().deviation())
	}
	text := fmt.Sprintf("column %s: rounding to float32 moved %d of %d values, by up to %.4g%s", c.Name, c.Moved, c.N,
		c.largest(), of)
	if c.Equal[0] != "" {
		text += fmt.Sprintf(". %s and %s became equal", c.Equal[0], c.Equal[1])
	}
	key := c.Name
	if _, err := strconv.Unquote(key); err != nil {
		key = strconv.Quote(key)
	}
	return text + fmt.Sprintf(". Set spec.input.subtract: {%s: %s} to take that off before rounding", key,
		strconv.FormatFloat(c.Mean, 'g', 7, 64))
}
