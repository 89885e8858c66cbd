package naivebayes

import (
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// With features.missing: omit, records are dense vectors of counts, some of which are missing. What is missing is left
// out:
//
//	bernoulli    p_jy = (d_jy + alpha) / (N_jy + 2 alpha), where N_jy are the training documents of class y in which
//	             column j is not missing. A document gives no factor for a column that it misses.
//	multinomial  Given their sum, the counts that a document has are multinomial too, with the probabilities of their
//	             columns S over the sum of these: log p(w^j|y) - log sum over k in S of p(w^k|y), once for each
//	             occurrence. Training documents that miss counts are refused, because the greatest likelihood of
//	             the probabilities then has no closed form.
//	complement   as multinomial, with the other classes' probabilities
//
// The sums are of whole numbers, so that without missing counts every score is what it is without omit, to the bit.

// What becomes of missing counts.
const (
	missingError = "error"
	missingOmit  = "omit"
)

// way is what becomes of them; the default is empty, so that jobs before it had a name stay as they are.
type way string

// UnmarshalText reads the default's name as no name.
func (w *way) UnmarshalText(name []byte) error {
	if *w = way(name); *w == missingError {
		*w = ""
	}
	return nil
}

// Features say how records are read that are vectors.
type Features struct {
	Missing way `json:"missing,omitempty"`
}

// Parameters declares the parameters.
func (p *Features) Parameters() []params.Parameter {
	return []params.Parameter{params.Choice("missing", &p.Missing, "", missingError, missingOmit).Missing(missingError).
		Says("omit takes columns of counts (dense vectors), some of which may be missing (spec.input.missing), and leaves " +
			"these out: of the Bernoulli form in training and in prediction, of the others in prediction alone.")}
}

func (p Params) omits() bool { return p.Features.Missing == missingOmit }

// refusal is the fault of a training record that misses a count, nil for the form that may leave it out.
func (p Params) refusal() func(dataset.Identity, int32) error {
	if p.Form == formBernoulli {
		return nil
	}
	return func(id dataset.Identity, column int32) error {
		return id.Fault("column %d of the training record has no count; with form %s only records to decide may miss one, "+
			"because estimates from missing counts have no closed form", column+1, p.Form).OfColumn(int(column) + 1).
			WithHint("Set params.form: bernoulli, leave the column out with spec.input.features, or leave the text out of " +
				"spec.input.missing and let such records pass with spec.input.on_bad_record.skip_max.")
	}
}

// checkDenseInput refuses an input whose records are no dense vectors with labels.
func checkDenseInput(in protocol.Input) error {
	labeled, bare := !in.Label.IsZero(), in.Weight.IsZero() && in.Text.IsZero() && len(in.Categorical) == 0
	switch in.Format {
	case "":
		return nil
	case "csv", "jsonl", "npz":
		if labeled && bare {
			return nil
		}
	case "idx", "npy", "fvecs", "bvecs", "ivecs":
		if in.LabelsURI != "" {
			return nil
		}
	}
	return protocol.SpecFault("features.missing: %s of kind %s takes dense vectors of counts with labels", missingOmit,
		KindName).
		WithHint("Use format csv, jsonl or npz, with label and neither text, weight nor categorical; or an array " +
			"with labels_uri. Texts and sparse vectors miss no counts: leave features.missing out.")
}

// withoutTerm warns of columns of counts that are no terms; "" if there are none.
func (m *model) withoutTerm() string {
	if m.omission == nil || m.omission.width <= m.dictionary.Len() {
		return ""
	}
	return fmt.Sprintf("%d of %d columns of counts are no terms and count nothing: no training record has a count "+
		"above 0 there, or min_df, max_df or max_features leave them out", m.omission.width-m.dictionary.Len(),
		m.omission.width)
}

// omission is what a model knows of missing counts; nil where records have none.
type omission struct {
	width   int // of a record
	missing csr // documents that miss the count of a term (rows), by class
}

// omitWidth is an array of partials and models whose records are dense vectors: their width.
const omitWidth = "omit.width"

// Fields lists it in a model of the given terms.
func (o *omission) Fields(f *jobs.Fields, terms int) {
	f.Int(omitWidth, &o.width, 1, vocabulary.MaxColumns)
	jobs.List(f, "omit.missing.indptr", &o.missing.indptr, terms+1)
	jobs.List(f, "omit.missing.class", &o.missing.class)
	jobs.List(f, "omit.missing.count", &o.missing.count, len(o.missing.class))
}

// knownIn is how many documents of each class have the count of each term, beside the cells of what counts, and counts
// with a cell wherever a document misses the count, 0 where no other holds the term.
func (m *model) knownIn() (counts csr, known []int64) {
	terms := m.dictionary.Len()
	counts.indptr = make([]int64, terms+1)
	for term := range terms {
		class, count := m.counts.row(term)
		gone, missing := m.omission.missing.row(term)
		for i, j := 0, 0; i < len(class) || j < len(gone); {
			var y int32
			var n, out int64
			switch {
			case j == len(gone) || i < len(class) && class[i] < gone[j]:
				y, n, i = class[i], count[i], i+1
			case i == len(class) || gone[j] < class[i]:
				y, out, j = gone[j], missing[j], j+1
			default:
				y, n, out, i, j = class[i], count[i], missing[j], i+1, j+1
			}
			counts.class, counts.count = append(counts.class, y), append(counts.count, n)
			known = append(known, m.documents[y]-out)
		}
		counts.indptr[term+1] = int64(len(counts.class))
	}
	return counts, known
}

// checkOmission refuses documents that a model cannot miss.
func (m *model) checkOmission() error {
	o := m.omission
	if o == nil {
		return nil
	}
	if err := o.missing.check(m.dictionary.Len(), m.labels.Len()); err != nil {
		return err
	}
	if !jobs.Exact(o.missing.count, 1) || m.growth != nil {
		return jobs.Malformed("a model's missing counts are from 1 to 2^53 together, and it does not grow")
	}
	if m.params.Form != formBernoulli && len(o.missing.count) > 0 {
		return jobs.Malformed("a model of form %s was trained on missing counts", m.params.Form)
	}
	for i, y := range o.missing.class {
		if n := o.missing.count[i]; n > m.documents[y] {
			return jobs.Malformed("a count is missing in %d of %d documents", n, m.documents[y])
		}
	}
	if _, err := m.dictionary.Columns(); err != nil {
		return jobs.Malformed("a model of vectors has terms that are no columns")
	}
	counts, known := m.knownIn()
	for i, n := range counts.count {
		if m.params.Form == formBernoulli && n > known[i] {
			return jobs.Malformed("a term is in %d of %d documents that do not miss it", n, known[i])
		}
	}
	return nil
}
