package features

import (
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// How the rarity of a column counts; see TFIDF.
const (
	idfSmooth = "smooth"
	idfPlain  = "plain"
	idfNone   = "none"
)

var idfs = []string{idfSmooth, idfPlain, idfNone}

// TFIDF weighs the terms of texts, or the columns of sparse vectors of counts: an entry becomes tf(x) * idf. With n
// training records, df of which have an entry other than 0 in the column,
//
//	smooth  idf = ln((1 + n) / (1 + df)) + 1
//	plain   idf = ln(n / df) + 1, where a column of no training record counts as one of one
//	none    idf = 1
//
// and tf(x) is x, or 1 + ln x if sublinear. These are the formulas of scikit-learn's TfidfTransformer; its norm is
// scale l2. An entry is computed in float64 and rounded once, after the norm. Salton and Buckley, "Term-weighting
// approaches in automatic text retrieval", Information Processing & Management 24, 1988.
type TFIDF struct {
	IDF       string `json:"idf"`
	Sublinear bool   `json:"sublinear"`
}

// String is the parameters for people.
func (w TFIDF) String() string {
	switch {
	case w == (TFIDF{}):
		return "none"
	case w.Sublinear:
		return "sublinear, idf " + w.IDF
	}
	return "idf " + w.IDF
}

// Parameters declares the parameters.
func (w *TFIDF) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Choice("idf", &w.IDF, idfSmooth, idfs...).
			Says("Weight of a column by the training records that have it: ln((1 + n) / (1 + df)) + 1, ln(n / df) + 1, or 1.").
			From("Salton and Buckley, Information Processing & Management 24, 1988."),
		params.Flag("sublinear", &w.Sublinear, false).
			Says("Takes 1 + ln x in place of how often a term occurs."),
	}
}

// UnmarshalJSON writes the defaults in.
func (w *TFIDF) UnmarshalJSON(data []byte) error {
	type plain TFIDF
	var q TFIDF
	params.Reset(q.Parameters())
	if err := protocol.StrictDecode(data, (*plain)(&q)); err != nil {
		return err
	}
	*w = q
	return nil
}

// checkTFIDF rejects logarithms of sums that have a sign.
func (p *Params) checkTFIDF() error {
	if p.TFIDF != nil && p.TFIDF.Sublinear && p.Hashing != nil && p.Hashing.Signed {
		return protocol.SpecFault("tfidf.sublinear takes the logarithm of how often a term occurs; with hashing.signed that " +
			"may be below 0").WithHint("Leave out hashing.signed, or tfidf.sublinear.")
	}
	return nil
}

// rarity is what a space knows of TFIDF: the idf of each column.
type rarity struct {
	TFIDF
	idf []float64 // [width]
}

// weighing is the TFIDF of parameters, of no IDF where they have none.
func (p Params) weighing() (w TFIDF) {
	if p.TFIDF != nil {
		w = *p.TFIDF
	}
	return w
}

// weighing is the TFIDF of a space, of no IDF where it has none.
func (s *Space) weighing() (w TFIDF) {
	if s.rarity != nil {
		w = s.rarity.TFIDF
	}
	return w
}

// newRarity computes idf from the documents with each column. O(width).
func newRarity(p TFIDF, documents []int64, records int64) *rarity {
	w := &rarity{p, make([]float64, len(documents))}
	for j, df := range documents {
		switch p.IDF {
		case idfSmooth:
			w.idf[j] = fmath.Log(float64(1+records)/float64(1+df)) + 1
		case idfPlain:
			w.idf[j] = fmath.Log(float64(records)/float64(max(1, df))) + 1
		default:
			w.idf[j] = 1
		}
	}
	return w
}

// idfArray is an array of a space with TFIDF, in a state or model.
const idfArray = "features.idf"

// Fields lists the weights of width columns.
func (w *rarity) Fields(f *jobs.Fields, width int) {
	f.Choice(idfArray+".way", &w.IDF, idfs...)
	jobs.Flag[uint8](f, idfArray+".sublinear", &w.Sublinear)
	jobs.List(f, idfArray, &w.idf, width)
	f.Check(func() error {
		if !jobs.Finite(w.idf) || !allAbove(w.idf, 0) {
			return jobs.Malformed("an idf of a feature space is not finite, or not above 0")
		}
		return nil
	})
}

// weigh sets dst to tf * idf of a sparse row, all in float64. An entry that has no logarithm is a fault.
func (w *rarity) weigh(dst []float64, id dataset.Identity, index []int32, row []float32) ([]float64, error) {
	dst = dst[:0]
	for k, j := range index {
		tf := float64(row[k])
		switch {
		case !w.Sublinear || tf == 0:
		case tf > 0:
			tf = 1 + fmath.Log(tf)
		default:
			return nil, id.Fault("column %d, counted from 0, is %v: tfidf.sublinear takes the logarithm of counts, which are "+
				"above 0", j, row[k])
		}
		dst = append(dst, float64(tf*w.idf[j]))
	}
	return dst, nil
}
