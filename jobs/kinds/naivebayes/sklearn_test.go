package naivebayes

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
)

// peerCase is one line of testdata/sklearn-forms.tsv.
type peerCase struct {
	form       string
	prior      string
	params     string
	asked      int
	posteriors []float64
}

// peerCases returns the classes that the file is about and its lines.
func peerCases(t *testing.T) (labels []string, cases []peerCase) {
	t.Helper()
	data, err := os.ReadFile("testdata/sklearn-forms.tsv")
	if err != nil {
		t.Fatal(err)
	}
	const settings = 6 // columns before the posteriors
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) <= settings {
			continue
		}
		if strings.HasPrefix(line, "#") {
			labels = fields[settings:]
			continue
		}
		c := peerCase{form: fields[0], prior: fields[2],
			params: fmt.Sprintf(`{"form":%q,"alpha":%s,"prior":%q,"text":{"ngram_max":%s,"min_df":%s}}`, fields[0],
				fields[1], fields[2], fields[3], fields[4])}
		if c.asked, err = strconv.Atoi(fields[5]); err != nil {
			t.Fatal(err)
		}
		for _, field := range fields[settings:] {
			p, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			c.posteriors = append(c.posteriors, p)
		}
		cases = append(cases, c)
	}
	return labels, cases
}

// withPrior returns the peer's posteriors times the classes' shares of the training documents, of sum 1.
func (c peerCase) withPrior(labels []string, training []jobstest.Record) []float64 {
	documents := map[string]float64{}
	for _, r := range training {
		documents[r.Label]++
	}
	weighed, sum := slices.Clone(c.posteriors), 0.0
	for y, label := range labels {
		weighed[y] *= documents[label]
		sum += weighed[y]
	}
	for y := range weighed {
		weighed[y] /= sum
	}
	return weighed
}

// BernoulliNB, ComplementNB and MultinomialNB of scikit-learn give these posteriors, whatever the smoothing, the
// prior and the terms. They differ by rounding alone: logarithms of 1e-16 relative, thousands of them in a sum.
// ComplementNB leaves a learned prior out, which here counts as in the other forms (Rennie et al., equation (8)): its
// posteriors are ours once they are given one.
func TestFormsAgainstScikitLearn(t *testing.T) {
	labels, cases := peerCases(t)
	var training, asked []jobstest.Record
	number := 0
	for _, r := range glosses(t) {
		if !slices.Contains(labels, r.Label) {
			continue
		}
		if number%40 == 0 {
			training = append(training, r)
		}
		if number%1500 == 7 {
			asked = append(asked, r)
		}
		number++
	}
	models := map[string]jobs.Arrays{}
	for _, c := range cases {
		if models[c.params] == nil {
			models[c.params] = modelOf(t, c.params, training)
		}
		want := c.posteriors
		if c.form == formComplement && c.prior == evaluation.PriorLearned {
			want = c.withPrior(labels, training)
		}
		got := classifyText(t, models[c.params], asked[c.asked].Text)
		for y, label := range labels {
			if p := posterior(t, got, label); math.Abs(p-want[y]) > 1e-10*want[y] {
				t.Errorf("%s, question %d: p(%s) = %v, not %v", c.params, c.asked, label, p, want[y])
			}
		}
	}
	if len(models) != 9 || len(cases) != 9*len(asked) || len(labels) != 5 {
		t.Errorf("%d cases of %d models and %d questions over %q", len(cases), len(models), len(asked), labels)
	}
}
