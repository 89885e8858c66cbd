package features

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/jobs/params"
)

// OfWords is the space of texts as counts of given terms, of two or more labels in byte order. No records made it:
// Records is 0 and ClassRecords is nil. A tokenizer that cannot be made is a *protocol.Fault of CodeSpecInvalid.
func OfWords(terms jobs.Strings, tokenizer vocabulary.Params, labels jobs.Strings) (*Space, error) {
	if err := params.Check(&tokenizer); err != nil {
		return nil, err
	}
	dictionary, err := vocabulary.NewDictionary(terms)
	if err != nil {
		return nil, err
	}
	s := &Space{Width: terms.Len(), Sparse: true, Imported: true, Labels: labels, form: texts, scale: ScaleNone,
		dictionary: dictionary, text: tokenizer}
	s.index()
	return s, nil
}

// importedArray is an array of a space that no records made, in place of their counts.
const importedArray = "features.imported"

// FieldsOrImported is Fields of a space that may be Imported. Fields takes none that is.
func (s *Space) FieldsOrImported(f *jobs.Fields) {
	s.given = true
	s.Fields(f)
}

// recordFields lists how many records there were.
func (s *Space) recordFields(f *jobs.Fields) {
	if s.Imported = f.Has(importedArray, s.Imported) && (s.Imported || s.given); s.Imported {
		jobs.Flag[uint8](f, importedArray, &s.Imported)
		f.Require(s.Imported && s.form == texts, "a feature space of %v that no records made", s.form)
		return
	}
	jobs.Scalar(f, "features.records", &s.Records)
	f.Require(s.Records >= 1 && s.Records <= 1<<53, "a feature space of %d records", s.Records)
}

// classFields lists how many records of each label there were.
func (s *Space) classFields(f *jobs.Fields) {
	if s.Imported {
		return
	}
	jobs.List(f, "labels.records", &s.ClassRecords, s.Labels.Len())
	f.Check(s.checkLabels)
}
