package features

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// What stands for missing numbers of dense vectors; see the package.
const (
	missingError     = "error"
	missingMean      = "mean"
	missingConstant  = "constant"
	missingIndicator = "indicator"
	missingOmit      = "omit" // of kinds that can leave a number out
)

// filling is what is put in; the default is empty, so that models before it had a name stay as they are.
type filling string

// UnmarshalText reads the default's name as no name.
func (p *filling) UnmarshalText(name []byte) error {
	if *p = filling(name); *p == missingError {
		*p = ""
	}
	return nil
}

// Missing says what is put in for missing numbers.
type Missing struct {
	Missing filling `json:"missing,omitempty"`
	Fill    float64 `json:"fill,omitempty"`
}

// missingParameters declares them; further are the ways that the kind has beside those of all.
func (p *Missing) missingParameters(further ...filling) []params.Parameter {
	says := "What is put in for missing numbers of dense vectors (spec.input.missing): the mean of the column's others " +
		"(mean), fill (constant), or the mean and, for columns that miss some, a further column of 1 and 0 (indicator)."
	if len(further) > 0 {
		says += " omit puts nothing in: a missing number is left out of what is estimated and of what is predicted."
	}
	ways := append([]filling{missingError, missingMean, missingConstant, missingIndicator}, further...)
	return []params.Parameter{
		params.Choice("missing", &p.Missing, "", ways...).Missing(missingError).Says(says),
		params.Number("fill", &p.Fill, 0, "[-3.4e38, 3.4e38]").Says("The number that missing: constant puts in."),
	}
}

// checkMissing rejects a fill that nothing takes, and what would have to know means before they are known.
func (p *Params) checkMissing() error {
	means := p.putsMeans()
	switch {
	case p.Fill != 0 && p.Missing.Missing != missingConstant:
		return protocol.SpecFault("fill is of missing: %s", missingConstant)
	case p.omits() && (p.Map != nil || p.Scale == ScaleL2 || p.Scale == ScaleRobust):
		return protocol.SpecFault("missing: %s goes with scale %s, %s, %s and %s, and without map", missingOmit,
			ScaleNone, ScaleStandard, ScaleMinMax, ScaleMaxAbs)
	case p.omits() && p.Categories != nil && p.Categories.Sparse:
		return protocol.SpecFault("missing: %s is of dense vectors, and categories.sparse makes sparse ones",
			missingOmit)
	case means && p.Map != nil:
		return protocol.SpecFault("map multiplies columns before their means are known: with it, missing is %s or %s",
			missingError, missingConstant)
	case means && p.Scale == ScaleL2:
		return protocol.SpecFault("scale l2 scales rows before the means of columns are known: with it, missing is %s or %s",
			missingError, missingConstant)
	}
	return nil
}

// puts reports whether something is put in.
func (p Missing) puts() bool { return p.Missing != "" }

// Omits reports whether missing numbers are left out of what is learned.
func (p Missing) Omits() bool { return p.omits() }

// omits reports whether missing numbers stay missing.
func (p Missing) omits() bool { return p.Missing == missingOmit }

// putsMeans reports whether means are put in, or missing numbers left out, for which all training records must be
// read.
func (p Missing) putsMeans() bool { return p.puts() && p.Missing != missingConstant }

// absence counts the missing numbers of each column of dense vectors, and has the ranges of the others.
type absence struct {
	count     []int64
	low, high []float32
}

func newAbsence(width int) *absence {
	a := &absence{make([]int64, width), make([]float32, width), make([]float32, width)}
	for j := range a.low {
		a.low[j], a.high[j] = float32(math.Inf(1)), float32(math.Inf(-1))
	}
	return a
}

// add counts a row, and puts 0 in for what it misses.
func (a *absence) add(row []float32) {
	for j, v := range row {
		if v != v {
			a.count[j]++
			row[j] = 0
			continue
		}
		a.low[j], a.high[j] = min(a.low[j], v), max(a.high[j], v)
	}
}

// refuseEmpty refuses a column that misses all of its numbers.
func (a *absence) refuseEmpty(records int64) error {
	if j := slices.Index(a.count, records); j >= 0 {
		return protocol.EmptyFault("column %d has no number in %s", j+1,
			protocol.Counted(records, "training record")).OfColumn(j + 1).
			WithHint("Leave the column out with spec.input.features, or check spec.input.missing.")
	}
	return nil
}

// plus adds other rows.
func (a *absence) plus(b *absence) *absence {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := newAbsence(len(a.count))
	for j := range sum.count {
		sum.count[j] = a.count[j] + b.count[j]
		sum.low[j], sum.high[j] = min(a.low[j], b.low[j]), max(a.high[j], b.high[j])
	}
	return sum
}

// Fields lists what was counted of the given number of records.
func (a *absence) Fields(f *jobs.Fields, width int, records int64) {
	jobs.List(f, "missing.count", &a.count, width)
	jobs.List(f, "missing.low", &a.low, width)
	jobs.List(f, "missing.high", &a.high, width)
	f.Check(func() error {
		for j, n := range a.count {
			if n < 0 || n > records || n < records && !(a.low[j] <= a.high[j]) {
				return jobs.Malformed("column %d misses %d numbers of %d, and has others from %v to %v", j, n, records,
					a.low[j], a.high[j])
			}
		}
		return nil
	})
}

// imputer puts numbers in for missing ones.
type imputer struct {
	fill    []float32 // [columns of the records]
	flagged []int32   // columns that have a further one, which is 1 where they miss their number
}

// constant puts one number in for all.
func constant(columns int, fill float64) *imputer {
	return &imputer{fill: slices.Repeat([]float32{float32(fill)}, columns)}
}

func (m *imputer) width() int { return len(m.fill) + len(m.flagged) }

// row sets dst, of the imputed width, to a row with numbers put in.
func (m *imputer) row(dst, row []float32) {
	for k, j := range m.flagged {
		dst[len(m.fill)+k] = 0
		if v := row[j]; v != v {
			dst[len(m.fill)+k] = 1
		}
	}
	for j, v := range row {
		if v != v {
			v = m.fill[j]
		}
		dst[j] = v
	}
}

// missingArray is an array of a space that puts numbers in, in a state or model.
const missingArray = "features.fill"

// Fields lists the numbers.
func (m *imputer) Fields(f *jobs.Fields) {
	jobs.List(f, missingArray, &m.fill)
	jobs.List(f, missingArray+".flagged", &m.flagged)
	f.Check(func() error {
		n := len(m.flagged)
		if !jobs.Finite(m.fill) || !ascend(m.flagged) ||
			n > 0 && (m.flagged[0] < 0 || int(m.flagged[n-1]) >= len(m.fill)) {
			return jobs.Malformed("numbers of a feature space for missing ones that are not finite, or are of no column")
		}
		return nil
	})
}

// impute finds what is put in for missing numbers, and makes the columns and the moments those of the vectors after it.
// A column that misses all is a fault.
func (b *Builder) impute(s *Space, c *columns, gone *absence) error {
	switch {
	case s.Width == 0: // categories only
		return nil
	case b.params.Missing.Missing == missingConstant:
		s.imputer = constant(s.Width, b.params.Fill)
		return nil
	case !b.params.putsMeans():
		return nil
	}
	if s.omits = b.params.omits(); s.omits {
		c.min, c.max = gone.low, gone.high
		return gone.refuseEmpty(s.Records)
	}
	if err := gone.refuseEmpty(s.Records); err != nil {
		return err
	}
	s.imputer = &imputer{fill: make([]float32, s.Width)}
	put := sums.NewMoments(1, s.Width)
	for j, n := range gone.count {
		fill := float32(c.moments.Sums.Float(j) / float64(s.Records-n))
		s.imputer.fill[j] = fill
		for rest := uint64(n); rest != 0; rest &= rest - 1 {
			times := float64(uint64(1) << bits.TrailingZeros64(rest))
			put.Sums.Add(j, float64(float64(fill)*times))
			put.Squares.Add(j, float64(float64(float64(fill)*float64(fill))*times))
		}
		if n > 0 && b.params.Missing.Missing == missingIndicator {
			s.imputer.flagged = append(s.imputer.flagged, int32(j))
		}
	}
	var err error
	c.moments, err = c.moments.Plus(put)
	c.min, c.max = gone.low, gone.high // the mean lies between them
	return err
}

// flag appends the moments and the range of the columns that flag missing numbers.
func (m *imputer) flag(mean, variance []float64, low, high []float32, gone *absence, records int64) {
	for k, j := range m.flagged {
		share := float64(gone.count[j]) / float64(records)
		at := len(m.fill) + k
		mean[at], variance[at] = share, float64(share*(1-share))
		low[at], high[at] = 0, 1
		if gone.count[j] == records {
			low[at] = 1
		}
	}
}

// omitsArray is an array of a space that leaves missing numbers out, in a state or model.
const omitsArray = "features.omits"

// Omits reports whether vectors have NaN where a number is missing.
func (s *Space) Omits() bool { return s.omits }

// TakesGaps reports whether a record may miss a number, for which something is put in or which is left out.
func (s *Space) TakesGaps() bool { return s.omits || s.imputer != nil }

// checkNumbers is checkFinite, but for numbers that are left out.
func (s *Space) checkNumbers(id dataset.Identity, row []float32, index []int32) error {
	if !s.omits {
		return checkFinite(id, row, index)
	}
	for j, v := range row {
		if math.IsInf(float64(v), 0) {
			return valueFault(id, j, "is not a finite number")
		}
	}
	return nil
}

// absent is the fault of a missing number that nothing is put in for.
func absent(id dataset.Identity, column int) error {
	return id.Fault("value %d of the vector is missing: NaN is not a finite number", column+1).
		OfColumn(column + 1).
		WithHint("Set params.features.missing to mean, constant or indicator; or leave it out of spec.input.missing, and let " +
			"such records pass with spec.input.on_bad_record.skip_max.")
}
