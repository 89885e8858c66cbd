package linearmodel

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func handMade() WordScores {
	return WordScores{Words: []string{"good", "bad", "great", "fine"}, Scores: []float64{2, -3, 3.5, 0}, Threshold: 1,
		Negative: "neg", Positive: "pos", Text: vocabulary.DefaultParams(), SHA256: strings.Repeat("ab", 32)}
}

// imported is the model as it is read back.
func imported(t testing.TB, w WordScores) jobs.Arrays {
	t.Helper()
	made, err := w.Import()
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := jobs.Decode(made.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return arrays
}

func asked(t testing.TB, model jobs.Arrays, text string) jobs.Outcome {
	t.Helper()
	p, err := NewPredictor(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := p.Predict(t.Context(), &dataset.Block{IDs: make([]dataset.Identity, 1),
		Texts: [][]byte{[]byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return outcomes[0]
}

// Worked by hand, with the threshold 1: "good good bad" has 2 + 2 - 3 = 1, which is not above it. The labels decide the
// same in either order of their bytes.
func TestWordScoresByHand(t *testing.T) {
	for _, labels := range [][2]string{{"neg", "pos"}, {"z", "a"}} {
		w := handMade()
		w.Negative, w.Positive = labels[0], labels[1]
		model := imported(t, w)
		for text, want := range map[string]float64{"Good, good: bad!": 0, "great": 2.5, "fine": -1, "": -1,
			"unknown": -1, "bad bad great GREAT": 0, "good": 1, "bad": -4} {
			label := labels[0]
			if want > 0 {
				label = labels[1]
			}
			if got := asked(t, model, text); got.Label != label || got.Value != math.Abs(want) ||
				math.Signbit(got.Value) {
				t.Errorf("%q: %+v, want %s by %v", text, got, label, want)
			}
		}
	}
}

// The order of the list does not show, and a model reads as it was written.
func TestWordScoresAreStored(t *testing.T) {
	w := handMade()
	first := w
	model := imported(t, w)
	slices.Reverse(w.Words)
	slices.Reverse(w.Scores)
	if !slices.Equal(imported(t, w).Encode(), model.Encode()) {
		t.Error("the order of words shows")
	}
	m, err := readModel(model)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(jobs.ArraysOf(m).Encode(), model.Encode()) || !m.imported() || m.origin.SHA256 != first.SHA256 {
		t.Errorf("%+v", m)
	}
	for _, name := range []string{"loss", "costs", "training.certificate", "training.rounds", "features.records"} {
		if _, has := model[name]; has {
			t.Errorf("a model that was not trained has %q", name)
		}
	}
	for name := range model {
		lacks := maps.Clone(model)
		delete(lacks, name)
		if _, err := readModel(lacks); err == nil {
			t.Errorf("read without %q", name)
		}
	}
	text, err := Kind().Describe(model, jobs.DescribeOptions{})
	want := "kind         LinearModel\norigin       imported, not learned: nothing is proved of it\n" +
		"words        4\nsha256       " + first.SHA256 + "\n" +
		"decision     \"pos\" if the sum of its words' scores is above 1, else \"neg\"\n" +
		"\n\"neg\" (bias 1)\n  \"bad\" 3\n\n\"pos\" (bias -1)\n  \"great\" 3.5, \"good\" 2\n"
	if err != nil || text != want {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestWordScoresRefused(t *testing.T) {
	for want, change := range map[string]func(*WordScores){
		`"don't": the tokenizer makes ["don" "t"] of it`:   func(w *WordScores) { w.Words[1] = "don't" },
		`no text has the word "Good": the tokenizer makes`: func(w *WordScores) { w.Words[1] = "Good" },
		`":)": the tokenizer makes nothing of it`:          func(w *WordScores) { w.Words[1] = ":)" },
		`the word "great" has two scores`:                  func(w *WordScores) { w.Words[1] = "great" },
		`the word is empty`:                                func(w *WordScores) { w.Words[1] = "" },
		`the score of "bad" is NaN`:                        func(w *WordScores) { w.Scores[1] = math.NaN() },
		`the score of "bad" is 1e+101`:                     func(w *WordScores) { w.Scores[1] = 1e101 },
		`the threshold is -Inf`:                            func(w *WordScores) { w.Threshold = math.Inf(-1) },
		`both labels are "neg"`:                            func(w *WordScores) { w.Positive = "neg" },
		`a label is empty`:                                 func(w *WordScores) { w.Positive = "" },
		`the list has no words`:                            func(w *WordScores) { w.Words, w.Scores = nil, nil },
		`analyzer is`:                                      func(w *WordScores) { w.Text.Analyzer = "letters" },
	} {
		w := handMade()
		change(&w)
		var fault *protocol.Fault
		if _, err := w.Import(); !errors.As(err, &fault) || !strings.Contains(fault.What, want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// An imported model does not learn on by itself, but a job begins from it, and proves something of what it makes.
func TestGoOnFromWordScores(t *testing.T) {
	model := imported(t, handMade())
	var fault *protocol.Fault
	if _, err := learnOn(model, kernelops.Best()); !errors.As(err, &fault) {
		t.Error(err)
	}
	texts := []jobstest.Record{{Label: "pos", Text: "a good start"}, {Label: "neg", Text: "a bad end"},
		{Label: "pos", Text: "great"}}
	result, err := goOn(t, `{"loss":"hinge"}`, jobstest.Result{Model: model}, texts)
	if err != nil {
		t.Fatal(err)
	}
	m, err := readModel(result.Model)
	if err != nil || m.imported() || m.space.Imported || m.space.Records != 3 || m.space.Width != 4 ||
		m.relative() > 1e-3 {
		t.Errorf("%+v, %v", m, err)
	}
	if got := asked(t, result.Model, "great good bad bad"); got.Label == "" {
		t.Errorf("%+v", got)
	}
	dense := jobstest.DenseRecords([][]float32{{1}, {2}}, "neg", "pos")
	if _, err := goOn(t, "", jobstest.Result{Model: model}, dense); !errors.As(err, &fault) {
		t.Error(err)
	}
	space, err := features.ReadSpace(model)
	if err != nil || !space.Imported || space.Records != 0 || !space.Texts() {
		t.Errorf("%+v, %v", space, err)
	}
}

// Whatever is imported scores texts as a sum over their words does. Scores are eighths, so that sums are exact.
func TestWordScoresEqualReference(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		scores := rapid.MapOf(rapid.StringMatching(`[a-c]{1,2}`), rapid.IntRange(-50, 50)).Draw(r, "scores")
		w := handMade()
		w.Words, w.Scores = nil, nil
		for word, score := range scores {
			w.Words, w.Scores = append(w.Words, word), append(w.Scores, float64(score)/8)
		}
		if len(scores) == 0 {
			return
		}
		w.Threshold = float64(rapid.IntRange(-50, 50).Draw(r, "threshold")) / 8
		if !w.Exact() {
			r.Fatal("eighths are not exact")
		}
		words := rapid.SliceOf(rapid.StringMatching(`[a-cA-C]{1,2}`)).Draw(r, "text")
		sum, label := 0.0, "neg"
		for _, word := range words {
			sum += float64(scores[strings.ToLower(word)]) / 8
		}
		if sum > w.Threshold {
			label = "pos"
		}
		if got := asked(t, imported(t, w), strings.Join(words, ", ")); got.Label != label ||
			got.Value != math.Abs(sum-w.Threshold) {
			r.Fatalf("%q: %+v, want %s by %v", words, got, label, sum-w.Threshold)
		}
	})
}

func TestExact(t *testing.T) {
	for _, c := range []struct {
		scores    []float64
		threshold float64
		want      bool
	}{
		{[]float64{0}, 0, true}, {[]float64{1, -3}, 2.5, true}, {[]float64{0.1}, 0, false}, {[]float64{1}, 0.3, false},
		{[]float64{1 << 26}, 1, true}, {[]float64{1 << 28}, 1, false}, {[]float64{1e100}, 0, false},
		{[]float64{0x1p300}, 0, true}, {[]float64{5e-324, 5e-324}, 0, true}, {[]float64{1, 5e-324}, 0, false},
	} {
		w := WordScores{Scores: c.scores, Threshold: c.threshold}
		if got := w.Exact(); got != c.want {
			t.Errorf("%v, %v: %v", c.scores, c.threshold, got)
		}
	}
}
