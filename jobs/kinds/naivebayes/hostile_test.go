package naivebayes

import (
	"errors"
	"math"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/protocol"
)

func TestHostileModels(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"another kind":     func(a jobs.Arrays) { a.PutKind("KMeans", 1) },
		"another version":  func(a jobs.Arrays) { a.PutKind(KindName, 2) },
		"no kind":          func(a jobs.Arrays) { delete(a, "kind") },
		"no alpha":         func(a jobs.Arrays) { delete(a, "alpha") },
		"alpha 0":          func(a jobs.Arrays) { jobs.PutScalar(a, "alpha", 0.0) },
		"alpha NaN":        func(a jobs.Arrays) { jobs.PutScalar(a, "alpha", math.NaN()) },
		"alpha of float32": func(a jobs.Arrays) { jobs.PutScalar(a, "alpha", float32(1)) },
		"ratio infinite":   func(a jobs.Arrays) { jobs.PutScalar(a, "ratio", math.Inf(1)) },
		"positive beyond":  func(a jobs.Arrays) { jobs.PutScalar(a, "positive", int32(2)) },
		"positive below":   func(a jobs.Arrays) { jobs.PutScalar(a, "positive", int32(-2)) },
		"prior unknown":    func(a jobs.Arrays) { a.PutText("prior", "flat") },
		"prior not there":  func(a jobs.Arrays) { a.PutText("prior", evaluation.PriorGiven) },
		"prior not 1": func(a jobs.Arrays) {
			a.PutText("prior", evaluation.PriorGiven)
			jobs.Put(a, "prior.given", []float64{0.5, 0.6})
		},
		"one label":          func(a jobs.Arrays) { a.PutStrings("labels", jobs.StringsOf("ham")) },
		"labels unsorted":    func(a jobs.Arrays) { a.PutStrings("labels", jobs.StringsOf("spam", "ham")) },
		"three labels":       func(a jobs.Arrays) { a.PutStrings("labels", jobs.StringsOf("a", "b", "c")) },
		"documents 0":        func(a jobs.Arrays) { jobs.Put(a, classDocuments, []int64{3, 0}) },
		"documents overflow": func(a jobs.Arrays) { jobs.Put(a, classDocuments, []int64{1 << 53, 1}) },
		"term twice": func(a jobs.Arrays) {
			a.PutStrings("dictionary",
				jobs.StringsOf("a", "b", "c", "a", "e", "f"))
		},
		"fewer terms":    func(a jobs.Arrays) { a.PutStrings("dictionary", jobs.StringsOf("a", "b")) },
		"no term":        func(a jobs.Arrays) { a.PutStrings("dictionary", jobs.Strings{}) },
		"no rows":        func(a jobs.Arrays) { jobs.Put(a, "counts.indptr", []int64{}) },
		"rows fall":      func(a jobs.Arrays) { jobs.Put(a, "counts.indptr", []int64{0, 3, 1, 4, 5, 6, 7}) },
		"rows beyond":    func(a jobs.Arrays) { jobs.Put(a, "counts.indptr", []int64{0, 9, 9, 9, 9, 9, 7}) },
		"rows negative":  func(a jobs.Arrays) { jobs.Put(a, "counts.indptr", []int64{0, -1, 3, 4, 5, 6, 7}) },
		"class beyond":   func(a jobs.Arrays) { jobs.Put(a, "counts.class", []int32{2, 0, 1, 1, 0, 0, 0}) },
		"class negative": func(a jobs.Arrays) { jobs.Put(a, "counts.class", []int32{-1, 0, 1, 1, 0, 0, 0}) },
		"class twice":    func(a jobs.Arrays) { jobs.Put(a, "counts.class", []int32{1, 0, 0, 1, 0, 0, 0}) },
		"count 0":        func(a jobs.Arrays) { jobs.Put(a, "counts.count", []int64{3, 2, 1, 1, 1, 1, 0}) },
		"count overflow": func(a jobs.Arrays) {
			jobs.Put(a, "counts.count", []int64{math.MaxInt64, 2, 1, 1, 1, 1, 1})
		},
		"count too short": func(a jobs.Arrays) { jobs.Put(a, "counts.count", []int64{3}) },
		"n-grams":         func(a jobs.Arrays) { jobs.PutScalar(a, "tokenizer.ngram_max", int32(1<<30)) },
		"stop words":      func(a jobs.Arrays) { a.PutStrings("tokenizer.stop_words", jobs.StringsOf("--")) },
	} {
		model := modelOf(t, `{}`, fourDocuments)
		spoil(model)
		_, err := NewClassifier(model)
		wantCorrupt(t, name, err)
		_, err = Kind().Describe(model, jobs.DescribeOptions{})
		wantCorrupt(t, name, err)
	}
}

func wantCorrupt(t *testing.T, name string, err error) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Errorf("%s: want a CORRUPT fault, got %v", name, err)
	}
}

// Whatever the bytes, loading gives a CORRUPT fault or a classifier whose posteriors sum to 1.
func FuzzModel(f *testing.F) {
	for _, params := range []string{`{}`, `{"grows": true}`, `{"grows": true, "form": "bernoulli"}`,
		`{"positive": "spam", "ratio": 9}`, `{"reject_below": 0.6, "prior": {"ham": 0.5, "spam": 0.5}}`,
		`{"costs": {"spam": {"ham": 2}}}`} {
		f.Add(modelOf(f, params, fourDocuments).Encode(), question)
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		model, err := jobs.Decode(data)
		if err != nil {
			wantCorrupt(t, "decode", err)
			return
		}
		c, err := NewClassifier(model)
		if err != nil {
			wantCorrupt(t, "load", err)
			return
		}
		p, err := c.Classify(text)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, s := range p.Scores {
			sum += s.Posterior
		}
		if !(math.Abs(sum-1) < 1e-9) {
			t.Fatalf("posteriors sum to %v", sum)
		}
		if _, err := Kind().Describe(model, jobs.DescribeOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}
