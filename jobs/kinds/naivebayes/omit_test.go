package naivebayes

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

var gap = float32(math.NaN())

func omitting(form string) string { return `{"form": "` + form + `", "features": {"missing": "omit"}}` }

// scoresOf are the posteriors of rows.
func scoresOf(t *testing.T, model jobs.Arrays, records []jobstest.Record) (scores [][]float64) {
	t.Helper()
	p, err := NewPredictor(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 7)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list, err := p.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			scores = append(scores, slices.Clone(o.Scores))
		}
	}
	return scores
}

func wantJoint(t *testing.T, what string, scores []float64, joint []float64) {
	t.Helper()
	sum := 0.0
	for _, v := range joint {
		sum += v
	}
	for y, v := range joint {
		if math.Abs(scores[y]-v/sum) > 1e-12 {
			t.Errorf("%s: posteriors %v, not %v over %v", what, scores, joint, sum)
			return
		}
	}
}

// Column 0 is known of 3 documents of "a", 2 of which have it, and of 1 of "b": p = 3/5 and 1/3. Column 1 is known of 2
// documents of "a", 1 of which has it, and of both of "b": p = 2/4 and 3/4.
func TestOmitBernoulliByHand(t *testing.T) {
	model := modelOf(t, omitting(formBernoulli),
		jobstest.DenseRecords([][]float32{{1, 0}, {2, gap}, {0, 1}, {0, 1}, {gap, 1}}, "a", "a", "a", "b", "b"))
	asked := jobstest.DenseRecords([][]float32{{1, gap}, {gap, 0}, {gap, gap}, {0, 1}}, "?", "?", "?", "?")
	for i, scores := range scoresOf(t, model, asked) {
		wantJoint(t, "by hand", scores, [][]float64{{.6 * .6, .4 / 3}, {.6 * .5, .4 * .25}, {.6, .4},
			{.6 * .4 * .5, .4 * 2 / 3 * .75}}[i])
	}
	text, err := Kind().Describe(model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "left out of 2 columns") {
		t.Errorf("%s%v", text, err)
	}
}

// The probabilities are 4, 2 and 1 of 7 in "a" and 1, 2 and 3 of 6 in "b"; without the first column 2 and 1 of 3, and 2
// and 3 of 5. The complement of "a" is "b".
func TestOmitCountsByHand(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{3, 1, 0}, {0, 1, 2}}, "a", "b")
	asked := jobstest.DenseRecords([][]float32{{gap, 1, 1}, {gap, gap, gap}, {gap, 0, 0}}, "?", "?", "?")
	for form, want := range map[string][]float64{
		formMultinomial: {2.0 / 9, 6.0 / 25}, formComplement: {25.0 / 6, 9.0 / 2},
	} {
		scores := scoresOf(t, modelOf(t, omitting(form), records), asked)
		wantJoint(t, form, scores[0], want)
		wantJoint(t, form, scores[1], []float64{1, 1})
		wantJoint(t, form, scores[2], []float64{1, 1})
	}
}

// someCounts are documents of three classes, some of whose counts are missing.
func someCounts(n int, missing bool) (rows [][]float32, labels []string) {
	random := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		row := make([]float32, 6)
		for j := range row {
			if row[j] = float32(max(0, random.IntN(4+j*(i%3))-2)); missing && random.IntN(3) == 0 {
				row[j] = gap
			}
		}
		rows, labels = append(rows, row), append(labels, string(rune('a'+i%3)))
	}
	return rows, labels
}

// directOmitted is p(x, y) of each class from the documents, with alpha 1, in plain float64.
func directOmitted(form string, rows [][]float32, labels []string, x []float32) (joint []float64) {
	for _, class := range []string{"a", "b", "c"} {
		documents, p := 0.0, make([]float64, len(x))
		known, share := make([]float64, len(x)), 0.0
		for i, row := range rows {
			in := labels[i] == class
			if in {
				documents++
			}
			for j, v := range row {
				switch {
				case v != v || in == (form == formComplement):
				case form == formBernoulli:
					known[j]++
					p[j] += min(1, float64(v))
				default:
					p[j] += float64(v)
				}
			}
		}
		for j, v := range x {
			if p[j]++; form == formBernoulli {
				p[j] /= known[j] + 2
			} else if v == v {
				share += p[j]
			}
		}
		product := documents / float64(len(rows))
		for j, v := range x {
			switch {
			case v != v:
			case form == formBernoulli && v > 0:
				product *= p[j]
			case form == formBernoulli:
				product *= 1 - p[j]
			case form == formComplement:
				product *= math.Pow(share/p[j], float64(v))
			default:
				product *= math.Pow(p[j]/share, float64(v))
			}
		}
		joint = append(joint, product)
	}
	return joint
}

func TestOmitAgainstDirectProducts(t *testing.T) {
	asked, _ := someCounts(40, true)
	for _, form := range forms() {
		rows, labels := someCounts(50, form == formBernoulli)
		model := modelOf(t, omitting(form), jobstest.DenseRecords(rows, labels...))
		scores := scoresOf(t, model, jobstest.DenseRecords(asked))
		for i, x := range asked {
			wantJoint(t, form, scores[i], directOmitted(form, rows, labels, x))
		}
	}
}

// Of counts that are all known the model is that of sparse vectors, but for the width and no missing counts, and the
// posteriors are those, to the bit.
func TestOmitOfAllCounts(t *testing.T) {
	rows, labels := someCounts(50, false)
	for _, form := range forms() {
		plain := modelOf(t, `{"form": "`+form+`"}`, jobstest.SparseRecords(6, rows, labels...))
		omits := modelOf(t, omitting(form), jobstest.DenseRecords(rows, labels...))
		a, b := scoresOf(t, plain, jobstest.SparseRecords(6, rows)), scoresOf(t, omits, jobstest.DenseRecords(rows))
		if !slices.EqualFunc(a, b, slices.Equal[[]float64]) {
			t.Errorf("%s: other posteriors", form)
		}
		for name := range omits {
			if strings.HasPrefix(name, "omit.") {
				delete(omits, name)
			}
		}
		if jobstest.Digest(omits) != jobstest.Digest(plain) {
			t.Errorf("%s: another model", form)
		}
	}
}

func TestOmitNeverChangesABit(t *testing.T) {
	rows, labels := someCounts(50, true)
	records, spec := jobstest.DenseRecords(rows, labels...), specOf(omitting(formBernoulli), 0.3)
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	jobstest.CheckGrouping(t, algorithm, spec, inShards(records, 9), kernelops.Best())
	want, err := train(t, spec, inShards(records, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 5, 50, 60} {
		got, err := train(t, spec, inShards(records, n))
		if err != nil || jobstest.Digest(got.Model) != jobstest.Digest(want.Model) {
			t.Errorf("another model in %d shards (%v)", n, err)
		}
	}
}

func wantRefusal(t *testing.T, what string, err error, code protocol.Code, says string) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != code || !strings.Contains(fault.What, says) {
		t.Errorf("%s: %v, want %s: %s", what, err, code, says)
	}
}

func TestOmitRefuses(t *testing.T) {
	_, err := New(specOf(`{"grows": true, "features": {"missing": "omit"}}`, 0))
	wantRefusal(t, "grows", err, protocol.CodeSpecInvalid, "exclude each other")
	_, err = New(specOf(`{"features": {"missing": "mean"}}`, 0))
	wantRefusal(t, "mean", err, protocol.CodeSpecInvalid, "missing")
	grown := specOf(omitting(formBernoulli), 0)
	grown.Spec.Model = "mem://model"
	_, err = New(grown)
	wantRefusal(t, "spec.model", err, protocol.CodeSpecInvalid, "grows")
	for _, in := range []protocol.Input{{Format: "libsvm"},
		{Format: "document", Label: protocol.Column{Name: "folder"}},
		{Format: "csv", Label: protocol.Column{Number: 1}, Text: protocol.Column{Number: 2}}, {Format: "csv"},
		{Format: "npy"}} {
		spec := specOf(omitting(formBernoulli), 0)
		spec.Spec.Input = in
		_, err = New(spec)
		wantRefusal(t, in.Format, err, protocol.CodeSpecInvalid, "dense vectors of counts with labels")
	}
	for form, says := range map[string]string{formMultinomial: "column 2", formComplement: "no closed form"} {
		_, err = train(t, specOf(omitting(form), 0),
			inShards(jobstest.DenseRecords([][]float32{{1, 0}, {1, gap}}, "a", "b"), 1))
		wantRefusal(t, form, err, protocol.CodeBadRecord, says)
	}
	for says, records := range map[string][]jobstest.Record{
		"no dense vector":        {{Label: "a", Text: "x"}, {Label: "b", Text: "y"}},
		"not 2":                  jobstest.DenseRecords([][]float32{{1, 0}, {1, 0, 2}}, "a", "b"),
		"a whole number":         jobstest.DenseRecords([][]float32{{1, 0}, {1, 0.5}}, "a", "b"),
		"column 0, counted from": jobstest.DenseRecords([][]float32{{float32(math.Inf(1)), 0}, {1, 0}}, "a", "b"),
	} {
		_, err = train(t, specOf(omitting(formBernoulli), 0), inShards(records, 2))
		wantRefusal(t, says, err, protocol.CodeBadRecord, "")
	}
	model := modelOf(t, omitting(formBernoulli),
		jobstest.DenseRecords([][]float32{{1, 0}, {0, gap}}, "a", "b"))
	_, err = NewClassifier(model)
	wantRefusal(t, "classify", err, protocol.CodeSpecInvalid, "no texts")
}

// What training would not have written is refused.
func TestOmitHostile(t *testing.T) {
	fresh := func() *model {
		m, err := jobs.Load[model](modelOf(t, omitting(formBernoulli),
			jobstest.DenseRecords([][]float32{{1, 0}, {0, gap}, {2, 2}}, "a", "b", "b")))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for name, spoil := range map[string]func(*model){
		"width":      func(m *model) { m.omission.width = 0 },
		"form":       func(m *model) { m.params.Form = formComplement },
		"documents":  func(m *model) { m.omission.missing.count[0] = 3 },
		"held":       func(m *model) { m.omission.missing.count[0] = 2 },
		"a class":    func(m *model) { m.omission.missing.class[0] = 2 },
		"row ends":   func(m *model) { m.omission.missing.indptr[1] = 5 },
		"no missing": func(m *model) { m.omission.missing.count[0] = 0 },
	} {
		m := fresh()
		spoil(m)
		_, err := jobs.Load[model](jobs.ArraysOf(m))
		wantCorrupt(t, name, err)
	}
}
