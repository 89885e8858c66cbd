package naivebayes

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// The counts of the four documents, term by term: class 0 is ham, class 1 is spam.
func TestModelByHand(t *testing.T) {
	m, err := jobs.Load[model](modelOf(t, `{}`, fourDocuments))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.dictionary.Terms.List(); !slices.Equal(got, []string{"buy", "now", "cheap", "meet", "see", "you"}) {
		t.Errorf("dictionary %q", got)
	}
	if got := m.labels.List(); !slices.Equal(got, []string{"ham", "spam"}) ||
		!slices.Equal(m.documents, []int64{3, 1}) {
		t.Errorf("labels %q with documents %v", got, m.documents)
	}
	if !slices.Equal(m.counts.indptr, []int64{0, 1, 3, 4, 5, 6, 7}) ||
		!slices.Equal(m.counts.class, []int32{1, 0, 1, 1, 0, 0, 0}) ||
		!slices.Equal(m.counts.count, []int64{3, 2, 1, 1, 1, 1, 1}) {
		t.Errorf("counts %+v", m.counts)
	}
}

// The bytes of a model are a promise. They change only with the version of its layout.
func TestModelDigest(t *testing.T) {
	const want = "2c16ba1dee0c02b6391fc0f8931081151925ef89695e2f04b8568b542d6a51c8"
	if got := jobstest.Digest(modelOf(t, `{}`, fourDocuments)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func manyRecords(t *rapid.T) [][]jobstest.Record {
	shards := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) jobstest.Record {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-d]{1,2}`), 0, 6).Draw(t, "words")
		return jobstest.Record{Label: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "label"),
			Text: strings.Join(words, " ")}
	}), 0, 5), 9, 13)
	return shards.Draw(t, "shards")
}

func TestGroupingNeverChangesABit(t *testing.T) {
	shards := rapid.Custom(manyRecords).Example(3)
	spec := specOf(`{"alpha": 0.1, "text": {"ngram_max": 2, "min_df": 2}}`, 0.3)
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, ops := range kernelops.All() {
		jobstest.CheckGrouping(t, algorithm, spec, shards, ops)
	}
}

// Counts are integers, so neither do the shards.
func TestShardsNeverChangeABit(t *testing.T) {
	records := slices.Concat(rapid.Custom(manyRecords).Example(5)...)
	spec := specOf(`{}`, 0.3)
	want, err := train(t, spec, inShards(records, 1))
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n < 12; n++ {
		got, err := train(t, spec, inShards(records, n))
		if err != nil || jobstest.Digest(got.Model) != jobstest.Digest(want.Model) {
			t.Errorf("%d shards: another model (%v)", n, err)
		}
	}
}

func TestMergeIsAssociative(t *testing.T) {
	records := slices.Concat(rapid.Custom(manyRecords).Example(4)...)
	spec := specOf(`{}`, 0.3)
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	state := jobs.Arrays{}
	for _, phase := range algorithm.Phases() {
		var partials []jobs.Arrays
		leaves := jobstest.Shards(inShards(records, 6), 2)
		for i := range leaves {
			partial, _, err := phase.Map(t.Context(), state, jobstest.Leaf(0, i, leaves), nil, kernelops.Best())
			if err != nil {
				t.Fatal(err)
			}
			partials = append(partials, partial)
		}
		jobstest.CheckAssociative(t, phase.Merge, partials)
		root := partials[0]
		for _, partial := range partials[1:] {
			if root, err = phase.Merge(root, partial); err != nil {
				t.Fatal(err)
			}
		}
		next, err := phase.Step(t.Context(), state, jobs.RoundOf(jobs.Plan{}, root))
		if err != nil {
			t.Fatal(err)
		}
		state = next.State
	}
}

// The evaluation leaves the model alone: with the same training records, the bytes are
// those of a run that does not evaluate.
func TestEvaluationLeavesTheModelAlone(t *testing.T) {
	records := slices.Concat(rapid.Custom(manyRecords).Example(6)...)
	spec := specOf(`{}`, 0.3)
	evaluated, err := train(t, spec, inShards(records, 3))
	if err != nil {
		t.Fatal(err)
	}
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	if phases := algorithm.Phases(); len(phases) != 3 || evaluated.Rounds != 3 {
		t.Fatalf("%d phases, %d rounds", len(phases), evaluated.Rounds)
	}
	var training []jobstest.Record
	chosen := jobs.TrainingRecords(spec)()
	for i, r := range records {
		if chosen(&dataset.Block{IDs: []dataset.Identity{dataset.ByPlace("records", int64(i))}}, 0) {
			training = append(training, r)
		}
	}
	if len(training) == len(records) {
		t.Fatal("no record was held out")
	}
	plain, err := train(t, specOf(`{}`, 0), inShards(training, 2))
	if err != nil {
		t.Fatal(err)
	}
	if jobstest.Digest(plain.Model) != jobstest.Digest(evaluated.Model) {
		t.Error("the evaluated model differs")
	}
}

func TestTrainingFaults(t *testing.T) {
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		code    protocol.Code
	}{
		"no record": {`{}`, nil, protocol.CodeInputEmpty},
		"one class": {`{}`, []jobstest.Record{{Label: "x", Text: "a"}, {Label: "x", Text: "b"}},
			protocol.CodeInputEmpty},
		"no word": {`{}`, []jobstest.Record{{Label: "x", Text: "-"}, {Label: "y", Text: ""}},
			protocol.CodeInputEmpty},
		"all terms dropped": {`{"text": {"min_df": 3}}`,
			[]jobstest.Record{{Label: "x", Text: "a"}, {Label: "y", Text: "a"}}, protocol.CodeInputEmpty},
		"positive unknown": {`{"positive": "sapm"}`, fourDocuments, protocol.CodeSpecInvalid},
		"positive of three": {`{"positive": "x"}`,
			[]jobstest.Record{{Label: "x", Text: "a"}, {Label: "y", Text: "a"}, {Label: "z", Text: "a"}},
			protocol.CodeSpecInvalid},
		"prior lacks one": {`{"prior": {"spam": 1}}`, fourDocuments, protocol.CodeSpecInvalid},
		"prior of another": {`{"prior": {"spam": 0.5, "ham": 0.25, "eggs": 0.25}}`, fourDocuments,
			protocol.CodeSpecInvalid},
	} {
		_, err := train(t, specOf(c.params, 0), inShards(c.records, 2))
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != c.code || fault.Class != protocol.ClassInput {
			t.Errorf("%s: want %s, got %v", name, c.code, err)
		}
	}
}
