package features

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/protocol"
)

// Space is what the training records say about vectors: the coordinates that every record is
// read into. It is not changed after it is made and is safe for concurrent use.
type Space struct {
	Width   int   // of every vector; for texts the terms of the dictionary, or the hashed columns
	Records int64 // training records
	Sparse  bool  // vectors are compressed rows; texts are too
	// Labels of the training records in byte order, with the records of each; both are empty where the
	// input has no labels or they were not counted.
	Labels       jobs.Strings
	ClassRecords []int64
	// Moments of each column of the training records after scaling, the variance being that of
	// the population; nil if sparse.
	Mean, Variance []float64
	// Range of each column before scaling (l2: after); nil if sparse.
	Min, Max []float32

	form          form
	scale         string
	shift, factor []float64 // of standard and minmax; no shift if sparse
	dictionary    *vocabulary.Dictionary
	hasher        *hasher // instead of a dictionary
	text          vocabulary.Params
	class         map[string]int32
}

// Class returns the number of a label in Labels, -1 where it is not among them.
func (s *Space) Class(label []byte) int32 {
	if c, ok := s.class[string(label)]; ok {
		return c
	}
	return -1
}

// Texts reports whether the records are texts.
func (s *Space) Texts() bool { return s.form == texts }

// Dictionary returns the terms of texts, nil for other records and for texts that are hashed.
func (s *Space) Dictionary() *vocabulary.Dictionary { return s.dictionary }

// Scale returns the name of the scaling.
func (s *Space) Scale() string { return s.scale }

// Contradicts names a parameter by which p would read records otherwise than the space does, with the values of
// both; "" where there is none. What chose the terms of a dictionary is no matter: they are in the space.
func (s *Space) Contradicts(p Params) (field string, theirs, ours any) {
	if p.Scale != s.scale {
		return "scale", s.scale, p.Scale
	}
	if s.form != texts {
		return "", nil, nil
	}
	var was, is Hashing // of no bits where a dictionary is
	if s.hasher != nil {
		was = s.hasher.Hashing
	}
	if p.Hashing != nil {
		is = *p.Hashing
	}
	if was != is {
		return "hashing", was, is
	}
	if field, ours, theirs = p.text().Differs(s.text); field != "" {
		field = "text." + field
	}
	return field, theirs, ours
}

// RequireLabels refuses training records without labels, or with labels of fewer classes, with a
// *protocol.Fault of CodeInputEmpty that names the kind.
func (s *Space) RequireLabels(kind string, classes int) error {
	labelled := sums.Total(s.ClassRecords)
	switch {
	case labelled < s.Records:
		return protocol.EmptyFault(
			"%s learns from labels; %d of %d training records have none", kind, s.Records-labelled, s.Records).
			WithHint("Name the column of labels in spec.input.label, or use a format that has labels.")
	case s.Labels.Len() < classes:
		return protocol.EmptyFault(
			"%s needs %d classes or more; the %d training records have %d", kind, classes, s.Records, s.Labels.Len()).
			WithHint("Check spec.input.label.")
	}
	return nil
}

func (s *Space) index() {
	s.class = make(map[string]int32, s.Labels.Len())
	for i := range s.Labels.Len() {
		s.class[string(s.Labels.At(i))] = int32(i)
	}
}

func (s *Space) shape() shape {
	if s.form == texts {
		return shape{form: texts}
	}
	return shape{s.form, s.Width}
}
