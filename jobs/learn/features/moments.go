package features

import "github.com/gram-compute/gram/jobs/learn/vocabulary"

// moments are the mean of a column's values and the sum of their squared distances from it.
type moments struct{ mean, m2 []float64 }

func newMoments(width int) moments {
	return moments{make([]float64, width), make([]float64, width)}
}

// addRow adds a row that is the n-th of every column: Welford's update.
func (m moments) addRow(row []float32, n int64) {
	mean, m2, count := m.mean[:len(row)], m.m2[:len(row)], float64(n)
	for j, v := range row {
		x := float64(v)
		d := x - mean[j]
		mean[j] += d / count
		m2[j] += float64(d * (x - mean[j]))
	}
}

// add adds a value that is the n-th of column j.
func (m moments) add(j int32, v float32, n int64) {
	d := float64(v) - m.mean[j]
	m.mean[j] += d / float64(n)
	m.m2[j] += float64(d * (float64(v) - m.mean[j]))
}

// join sets column j to that of left with n values and of right with k values together: Chan's
// formula. Equal means stay as they are, so that a constant column has an m2 of 0.
func (m moments) join(j int, left moments, n int64, right moments, k int64) {
	switch {
	case k == 0:
		m.mean[j], m.m2[j] = left.mean[j], left.m2[j]
	case n == 0:
		m.mean[j], m.m2[j] = right.mean[j], right.m2[j]
	default:
		share := float64(k) / float64(n+k)
		d := right.mean[j] - left.mean[j]
		m.mean[j] = left.mean[j] + float64(d*share)
		m.m2[j] = left.m2[j] + right.m2[j] + float64(float64(d*d)*float64(float64(n)*share))
	}
}

// Plus adds the records to the right of those of a: linear in width, labels and terms. Another shape there is a fault
// of CodeBadRecord with the position of its first record.
func (a *Counts) Plus(b *Counts) (*Counts, error) {
	switch {
	case a.shape.form == unknown:
		return b, nil
	case b.shape.form == unknown:
		return a, nil
	case a.shape != b.shape:
		return nil, shapeFault(b.first, b.shape, a.shape)
	}
	sum := &Counts{builder: a.builder, shape: a.shape, first: a.first, records: a.records + b.records,
		labels: vocabulary.Merge(a.labels, b.labels)}
	switch {
	case a.shape.form != texts:
	case a.builder.hasher != nil:
		sum.hashed = a.hashed.plus(b.hashed)
	default:
		sum.terms = vocabulary.Merge(a.terms, b.terms)
	}
	sum.columns = a.columns.plus(a.records, b.columns, b.records)
	return sum, nil
}

func (c columns) plus(n int64, d columns, k int64) columns {
	if c.mean == nil {
		return columns{}
	}
	sum := columns{moments: newMoments(len(c.mean))}
	if c.entries != nil {
		sum.entries = make([]int64, len(c.entries))
		for j := range sum.entries {
			sum.entries[j] = c.entries[j] + d.entries[j]
			sum.join(j, c.moments, c.entries[j], d.moments, d.entries[j])
		}
		return sum
	}
	for j := range c.mean {
		sum.join(j, c.moments, n, d.moments, k)
	}
	switch {
	case k == 0:
		sum.min, sum.max = c.min, c.max
	case n == 0:
		sum.min, sum.max = d.min, d.max
	default:
		sum.min, sum.max = make([]float32, len(c.min)), make([]float32, len(c.min))
		for j := range sum.min {
			sum.min[j], sum.max[j] = min(c.min[j], d.min[j]), max(c.max[j], d.max[j])
		}
	}
	return sum
}
