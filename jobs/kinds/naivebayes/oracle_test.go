package naivebayes

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// drawRecords draws short documents over few words, with every label at least once.
func drawRecords(t *rapid.T, labels ...string) []jobstest.Record {
	var records []jobstest.Record
	document := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 0, 6)
	for i, n := 0, rapid.IntRange(len(labels), 12).Draw(t, "documents"); i < n; i++ {
		label := labels[i%len(labels)]
		if i >= len(labels) {
			label = rapid.SampledFrom(labels).Draw(t, "label")
		}
		records = append(records, jobstest.Record{Label: label, Text: strings.Join(document.Draw(t, "text"), " ")})
	}
	records[0].Text += " a" // at least one term
	return records
}

// direct is a second method: products of probabilities over the words of a short
// document as they come, by equation (1.34), without logarithms or sparse matrices.
func direct(records []jobstest.Record, alpha float64, text string) map[string]float64 {
	known := map[string]bool{}
	for _, r := range records {
		for _, w := range strings.Fields(r.Text) {
			known[w] = true
		}
	}
	joint, evidence := map[string]float64{}, 0.0
	for _, r := range records {
		y := r.Label
		if _, done := joint[y]; done {
			continue
		}
		documents, words, count := 0.0, 0.0, map[string]float64{}
		for _, other := range records {
			if other.Label != y {
				continue
			}
			documents++
			for _, w := range strings.Fields(other.Text) {
				words++
				count[w]++
			}
		}
		joint[y] = documents / float64(len(records))
		for _, w := range strings.Fields(text) {
			if known[w] {
				joint[y] *= (count[w] + alpha) / (words + alpha*float64(len(known)))
			}
		}
		evidence += joint[y]
	}
	for y := range joint {
		joint[y] /= evidence
	}
	return joint
}

func TestPosteriorsAgainstDirectProducts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := drawRecords(rt, "x", "y", "z")
		params, alpha := `{"alpha": 1}`, 1.0
		if rapid.Bool().Draw(rt, "lidstone") {
			params, alpha = `{"alpha": 0.03125}`, 0.03125
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "new"}), 0, 10).Draw(rt,
			"question"), " ")
		p := classifyText(t, modelOf(t, params, records), text)
		want := direct(records, alpha, text)
		if len(p.Scores) != len(want) {
			rt.Fatalf("%d classes, want %d", len(p.Scores), len(want))
		}
		best := 0.0
		for _, s := range p.Scores {
			if math.Abs(s.Posterior-want[s.Label]) > 1e-12 {
				rt.Fatalf("p(%s|%q) = %v, want %v", s.Label, text, s.Posterior, want[s.Label])
			}
			best = max(best, want[s.Label])
		}
		if want[p.Label] < best-1e-12 {
			rt.Fatalf("%q is not the optimal decision: %v", p.Label, want)
		}
	})
}

// algorithm1 is Algorithm 1 as printed, with dense arrays; it returns Classify's t.
func algorithm1(records []jobstest.Record, c float64) func(text string) float64 {
	number := map[string]int{}
	for _, r := range records {
		for _, w := range strings.Fields(r.Text) {
			if _, ok := number[w]; !ok {
				number[w] = len(number)
			}
		}
	}
	n := len(number)
	p := [2][]float64{make([]float64, n), make([]float64, n)}
	w := [2]float64{float64(n), float64(n)}
	m := [2]float64{}
	for j := range n {
		p[0][j], p[1][j] = 1, 1
	}
	for _, r := range records {
		y := 1
		if r.Label == "spam" {
			y = 0
		}
		m[y]++
		for _, word := range strings.Fields(r.Text) {
			p[y][number[word]]++
			w[y]++
		}
	}
	b := math.Log(c) + math.Log(m[1]) - math.Log(m[0])
	return func(text string) float64 {
		t := -b
		for _, word := range strings.Fields(text) {
			if j, ok := number[word]; ok {
				t += math.Log(p[0][j]/w[0]) - math.Log(p[1][j]/w[1])
			}
		}
		return t
	}
}

// Two classes with a ratio decide as Algorithm 1 does, wherever t is not 0 within rounding.
func TestRatioIsAlgorithm1(t *testing.T) {
	decided := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		records := drawRecords(rt, "spam", "ham")
		ratio := rapid.SampledFrom([]struct {
			params string
			c      float64
		}{{"0.25", 0.25}, {"1", 1}, {"2.5", 2.5}, {"40", 40}}).Draw(rt, "c")
		classifier, err := NewClassifier(modelOf(t, `{"positive": "spam", "ratio": `+ratio.params+`}`, records))
		if err != nil {
			rt.Fatal(err)
		}
		score := algorithm1(records, ratio.c)
		for _, r := range append(records, jobstest.Record{Text: "a a b e e e"}) {
			got, err := classifier.Classify(r.Text)
			if err != nil {
				rt.Fatal(err)
			}
			want := "ham"
			if score(r.Text) > 0 {
				want = "spam"
			}
			if math.Abs(score(r.Text)) > 1e-9 && got.Label != want {
				rt.Fatalf("%q: %s, but t = %v", r.Text, got.Label, score(r.Text))
			}
			decided[want]++
		}
	})
	if decided["spam"] == 0 || decided["ham"] == 0 {
		t.Errorf("only one decision was ever tried: %v", decided)
	}
}

// At t = 0 exactly, Algorithm 1 answers ham.
func TestRatioTieIsNotPositive(t *testing.T) {
	model := modelOf(t, `{"positive": "spam"}`,
		[]jobstest.Record{{Label: "ham", Text: "a"}, {Label: "spam", Text: "b"}})
	if p := classifyText(t, model, "unknown"); p.Label != "ham" || p.Scores[0].Posterior != p.Scores[1].Posterior {
		t.Errorf("a tie was decided %q: %+v", p.Label, p)
	}
}
