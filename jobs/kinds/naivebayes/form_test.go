package naivebayes

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// Of the four documents, spam's one holds buy, now and cheap; of ham's three two hold now and one
// each meet, see and you. With alpha 1, p of the terms the question holds and lacks (buy, now | cheap, meet, see, you):
//
//	spam: N = 1, 2/3 2/3 | 1-2/3 1-1/3 1-1/3 1-1/3    ham: N = 3, 1/5 3/5 | 1-1/5 1-2/5 1-2/5 1-2/5
func TestBernoulliByHand(t *testing.T) {
	trained := modelOf(t, `{"form": "bernoulli"}`, fourDocuments)
	spam := 1.0 / 4 * (2.0 / 3) * (2.0 / 3) * (1.0 / 3) * (2.0 / 3) * (2.0 / 3) * (2.0 / 3)
	ham := 3.0 / 4 * (1.0 / 5) * (3.0 / 5) * (4.0 / 5) * (3.0 / 5) * (3.0 / 5) * (3.0 / 5)
	if got, want := posterior(t, classifyText(t, trained, question), "spam"),
		spam/(spam+ham); math.Abs(got-want) > 1e-14 {
		t.Errorf("p(spam|x) = %v, want %v", got, want)
	}
	m, err := jobs.Load[model](trained)
	if err != nil {
		t.Fatal(err)
	}
	if total := m.counts.count; len(total) != 7 || total[0] != 1 || total[1] != 2 || total[2] != 1 {
		t.Errorf("documents by term and class %v", total)
	}
	if text, err := Kind().Describe(trained, jobs.DescribeOptions{}); err != nil || !strings.Contains(text, "(bernoulli)") ||
		!strings.Contains(text, "4, with 8 pairs") {
		t.Errorf("%v\n%s", err, text)
	}
}

// The complement of spam is ham's counts and the other way round: buy 0 and now 2 of 5, buy 3 and now 1 of
// 5. With alpha 1 and n = 6 the weights of the question, buy once and now twice, are 1/(1 * 3^2) and 1/(4 * 2^2)
// times 11^3.
func TestComplementByHand(t *testing.T) {
	trained := modelOf(t, `{"form": "complement"}`, fourDocuments)
	spam, ham := 1.0/4/9, 3.0/4/16
	if got, want := posterior(t, classifyText(t, trained, question), "spam"),
		spam/(spam+ham); math.Abs(got-want) > 1e-14 {
		t.Errorf("spam weighs %v, want %v", got, want)
	}
	if text, err := Kind().Describe(trained, jobs.DescribeOptions{}); err != nil || !strings.Contains(text, "(complement)") {
		t.Errorf("%v\n%s", err, text)
	}
}

// Counts of vectors make the model of the texts they were counted in, but for the names of its terms.
func TestFormsTakeVectors(t *testing.T) {
	for _, form := range forms() {
		texts := modelOf(t, `{"form": "`+form+`"}`,
			[]jobstest.Record{{Label: "a", Text: "0 0 1"}, {Label: "b", Text: "1 2"}, {Label: "b", Text: "0 2 2"}})
		block := &dataset.Block{Labels: [][]byte{[]byte("a"), []byte("b"), []byte("b")},
			IDs: make([]dataset.Identity, 3),
			Sparse: dataset.Sparse{Width: 3, Indptr: []int{0, 3, 5, 7}, Indices: []int32{0, 1, 2, 1, 2, 0, 2},
				Values: []float32{2, 1, 0, 1, 1, 1, 2}}}
		state, err := jobs.Load[model](texts)
		if err != nil {
			t.Fatal(err)
		}
		tokenizer, err := state.params.Text.Tokenizer()
		if err != nil {
			t.Fatal(err)
		}
		c := newLeafCounts(state.labels, tokenizer, state.dictionary)
		c.once = form == formBernoulli
		for i := range block.IDs {
			if err := c.add(block, i); err != nil {
				t.Fatal(err)
			}
		}
		partial, err := jobs.Read(jobs.ArraysOf(c.partial()), &partialCounts{})
		if err != nil {
			t.Fatal(err)
		}
		vectors := newCSR(partial.cells, state.dictionary.Len(), state.labels.Len())
		for term := range state.dictionary.Len() {
			_, want := state.counts.row(term)
			_, got := vectors.row(term)
			for i := range want {
				if len(got) != len(want) || got[i] != want[i] {
					t.Errorf("%s, term %d: %v, want %v", form, term, got, want)
				}
			}
		}
	}
}

// A model that says a term is in more documents than there are would have a logarithm of a negative number.
func TestBernoulliRefusesImpossibleCounts(t *testing.T) {
	model := modelOf(t, `{}`, fourDocuments) // buy occurs three times in spam's one document
	model.PutText(modelForm, formBernoulli)
	if _, err := NewClassifier(model); err == nil || !strings.Contains(err.Error(), "3 of 1") {
		t.Errorf("%v", err)
	}
	model.PutText(modelForm, "poisson")
	if _, err := NewClassifier(model); err == nil {
		t.Error("a form that is not known was read")
	}
}

// The bytes of the forms' models are a promise, as those of the multinomial one.
func TestFormDigests(t *testing.T) {
	for form, want := range map[string]string{
		formBernoulli:  "0ac3c746ba99485f2302375d473ffc571715a5078851eb804037699a7d2a9e89",
		formComplement: "d57c6da1ae805c9255ab6bd1bd4f5e1c0a4b957fb05ce299cd9408dd8c4e26a4",
	} {
		if got := jobstest.Digest(modelOf(t, `{"form": "`+form+`"}`, fourDocuments)); got != want {
			t.Errorf("%s: digest %s, want %s", form, got, want)
		}
	}
}

// directForm is a second method: products of probabilities over the dictionary by the formulas of a form,
// without logarithms or sparse matrices.
func directForm(form string, records []jobstest.Record, text string) map[string]float64 {
	occurrences, holders, size, documents, terms := map[[2]string]float64{}, map[[2]string]float64{},
		map[string]float64{}, map[string]float64{}, map[string]bool{}
	for _, r := range records {
		documents[r.Label]++
		held := map[string]bool{}
		for _, w := range strings.Fields(r.Text) {
			occurrences[[2]string{w, r.Label}]++
			size[r.Label]++
			terms[w], held[w] = true, true
		}
		for w := range held {
			holders[[2]string{w, r.Label}]++
		}
	}
	count := map[string]float64{}
	for _, w := range strings.Fields(text) {
		count[w]++
	}
	n, joint, evidence := float64(len(terms)), map[string]float64{}, 0.0
	for y := range documents {
		joint[y] = documents[y] / float64(len(records))
		for w := range terms {
			if form == formBernoulli {
				p := (holders[[2]string{w, y}] + 1) / (documents[y] + 2)
				if count[w] == 0 {
					p = 1 - p
				}
				joint[y] *= p
				continue
			}
			others, all := 0.0, 0.0
			for z := range documents {
				if z != y {
					others += occurrences[[2]string{w, z}]
					all += size[z]
				}
			}
			joint[y] *= math.Pow((all+n)/(others+1), count[w])
		}
		evidence += joint[y]
	}
	for y := range joint {
		joint[y] /= evidence
	}
	return joint
}

func TestFormsAgainstDirectProducts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := drawRecords(rt, "x", "y", "z")
		form := rapid.SampledFrom([]string{formBernoulli, formComplement}).Draw(rt, "form")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "new"}), 0, 10).Draw(rt,
			"question"), " ")
		p := classifyText(t, modelOf(t, `{"form": "`+form+`"}`, records), text)
		want := directForm(form, records, text)
		for _, s := range p.Scores {
			if math.Abs(s.Posterior-want[s.Label]) > 1e-12 {
				rt.Fatalf("%s of %s given %q: %v, want %v", form, s.Label, text, s.Posterior, want[s.Label])
			}
		}
	})
}

// Every form trains the same model in any grouping and with any kernels.
func TestFormsAreGroupedWithoutABit(t *testing.T) {
	shards := rapid.Custom(manyRecords).Example(3)
	for _, form := range forms() {
		spec := specOf(`{"form": "`+form+`", "text": {"ngram_max": 2, "min_df": 2}}`, 0.3)
		algorithm, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, ops := range kernelops.All() {
			jobstest.CheckGrouping(t, algorithm, spec, shards, ops)
		}
	}
}
