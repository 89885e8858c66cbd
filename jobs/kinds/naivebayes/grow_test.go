package naivebayes

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// counted trains on records, in shards, after those of a model where there is one; it returns the model as it
// is read back from its bytes.
func counted(t testing.TB, spec protocol.JobSpec, model jobs.Arrays, records []jobstest.Record,
	shards int) (jobs.Arrays, error) {
	t.Helper()
	var opts []jobstest.Option
	if model != nil {
		spec.Spec.Model, opts = "mem://models/before", []jobstest.Option{jobstest.WithModel(model)}
	}
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, shards), 4),
		kernelops.Best(), jobstest.Grouping{}, opts...)
	if err != nil {
		return nil, err
	}
	return jobs.Decode(result.Model.Encode())
}

func mustCount(t testing.TB, params string, model jobs.Arrays, records []jobstest.Record, shards int) jobs.Arrays {
	t.Helper()
	got, err := counted(t, specOf(params, 0), model, records, shards)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The four documents, two by two. Of the dictionary buy, now, cheap, meet, see, you the documents are 1, 3, 1, 1, 1,
// 1 and the occurrences 3, 3, 1, 1, 1, 1.
func TestGrowthByHand(t *testing.T) {
	for form, want := range map[string][]int64{
		formMultinomial: {1, 3, 1, 1, 1, 1}, formComplement: {1, 3, 1, 1, 1, 1}, formBernoulli: {3, 3, 1, 1, 1, 1},
	} {
		params := `{"grows": true, "form": "` + form + `"}`
		half := mustCount(t, params, nil, fourDocuments[:2], 1)
		m, err := jobs.Load[model](mustCount(t, params, half, fourDocuments[2:], 2))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.dictionary.Terms.List(); !slices.Equal(got,
			[]string{"buy", "now", "cheap", "meet", "see", "you"}) || !slices.Equal(m.growth, want) {
			t.Errorf("%s: dictionary %q, growth %v", form, got, m.growth)
		}
		if now, _ := m.dictionary.Lookup([]byte("now")); form != formBernoulli {
			if class, count := m.counts.row(int(now)); !slices.Equal(class, []int32{0, 1}) ||
				!slices.Equal(count, []int64{2, 1}) || !slices.Equal(m.documents, []int64{3, 1}) {
				t.Errorf("%s: now %v in %v, documents %v", form, count, class, m.documents)
			}
		}
	}
}

// Counting on gives the model of all records at once: every form, texts and vectors, three parts in either order, new
// words and labels among them, the models between read back from their bytes. The last job may leave terms out as the
// one at once does.
func TestCountingOnIsCountingAtOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts, vectors := twins(rt)
		records := texts
		if rapid.Bool().Draw(rt, "vectors") {
			records = vectors
		}
		records[len(records)-1].Label = "new"
		form := `{"form": "` + rapid.SampledFrom(forms()).Draw(rt, "form") + `"`
		grows, last := form+`, "grows": true}`,
			form+rapid.SampledFrom([]string{`, "grows": true}`, `}`,
				`, "text": {"min_df": 2, "max_df": 0.4, "max_features": 20}}`}).Draw(rt, "last")
		first := rapid.IntRange(2, len(records)).Draw(rt, "first") // of two labels
		second := rapid.IntRange(first, len(records)).Draw(rt, "second")
		shards := func(name string) int { return rapid.IntRange(1, 4).Draw(rt, name) }
		want, err := counted(t, specOf(last, 0), nil, records, shards("at once"))
		if err != nil {
			rt.Skip(err) // every term is in too many documents
		}
		model := mustCount(t, grows, nil, records[:first], shards("of the first"))
		b, c := records[first:second], records[second:]
		if rapid.Bool().Draw(rt, "swap") {
			b, c = c, b
		}
		model = mustCount(t, grows, model, b, shards("of the second"))
		if got := mustCount(t, last, model, c, shards("of the third")); jobstest.Digest(got) != jobstest.Digest(want) {
			rt.Errorf("%s, then %s: another model than that of all records at once", grows, last)
		}
	})
}

// Each job holds out its own records by their identities: the model is that of the training records of both.
func TestCountingOnWithASplit(t *testing.T) {
	records := slices.Concat(rapid.Custom(manyRecords).Example(6)...)
	spec, half := specOf(`{"grows": true}`, 0.3), len(records)/2
	chosen := jobs.TrainingRecords(spec)()
	var model jobs.Arrays
	var training []jobstest.Record
	for _, part := range [][]jobstest.Record{records[:half], records[half:]} {
		var err error
		if model, err = counted(t, spec, model, part, 2); err != nil {
			t.Fatal(err)
		}
		for i, r := range part {
			if chosen(&dataset.Block{IDs: []dataset.Identity{dataset.ByPlace("records", int64(i))}}, 0) {
				training = append(training, r)
			}
		}
	}
	if len(training) == len(records) {
		t.Fatal("no record was held out")
	}
	if want := mustCount(t, `{"grows": true}`, nil, training, 3); jobstest.Digest(model) != jobstest.Digest(want) {
		t.Error("another model than that of the training records at once")
	}
}

// A model that keeps enough to grow decides as one that does not, and is one byte string without it.
func TestGrowingChangesNoDecision(t *testing.T) {
	for _, form := range forms() {
		with, without := modelOf(t, `{"grows": true, "form": "`+form+`"}`, fourDocuments),
			modelOf(t, `{"form": "`+form+`"}`, fourDocuments)
		if p, q := classifyText(t, with, question),
			classifyText(t, without, question); !slices.Equal(p.Scores, q.Scores) {
			t.Errorf("%s: %v and %v", form, p.Scores, q.Scores)
		}
		delete(with, modelGrowth)
		if jobstest.Digest(with) != jobstest.Digest(without) {
			t.Errorf("%s: more than %q differs", form, modelGrowth)
		}
	}
}

func TestCountingOnIsRefused(t *testing.T) {
	grown := modelOf(t, `{"grows": true}`, fourDocuments)
	for params, part := range map[string]string{
		`{"form": "bernoulli"}`:             "form is multinomial in the model of spec.model, bernoulli in this job",
		`{"text": {"lowercase": false}}`:    "text.lowercase is true in",
		`{"text": {"ngram_max": 2}}`:        "text.ngram_max is 1 in the model of spec.model, 2",
		`{"text": {"stop_words": ["a"]}}`:   `text.stop_words is  in the model of spec.model, "a"`,
		`{"prior": {"ham":0.5,"eggs":0.5}}`: "prior names the labels",
	} {
		_, err := counted(t, specOf(params, 0), grown, fourDocuments, 2)
		wantFault(t, err, protocol.CodeSpecInvalid, part)
	}
	pairs := modelOf(t, `{"grows": true, "text": {"ngram_min": 2, "ngram_max": 2}}`, fourDocuments)
	_, err := counted(t, specOf(`{"text": {"ngram_max": 2}}`, 0), pairs, fourDocuments, 2)
	wantFault(t, err, protocol.CodeSpecInvalid, "text.ngram_min is 2 in the model of spec.model, 1")

	_, err = counted(t, specOf(`{}`, 0), modelOf(t, `{}`, fourDocuments), fourDocuments, 2)
	wantFault(t, err, protocol.CodeSpecInvalid, "without grows")
	wantFault(t, Kind().CheckModel(modelOf(t, `{}`, fourDocuments)), protocol.CodeSpecInvalid, "params.grows: true")
	if err := Kind().CheckModel(grown); err != nil {
		t.Error(err)
	}
	for _, text := range []string{`"min_df": 2`, `"max_df": 5`, `"max_features": 9`} {
		wantFault(t, second(Kind().Defaults([]byte(`{"grows": true, "text": {`+text+`}}`))), protocol.CodeSpecInvalid,
			"params: grows keeps every term")
	}
}

// The first term, buy, is made to occur nine times, so that only its documents are wrong.
func TestHostileGrowth(t *testing.T) {
	grown := func(form string, growth []int64) error {
		model := modelOf(t, `{"grows": true, "form": "`+form+`"}`, fourDocuments)
		if form == formMultinomial {
			jobs.Put(model, "counts.count", []int64{9, 2, 1, 1, 1, 1, 1})
		}
		jobs.Put(model, modelGrowth, growth)
		_, err := NewClassifier(model)
		return err
	}
	for _, form := range []string{formMultinomial, formBernoulli} {
		if err := grown(form, []int64{4, 3, 1, 1, 1, 1}); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		for name, growth := range map[string][]int64{"too few": {1}, "none": {4, 3, 1, 1, 1, 0}} {
			wantCorrupt(t, form+": "+name, grown(form, growth))
		}
	}
	wantCorrupt(t, "more documents than there are", grown(formMultinomial, []int64{5, 3, 1, 1, 1, 1}))
	wantCorrupt(t, "more documents than occurrences", grown(formMultinomial, []int64{4, 4, 1, 1, 1, 1}))
	wantCorrupt(t, "fewer occurrences than documents", grown(formBernoulli, []int64{4, 2, 1, 1, 1, 1}))
	wantCorrupt(t, "occurrences beyond 2^53", grown(formBernoulli, []int64{1 << 53, 3, 1, 1, 1, 1}))
}

// How the tree over the new records is cut among workers is no part of the model.
func TestCountingOnIsGroupedWithoutABit(t *testing.T) {
	spec := specOf(`{"grows": true, "form": "bernoulli"}`, 0)
	spec.Spec.Model = "mem://models/before"
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	before := modelOf(t, `{"grows": true, "form": "bernoulli"}`, fourDocuments)
	jobstest.CheckGrouping(t, algorithm, spec, rapid.Custom(manyRecords).Example(3), kernelops.Best(),
		jobstest.WithModel(before))
}
