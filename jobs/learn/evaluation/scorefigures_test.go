package evaluation

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// scoreFigures are the figures of a case, by title.
func scoreFigures(t *testing.T, c scoredCase) map[string]jobs.Figure {
	t.Helper()
	s := scoringOf(0)
	judged := tallyOf(t, c, s, 0, len(c.Truth))
	metrics, err := judged.Metrics(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	ranked, err := judged.RankMetrics(s)
	if err != nil {
		t.Fatal(err)
	}
	return figuresOf(t, append(metrics, ranked...))
}

// ones are weights of 1.
func ones(n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

func wantLine(t *testing.T, what string, got jobs.Series, name string, x, y []float64) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }
	if got.Name != name || !slices.EqualFunc(got.X, x, near) || !slices.EqualFunc(got.Y, y, near) {
		t.Errorf("%s: %+v, not %q %v %v", what, got, name, x, y)
	}
}

// Worked by hand: b at 0.9 and 0.6, a at 0.6 and 0.2, so that two records tie. See TestScoresByHand for the figures.
func TestCurvesByHand(t *testing.T) {
	figures := scoreFigures(t, scoredCase{Scale: "probability", Labels: []string{"a", "b"}, Truth: []int{1, 1, 0, 0},
		Weights: ones(4), Scores: [][]float64{{0.1, 0.9}, {0.4, 0.6}, {0.4, 0.6}, {0.8, 0.2}}})
	roc := figures["ROC curve"].Lines
	wantLine(t, "ROC", roc.Series[0], "b, AUC 0.8750", []float64{0, 0, 0.5, 1}, []float64{0, 0.5, 1, 1})
	wantLine(t, "ROC", roc.Series[1], "by chance", []float64{0, 1}, []float64{0, 1})
	pr := figures["Precision and recall"].Lines
	wantLine(t, "precision", pr.Series[0], "b, average 0.8333", []float64{0, 0.5, 1, 1}, []float64{1, 1, 2. / 3, 0.5})
	wantLine(t, "precision", pr.Series[1], "by chance", []float64{0, 1}, []float64{0.5, 0.5})
	calibration := figures["Calibration curve"].Lines
	wantLine(t, "calibration", calibration.Series[0], "b, error 0.1250", []float64{0.2, 0.6, 0.9}, []float64{0, 0.5, 1})
	for name, c := range map[string]*jobs.LineChart{"ROC": roc, "precision": pr, "calibration": calibration} {
		if !c.UnitX || !c.UnitY || !c.Series[1].Reference {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if !pr.Series[0].Steps {
		t.Error("precision is joined by straight lines, which it does not follow")
	}
	risk := figures["Risk and coverage"].Lines
	wantLine(t, "risk", risk.Series[1], "at the threshold", []float64{0.5}, []float64{0})
	h := figures["Probabilities by class"].Histogram
	if h == nil || h.X != "probability of b" || h.Zero || h.Groups[0].Name != "b (2)" || h.Groups[1].Name != "others (2)" {
		t.Fatalf("%+v", h)
	}
	sum := 0.0
	for i, v := range h.Groups[0].Values {
		if sum += v; v > 0 && !(h.Edges[i] <= 0.9 && 0.6 < h.Edges[i+1]) {
			t.Errorf("a share of %v from %v to %v", v, h.Edges[i], h.Edges[i+1])
		}
	}
	if sum != 1 {
		t.Errorf("shares of %v in all", sum)
	}
}

// Margins of two classes are told by class, with the threshold at 0; those of more by right and wrong decisions.
func TestMarginFigures(t *testing.T) {
	two := scoredCase{Scale: "margin", Labels: []string{"a", "b"}, Truth: []int{1, 1, 0, 0}, Weights: ones(4),
		Scores: [][]float64{{-2, 2}, {0.5, -0.5}, {1, -1}, {0.25, -0.25}}}
	h := scoreFigures(t, two)["Margins"].Histogram
	if h == nil || !h.Zero || !strings.HasPrefix(h.X, "margin: how far the score of b is ahead") {
		t.Fatalf("%+v", h)
	}
	if at := slices.Index(h.Edges, 0); at < 0 || h.Groups[0].Values[len(h.Groups[0].Values)-1] != 0.5 {
		t.Errorf("0 is no edge of %v, or the last bin is wrong: %v", h.Edges, h.Groups)
	}
	three := scoredCase{Scale: "margin", Labels: []string{"a", "b", "c"}, Truth: []int{0, 1, 2, 0}, Weights: ones(4),
		Scores: [][]float64{{3, 1, 0}, {0, 4, 1}, {0, 0, 2}, {0, 0.5, 0.25}}}
	figures := scoreFigures(t, three)
	h = figures["Margins of decisions"].Histogram
	if h == nil || h.Zero || h.Groups[0].Name != "right (3)" ||
		h.Groups[1].Name != "wrong (1)" || h.Groups[1].Values[0] != 1 {
		t.Fatalf("%+v", h)
	}
	if _, ok := figures["Margins"]; ok || figures["Confidence of decisions"].Histogram != nil {
		t.Error("margins of three classes by class, or as probabilities")
	}
}

// One class only, or one score only: the curves that follow are drawn, and no others.
func TestFiguresOfOneSide(t *testing.T) {
	for _, c := range []struct {
		name  string
		truth []int
		want  []string // of ROC, precision, spread
	}{
		{"only the positive class", []int{1, 1}, []string{"Precision and recall"}},
		{"only the others", []int{0, 0}, nil},
		{"one score", []int{0, 1}, []string{"Precision and recall", "ROC curve"}},
	} {
		figures := scoreFigures(t, scoredCase{Scale: "probability", Labels: []string{"a", "b"}, Truth: c.truth,
			Weights: ones(2), Scores: [][]float64{{0.5, 0.5}, {0.5, 0.5}}})
		var got []string
		for _, title := range []string{"Precision and recall", "ROC curve", "Probabilities by class"} {
			if _, ok := figures[title]; ok {
				got = append(got, title)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
		if c.name == "one score" {
			wantLine(t, c.name, figures["ROC curve"].Lines.Series[0], "b, AUC 0.5000", []float64{0, 1}, []float64{0, 1})
		}
	}
}

// A spread whose sides do not fit is refused, of either metric.
func TestHostileSpreads(t *testing.T) {
	const spread = `{"from":0,"width":1,"negative":[1,2],"positive":[1]}`
	for name, value := range map[string]string{
		rankingMetric: `{"classes":[{"label":"a","positive":1,"negative":3,"spread":` + spread + `}]}`,
		riskMetric:    `{"spread":` + spread + `}`,
	} {
		if _, err := Figures(nil, []jobs.Metric{{Name: name, Value: json.RawMessage(value)}}); err == nil {
			t.Errorf("%s is drawn", name)
		}
	}
}

// The legend says the figures of all scores; with more classes than lines, the caption says so.
func TestCurvesOfManyClasses(t *testing.T) {
	for _, c := range scoredCases(t) {
		if len(c.Labels) != 4 {
			continue
		}
		figures := scoreFigures(t, c)
		roc := figures["ROC curve"].Lines
		if len(roc.Series) != 5 || !strings.HasPrefix(roc.Series[3].Name, "d, AUC 0.") {
			t.Errorf("%+v", roc.Series)
		}
		if pr := figures["Precision and recall"].Lines; len(pr.Series) != 4 {
			t.Errorf("one level by chance for %d classes", len(pr.Series))
		}
		h := figures["Confidence of decisions"].Histogram
		if h == nil || h.X != "probability of the decision" || h.Edges[len(h.Edges)-1] > 1 {
			t.Errorf("%+v", h)
		}
	}
	if got := drawnOf(9, "x.", "least AUC"); got != "x. Of 9 classes, the 6 of least AUC are drawn." {
		t.Errorf("%q", got)
	}
	worst := worstOf(8, func(i int) float64 { return []float64{9, 1, 5, 5, 5, 0, 5, 5}[i] })
	if !slices.Equal(worst, []int{1, 2, 3, 4, 5, 6}) {
		t.Errorf("%v", worst)
	}
}

// A probability of 1 is in the bin that ends at 1.
func TestCloseAt1(t *testing.T) {
	h := &jobs.Histogram{Edges: []float64{0.5, 0.75, 1, 1.25}, Groups: []jobs.BinGroup{{Values: []float64{1, 2, 4}}}}
	closeAt1(h)
	if !slices.Equal(h.Edges, []float64{0.5, 0.75, 1}) || !slices.Equal(h.Groups[0].Values, []float64{1, 6}) {
		t.Errorf("%+v", h)
	}
	closeAt1(h)
	if len(h.Edges) != 3 {
		t.Errorf("%+v", h)
	}
}
