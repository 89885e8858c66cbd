package features

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/jobs/params"
)

// Fields lists the space. The width of sparse vectors is a bare number of at most 2^31-1: compare arrays with it before
// memory is made by it.
func (s *Space) Fields(f *jobs.Fields) {
	jobs.Enum(f, "features.form", &s.form, dense, texts) // 1 dense, 2 sparse, 3 texts
	f.Int("features.width", &s.Width, 1, math.MaxInt32)
	jobs.Scalar(f, "features.records", &s.Records)
	f.Require(s.Records >= 1 && s.Records <= 1<<53, "a feature space of %d records", s.Records)
	f.Text("features.scale", &s.scale)
	p := Params{Scale: s.scale}
	f.Require(params.Check(&p) == nil && p.checkForm(s.form) == nil, "a feature space of %v cannot have scale %q",
		s.form, s.scale)
	vocabulary.LabelFields(f, &s.Labels)
	jobs.List(f, "labels.records", &s.ClassRecords, s.Labels.Len())
	f.Check(s.checkLabels)
	s.columnFields(f)
	if s.form == texts {
		s.textFields(f)
	}
	if f.Reading() {
		s.Sparse = s.form != dense
		s.index()
	}
}

// ReadSpace reads the space of a state or model, in time and memory linear in their bytes. What the phase would not
// have written is a *protocol.Fault of CodeCorrupt.
func ReadSpace(a jobs.Arrays) (*Space, error) { return jobs.Read(a, &Space{}) }

func (s *Space) checkLabels() error {
	if s.Labels.Len() > math.MaxInt32 {
		return jobs.Malformed("%d labels are more than can be numbered", s.Labels.Len())
	}
	rest := s.Records
	for i, n := range s.ClassRecords {
		if n < 1 || n > rest {
			return jobs.Malformed("label %d has %d of %d records", i, n, s.Records)
		}
		rest -= n
	}
	return nil
}

// columnFields are the moments of dense vectors, and the scaling.
func (s *Space) columnFields(f *jobs.Fields) {
	if s.form == dense {
		jobs.List(f, "features.mean", &s.Mean, s.Width)
		jobs.List(f, "features.variance", &s.Variance, s.Width)
		jobs.List(f, "features.min", &s.Min, s.Width)
		jobs.List(f, "features.max", &s.Max, s.Width)
		f.Check(s.checkMoments)
	}
	if s.scale != ScaleStandard && s.scale != ScaleMinMax {
		return
	}
	if s.form == dense {
		jobs.List(f, "features.shift", &s.shift, s.Width)
	}
	jobs.List(f, "features.factor", &s.factor, s.Width)
	f.Check(s.checkScaling)
}

func (s *Space) checkScaling() error {
	if !jobs.Finite(s.shift) || !jobs.Finite(s.factor) || !allAbove(s.factor, 0) {
		return jobs.Malformed("a feature space's scaling is not finite, or a factor is not above 0")
	}
	return nil
}

func (s *Space) checkMoments() error {
	if !jobs.Finite(s.Mean) || !jobs.Finite(s.Variance) || !jobs.Finite(s.Min) || !jobs.Finite(s.Max) {
		return jobs.Malformed("a feature space's moments are not finite")
	}
	for j, v := range s.Variance {
		if v < 0 || s.Min[j] > s.Max[j] {
			return jobs.Malformed("column %d of a feature space: variance %v, range [%v, %v]", j, v, s.Min[j], s.Max[j])
		}
	}
	return nil
}

// textFields are the terms, and how texts are cut into them.
func (s *Space) textFields(f *jobs.Fields) {
	s.text.TokenizerFields(f)
	f.Check(func() error {
		if err := params.Check(&s.text); err != nil {
			return jobs.Malformed("a feature space's tokenizer: %v", err)
		}
		return nil
	})
	if f.Has(hashBits, s.hasher != nil) {
		jobs.Make(f, &s.hasher).Fields(f)
		f.Require(s.hasher.width() == s.Width, "a feature space of width %d has 2^%d hashed columns", s.Width,
			s.hasher.Bits)
		return
	}
	jobs.Make(f, &s.dictionary).Fields(f)
	f.Require(s.dictionary.Len() == s.Width, "a feature space of width %d has %d terms", s.Width, s.dictionary.Len())
}

func allAbove(v []float64, low float64) bool {
	for _, x := range v {
		if !(x > low) {
			return false
		}
	}
	return true
}
