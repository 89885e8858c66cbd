package features

import "github.com/gram-compute/gram/jobs/learn/vocabulary"

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
