package features

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Space is what the training records say about vectors: the coordinates that every record is
// read into. It is not changed after it is made and is safe for concurrent use.
type Space struct {
	Width   int   // of every vector; for texts the terms of the dictionary, or the hashed columns
	Records int64 // training records
	Sparse  bool  // vectors are compressed rows; texts are too
	// Imported reports that terms and labels were given, and not found in records: the space counts none. See OfWords.
	Imported bool
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
	shift, factor []float64 // of scales of columns; no shift if sparse
	dictionary    *vocabulary.Dictionary
	hasher        *hasher  // instead of a dictionary
	rarity        *rarity  // nil without tfidf
	mapper        *mapper  // nil without a map
	imputer       *imputer // nil where missing numbers are faults
	encoder       *encoder // nil without categories
	omits         bool     // missing numbers stay NaN
	text          vocabulary.Params
	class         map[string]int32
	growth        *Growth // nil unless it is kept; no part of the fields
	given         bool    // may be Imported
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

// Dense reports whether its vectors have a value in every column.
func (s *Space) Dense() bool { return s.form == dense }

// Categories returns the number of categorical columns of its records.
func (s *Space) Categories() int { return s.shape().categories }

// SameCategories reports whether two spaces give every category the same column.
func (s *Space) SameCategories(other *Space) bool {
	a, b := s.encoder, other.encoder
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.from, b.from) && a.numeric == b.numeric && (a.hasher == nil) == (b.hasher == nil) &&
		(a.hasher == nil || *a.hasher == *b.hasher) &&
		slices.EqualFunc(a.known, b.known, func(d, e *vocabulary.Dictionary) bool {
			return slices.Equal(d.Terms.List(), e.Terms.List())
		})
}

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
	if was, is := s.weighing(), p.weighing(); was != is {
		return "tfidf", was, is
	}
	if s.omits != p.omits() {
		return "missing", missingWord(s.omits), missingWord(p.omits())
	}
	if was, is := s.imputer != nil, p.puts() && !p.omits(); was && !is {
		return "missing", "mean, constant or indicator", missingError
	} else if is && !was {
		return "missing", missingError, string(p.Missing.Missing)
	}
	if was, is := s.encoding(), p.encoding(s.encoder != nil); was != is {
		return "categories", was, is
	}
	var mapped *Mapping
	if s.mapper != nil {
		mapped = &s.mapper.Mapping
	}
	if !mapped.equal(p.Map) {
		return "map", mapped, p.Map
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

func missingWord(omits bool) string {
	if omits {
		return missingOmit
	}
	return "not " + missingOmit
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
			"%s needs %d classes or more, and has %d, of %s", kind, classes, s.Labels.Len(),
			protocol.Counted(s.Records, "training record")).
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
	switch {
	case s.form == texts:
		return shape{form: texts}
	case s.encoder != nil:
		return shape{dense, s.encoder.numeric, len(s.encoder.names)}
	case s.imputer != nil:
		return shape{form: s.form, width: len(s.imputer.fill)}
	case s.mapper != nil:
		return shape{form: s.form, width: s.mapper.columns}
	}
	return shape{form: s.form, width: s.Width}
}

// identical reports whether vectors are read as they are.
func (s *Space) identical() bool {
	return s.form != texts && s.scale == ScaleNone && s.rarity == nil && s.mapper == nil && s.imputer == nil &&
		s.encoder == nil
}

// Fields lists the space. The width of sparse vectors is a bare number of at most 2^31-1: compare arrays with it before
// memory is made by it.
func (s *Space) Fields(f *jobs.Fields) {
	jobs.Enum(f, "features.form", &s.form, dense, texts) // 1 dense, 2 sparse, 3 texts
	f.Int("features.width", &s.Width, 1, math.MaxInt32)
	s.recordFields(f)
	f.Text("features.scale", &s.scale)
	p := Params{Scale: s.scale}
	f.Require(params.Check(&p) == nil && p.checkForm(s.form) == nil, "a feature space of %v cannot have scale %q",
		s.form, s.scale)
	vocabulary.LabelFields(f, &s.Labels)
	s.classFields(f)
	s.columnFields(f)
	if s.form == texts {
		s.textFields(f)
	}
	if f.Has(omitsArray, s.omits) {
		jobs.Flag[uint8](f, omitsArray, &s.omits)
		f.Require(s.omits && s.form == dense && s.scale != ScaleL2, "a feature space of %v with scale %s leaves out numbers",
			s.form, s.scale)
	}
	numbers := s.Width // columns that are not made of categories
	if f.Has(categoriesArray+".numeric", s.encoder != nil) {
		jobs.Make(f, &s.encoder).Fields(f)
		numbers -= s.encoder.width()
		f.Require(numbers >= s.encoder.numeric && s.form == s.encoder.form(), "a feature space of %v of width %d does not fit "+
			"its categories", s.form, s.Width)
	}
	if f.Has(missingArray, s.imputer != nil) {
		jobs.Make(f, &s.imputer).Fields(f)
	}
	if f.Has(mapArray+".columns", s.mapper != nil) {
		jobs.Make(f, &s.mapper).Fields(f)
		f.Require(s.imputer == nil || s.imputer.width() == s.mapper.columns, "a feature map of other columns than are filled")
		f.Require(s.form == dense && s.mapper.width() == s.Width, "a feature space of %v of width %d with a map to %d columns",
			s.form, s.Width, s.mapper.width())
	}
	f.Require(s.imputer == nil || s.shape().form == dense && (s.mapper != nil || s.imputer.width() == numbers),
		"a feature space of %v of width %d does not fit its numbers for missing ones", s.form, s.Width)
	if f.Has(idfArray, s.rarity != nil) {
		f.Require(s.form != dense && (s.scale == ScaleNone || s.scale == ScaleL2), "a feature space of %v with scale %s has no idf",
			s.form, s.scale)
		jobs.Make(f, &s.rarity).Fields(f, s.Width)
	}
	if f.Reading() {
		s.Sparse = s.form != dense
		s.index()
	}
}

// ReadSpace reads the space of a state or model, in time and memory linear in their bytes. What the phase would not
// have written is a *protocol.Fault of CodeCorrupt.
func ReadSpace(a jobs.Arrays) (*Space, error) { return jobs.Read(a, &Space{given: true}) }

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
	if !s.scalesColumns() {
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
