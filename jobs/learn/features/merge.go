package features

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
)

// Plus adds the records to the right of those of a: linear in width, labels and terms. Another shape there is a fault
// of CodeBadRecord with the position of its first record.
func (a *Counts) Plus(b *Counts) (*Counts, error) {
	switch {
	case a.ranks != nil && b.ranks != nil:
		all, err := a.ranks.Plus(b.ranks)
		return &Counts{builder: a.builder, ranks: all}, err
	case a.ranks != nil || b.ranks != nil:
		return nil, jobs.Malformed("only one of two partials counts ranks")
	case a.shape.form == unknown:
		return b, nil
	case b.shape.form == unknown:
		return a, nil
	case a.shape != b.shape:
		return nil, shapeFault(b.first, b.shape, a.shape)
	}
	sum := &Counts{builder: a.builder, shape: a.shape, first: a.first, records: a.records + b.records,
		labels: vocabulary.Merge(a.labels, b.labels), documents: a.documents.plus(b.documents),
		gone: a.gone.plus(b.gone)}
	switch {
	case a.shape.form != texts:
	case a.builder.hasher != nil:
		sum.hashed = a.hashed.plus(b.hashed)
	default:
		sum.terms = vocabulary.Merge(a.terms, b.terms)
	}
	var err error
	if sum.categories, err = a.builder.mergeCategories(a.categories, b.categories); err != nil {
		return nil, err
	}
	sum.columns, err = a.columns.plus(b.columns)
	return sum, err
}

// plus widens the ranges and adds the moments to the right, of columns of the same shape.
func (c columns) plus(right columns) (sum columns, err error) {
	for j := range c.min {
		sum.min = append(sum.min, min(c.min[j], right.min[j]))
	}
	for j := range c.max {
		sum.max = append(sum.max, max(c.max[j], right.max[j]))
	}
	if c.moments == nil {
		return sum, nil
	}
	sum.moments, err = c.moments.Plus(right.moments)
	return sum, err
}
