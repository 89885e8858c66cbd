package features

import (
	"math"
	"math/big"

	"github.com/gram-compute/gram/dataset"
)

// scaleDense sets the scaling, and the moments after it.
func (s *Space) scaleDense(c columns, root *Counts) {
	columns := s.Width
	if s.imputer != nil {
		s.Width += len(s.imputer.flagged)
	}
	numbers := s.Width
	if s.encoder != nil {
		s.Width += s.encoder.width()
	}
	mean := make([]float64, s.Width)
	s.Mean, s.Variance = mean, make([]float64, s.Width)
	s.Min, s.Max = make([]float32, s.Width), make([]float32, s.Width)
	copy(s.Min, c.min)
	copy(s.Max, c.max)
	if c.moments != nil {
		c.moments.Mean(0, mean[:columns])
		c.moments.Variance(0, s.Variance[:columns])
	}
	for j := 0; s.omits && j < columns; j++ {
		mean[j], s.Variance[j] = c.moments.Part(j, big.NewInt(s.Records-root.gone.count[j]), 0)
	}
	if s.imputer != nil {
		s.imputer.flag(mean, s.Variance, s.Min, s.Max, root.gone, s.Records)
	}
	if s.encoder != nil {
		s.encoder.moments(s, mean, numbers, root.categories)
	}
	if !s.scalesColumns() {
		return
	}
	s.shift, s.factor = make([]float64, s.Width), make([]float64, s.Width)
	s.Mean = make([]float64, s.Width)
	for j := range s.factor {
		low, high := float64(s.Min[j]), float64(s.Max[j])
		s.shift[j], s.factor[j] = mean[j], factor(math.Sqrt(s.Variance[j]))
		switch s.scale {
		case ScaleMinMax:
			s.shift[j], s.factor[j] = low, factor(high-low)
		case ScaleMaxAbs:
			s.shift[j], s.factor[j] = 0, factor(max(-low, high))
		case ScaleRobust: // not known yet: see scan
			s.shift[j], s.factor[j] = 0, 1
		}
		s.Mean[j] = float64((mean[j] - s.shift[j]) * s.factor[j])
		s.Variance[j] = float64(float64(s.Variance[j]*s.factor[j]) * s.factor[j])
	}
}

// scalesColumns reports whether each column has a factor.
func (s *Space) scalesColumns() bool {
	return s.scale != ScaleNone && s.scale != ScaleL2
}

// scaleSparse sets the factors of standard and of maxabs. The zeros that are not stored add nothing to the sums, but
// count as records.
func (s *Space) scaleSparse(c columns) {
	if !s.scalesColumns() {
		return
	}
	s.factor = make([]float64, s.Width)
	if s.scale == ScaleMaxAbs {
		for j, most := range c.max {
			s.factor[j] = factor(float64(most))
		}
		return
	}
	c.moments.Variance(0, s.factor)
	for j, variance := range s.factor {
		s.factor[j] = factor(math.Sqrt(variance))
	}
}

// factor is 1/spread, or 1 where there is none.
func factor(spread float64) float64 {
	if spread == 0 {
		return 1
	}
	return 1 / spread
}

// scaled is one value after scaling.
func scaled(v float32, shift, factor float64) float32 {
	return float32((float64(v) - shift) * factor)
}

// scaleRow scales a dense row into dst; they may be the same.
func (s *Space) scaleRow(dst, row []float32) {
	for j, v := range row {
		dst[j] = scaled(v, s.shift[j], s.factor[j])
	}
}

// normalize divides a row by its Euclidean norm, unless that is 0.
func normalize(row []float32) {
	sum := 0.0
	for _, v := range row {
		sum += float64(float64(v) * float64(v))
	}
	if sum == 0 {
		return
	}
	norm := math.Sqrt(sum)
	for j, v := range row {
		row[j] = float32(float64(v) / norm)
	}
}

// checkFinite refuses a row with a value that is not finite. index names the columns of a sparse row.
func checkFinite(id dataset.Identity, row []float32, index []int32) error {
	if finiteRow(row) {
		return nil
	}
	for j, v := range row {
		if math.Float32bits(v)&infinite == infinite {
			if index == nil && v != v {
				return absent(id, j)
			}
			if index != nil {
				j = int(index[j])
			}
			return valueFault(id, j, "is not a finite number")
		}
	}
	return nil
}

// finiteRow adds one to each exponent, without the sign: that of infinities and NaN overflows into the sign.
func finiteRow(row []float32) bool {
	const magnitude, one = 1<<31 - 1, 1 << 23
	var a, b, c, d uint32
	for ; len(row) >= 4; row = row[4:] {
		a |= math.Float32bits(row[0])&magnitude + one
		b |= math.Float32bits(row[1])&magnitude + one
		c |= math.Float32bits(row[2])&magnitude + one
		d |= math.Float32bits(row[3])&magnitude + one
	}
	for _, v := range row {
		a |= math.Float32bits(v)&magnitude + one
	}
	return (a|b|c|d)>>31 == 0
}

// infinite is the exponent of infinities and NaN, as bits.
const infinite = 0xff << 23
