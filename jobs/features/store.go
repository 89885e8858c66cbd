package features

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/jobs/vocabulary"
)

// Arrays of a space in a state or model, beside "labels", "tokenizer.*" and "dictionary" or "hashing.*".
const (
	spaceForm     = "features.form"    // I32 scalar: 1 dense, 2 sparse, 3 texts
	spaceWidth    = "features.width"   // I64 scalar
	spaceRecords  = "features.records" // I64 scalar
	spaceScale    = "features.scale"   // U8 text
	spaceMean     = "features.mean"    // F64 [width], dense
	spaceVariance = "features.variance"
	spaceMin      = "features.min" // F32 [width], dense
	spaceMax      = "features.max"
	spaceShift    = "features.shift"  // F64 [width], standard and minmax of dense vectors
	spaceFactor   = "features.factor" // F64 [width], standard and minmax
	labelRecords  = "labels.records"  // I64 [labels]
)

// Put copies the space into a state or model.
func (s *Space) Put(a jobs.Arrays) {
	jobs.PutScalar(a, spaceForm, int32(s.form))
	jobs.PutScalar(a, spaceWidth, int64(s.Width))
	jobs.PutScalar(a, spaceRecords, s.Records)
	a.PutText(spaceScale, s.scale)
	vocabulary.PutLabels(a, s.Labels)
	jobs.Put(a, labelRecords, s.ClassRecords)
	if s.form == dense {
		jobs.Put(a, spaceMean, s.Mean)
		jobs.Put(a, spaceVariance, s.Variance)
		jobs.Put(a, spaceMin, s.Min)
		jobs.Put(a, spaceMax, s.Max)
	}
	if s.shift != nil {
		jobs.Put(a, spaceShift, s.shift)
	}
	if s.factor != nil {
		jobs.Put(a, spaceFactor, s.factor)
	}
	if s.form == texts {
		s.text.PutTokenizer(a)
		if s.hasher != nil {
			s.hasher.put(a)
		} else {
			s.dictionary.Put(a)
		}
	}
}

// ReadSpace reads the space of a state or model, in time and memory linear in their bytes. What the
// phase would not have written is a *protocol.Fault of CodeCorrupt. The width of sparse
// vectors is a bare number of at most 2^31-1: hold arrays against it before memory is made by it.
func ReadSpace(a jobs.Arrays) (*Space, error) {
	s := &Space{}
	for _, read := range []func(jobs.Arrays) error{s.readScalars, s.readLabels, s.readColumns, s.readText} {
		if err := read(a); err != nil {
			return nil, err
		}
	}
	s.index()
	return s, nil
}

func (s *Space) readScalars(a jobs.Arrays) error {
	kind, err := jobs.GetScalar[int32](a, spaceForm)
	if err != nil {
		return err
	}
	width, err := jobs.GetScalar[int64](a, spaceWidth)
	if err != nil {
		return err
	}
	if s.Records, err = jobs.GetScalar[int64](a, spaceRecords); err != nil {
		return err
	}
	if s.scale, err = a.Text(spaceScale); err != nil {
		return err
	}
	s.form, s.Width = form(kind), int(width)
	s.Sparse = s.form == sparse || s.form == texts
	switch {
	case s.form < dense || s.form > texts:
		return jobs.Malformed("a feature space of form %d", kind)
	case width < 1 || width > math.MaxInt32:
		return jobs.Malformed("a feature space of width %d", width)
	case s.Records < 1 || s.Records > 1<<53:
		return jobs.Malformed("a feature space of %d records", s.Records)
	}
	p := Params{Scale: s.scale}
	if params.Check(&p) != nil || p.checkForm(s.form) != nil {
		return jobs.Malformed("a feature space of %v cannot have scale %q", s.form, s.scale)
	}
	return nil
}

func (s *Space) readLabels(a jobs.Arrays) (err error) {
	if s.Labels, err = vocabulary.ReadLabels(a); err != nil {
		return err
	}
	if s.ClassRecords, err = jobs.Get[int64](a, labelRecords, s.Labels.Len()); err != nil {
		return err
	}
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

func (s *Space) readColumns(a jobs.Arrays) (err error) {
	if s.form == dense {
		if err = s.readMoments(a); err != nil {
			return err
		}
	}
	if s.scale != ScaleStandard && s.scale != ScaleMinMax {
		return nil
	}
	if s.form == dense {
		if s.shift, err = jobs.Get[float64](a, spaceShift, s.Width); err != nil {
			return err
		}
	}
	if s.factor, err = jobs.Get[float64](a, spaceFactor, s.Width); err != nil {
		return err
	}
	if !allFinite(s.shift) || !allFinite(s.factor) || !allAbove(s.factor, 0) {
		return jobs.Malformed("a feature space's scaling is not finite, or a factor is not above 0")
	}
	return nil
}

func (s *Space) readMoments(a jobs.Arrays) (err error) {
	if s.Mean, err = jobs.Get[float64](a, spaceMean, s.Width); err != nil {
		return err
	}
	if s.Variance, err = jobs.Get[float64](a, spaceVariance, s.Width); err != nil {
		return err
	}
	if s.Min, err = jobs.Get[float32](a, spaceMin, s.Width); err != nil {
		return err
	}
	if s.Max, err = jobs.Get[float32](a, spaceMax, s.Width); err != nil {
		return err
	}
	if !allFinite(s.Mean) || !allFinite(s.Variance) || !allFinite(s.Min) || !allFinite(s.Max) {
		return jobs.Malformed("a feature space's moments are not finite")
	}
	for j, v := range s.Variance {
		if v < 0 || s.Min[j] > s.Max[j] {
			return jobs.Malformed("column %d of a feature space: variance %v, range [%v, %v]", j, v, s.Min[j], s.Max[j])
		}
	}
	return nil
}

func (s *Space) readText(a jobs.Arrays) (err error) {
	if s.form != texts {
		return nil
	}
	if err = s.readTerms(a); err != nil {
		return err
	}
	if s.text, err = vocabulary.ReadTokenizer(a); err != nil {
		return err
	}
	if err := params.Check(&s.text); err != nil {
		return jobs.Malformed("a feature space's tokenizer: %v", err)
	}
	return nil
}

func (s *Space) readTerms(a jobs.Arrays) (err error) {
	columns := 0
	if s.hasher, err = readHasher(a); err != nil {
		return err
	}
	if s.hasher != nil {
		columns = s.hasher.width()
	} else {
		if s.dictionary, err = vocabulary.ReadDictionary(a); err != nil {
			return err
		}
		columns = s.dictionary.Len()
	}
	if columns != s.Width {
		return jobs.Malformed("a feature space of width %d has terms of %d columns", s.Width, columns)
	}
	return nil
}

func allFinite[T float32 | float64](v []T) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}

func allAbove(v []float64, low float64) bool {
	for _, x := range v {
		if !(x > low) {
			return false
		}
	}
	return true
}
