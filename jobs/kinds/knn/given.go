package knn

import (
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
)

// given is precomputed and similarity: the columns of a query are its distances to the records of spec.input, or how
// similar they are.
func (s *searcher) given(q int, base *points) error {
	row := s.queries.Dense[q*s.queries.Width : (q+1)*s.queries.Width]
	worst := s.found.worst(q)
	for j, number := range base.ids {
		key := float64(row[number])
		if s.of == similarity {
			key = 0 - key
		}
		if key > worst {
			continue
		}
		if err := s.enter(q, key, base, j); err != nil {
			return err
		}
		worst = s.found.worst(q)
	}
	return nil
}

// checkDistances refuses distances below 0.
func checkDistances(id dataset.Identity, row []float32) error {
	for j, d := range row {
		if d < 0 {
			return id.Fault("column %d is %v; with metric precomputed it is a distance, at least 0 (metric similarity "+
				"takes any number, the largest being nearest)", j+1, d)
		}
	}
	return nil
}

// fitsGiven reports whether a record has a column for each record of spec.input.
func (in *index) fitsGiven() bool {
	n := len(in.offsets)
	return n > 0 && in.vectors != nil && in.vectors.Dense() && int64(in.vectors.Width) == in.offsets[n-1]
}

// checkGiven refuses records that do not have a column for each record of spec.input.
func (in *index) checkGiven() error {
	if !in.params.Metric.given() || in.fitsGiven() {
		return nil
	}
	records := in.offsets[len(in.offsets)-1]
	what := "dense"
	switch {
	case in.vectors.Texts():
		what = "texts"
	case in.vectors.Sparse:
		what = "sparse"
	}
	return protocol.InputFault(protocol.CodeBadRecord,
		"metric %s takes dense records with a column for each record of spec.input; there are %d records, which are "+
			"%s and have %d columns", in.params.Metric, records, what, in.vectors.Width).
		WithHint("Column j of a record, of spec.input and of spec.queries, is its distance to record j of " +
			"spec.input, counted from 0 over all objects in order; records held out have columns as well. Check that " +
			"labels, weights and ids are no columns (spec.input.features), and that no record was skipped.")
}
