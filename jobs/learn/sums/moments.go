package sums

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// Moments are, for each class, the weight of its rows and, for each column, the mean and the weighted sum of the
// squared distances from the mean.
type Moments struct {
	Width    int
	Weight   []float64 // [classes]
	Mean, M2 []float64 // [classes x width]
}

// NewMoments returns moments without any row.
func NewMoments(classes, width int) *Moments {
	return &Moments{width, make([]float64, classes), make([]float64, classes*width), make([]float64, classes*width)}
}

// Fields lists the arrays of a partial.
func (m *Moments) Fields(f *jobs.Fields) {
	jobs.List(f, "weight", &m.Weight)
	f.Dim("mean", 1, &m.Width)
	jobs.List(f, "mean", &m.Mean, len(m.Weight), m.Width)
	jobs.List(f, "m2", &m.M2, len(m.Weight), m.Width)
}

// Add adds each row of x to its class, in order. If weights is nil, each row weighs 1. The time is linear in the
// values.
func (m *Moments) Add(x kernelops.Matrix, class []int32, weights []float32) {
	for i, y := range class {
		weight := 1.0
		if weights != nil {
			weight = float64(weights[i])
		}
		if weight > 0 {
			m.add(int(y), x.Row(i), weight)
		}
	}
}

// add adds a record to a class: West's update.
func (m *Moments) add(class int, row []float32, weight float64) {
	m.Weight[class] += weight
	share := weight / m.Weight[class]
	mean, m2 := m.of(class)
	for j, v := range row {
		d := float64(v) - mean[j]
		mean[j] += float64(d * share)
		m2[j] += float64(float64(weight*d) * (float64(v) - mean[j]))
	}
}

// of returns the columns of a class.
func (m *Moments) of(class int) (mean, m2 []float64) {
	begin, end := class*m.Width, (class+1)*m.Width
	return m.Mean[begin:end], m.M2[begin:end]
}

// Plus merges the moments to the right, by Chan's formula.
func (m *Moments) Plus(right *Moments) (*Moments, error) {
	if len(m.Weight) != len(right.Weight) || m.Width != right.Width {
		return nil, jobs.Malformed("moments of %d classes x %d columns meet %d x %d",
			len(m.Weight), m.Width, len(right.Weight), right.Width)
	}
	sum := NewMoments(len(m.Weight), m.Width)
	for y := range sum.Weight {
		a, b := m.Weight[y], right.Weight[y]
		sum.Weight[y] = a + b
		mean, m2 := sum.of(y)
		meanA, m2A := m.of(y)
		meanB, m2B := right.of(y)
		if b == 0 {
			copy(mean, meanA)
			copy(m2, m2A)
			continue
		}
		share := b / (a + b) // 1 if the left has no weight
		for j := range mean {
			d := meanB[j] - meanA[j]
			mean[j] = meanA[j] + float64(d*share)
			m2[j] = m2A[j] + m2B[j] + float64(float64(d*d)*float64(a*share))
		}
	}
	return sum, nil
}
