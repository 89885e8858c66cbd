package evaluation

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// scoringOf judges scores with that many replicates and the defaults.
func scoringOf(bootstrap int) *Scoring {
	errors := protocol.DefaultErrors
	return &Scoring{Evaluation: protocol.Evaluation{Bins: protocol.DefaultBins, Errors: &errors, Bootstrap: bootstrap,
		Confidence: protocol.DefaultConfidence}}
}

// scoredCase is test records with what scikit-learn says of them (testdata/scores.py).
type scoredCase struct {
	Name, Scale string
	Labels      []string
	Truth       []int
	Weights     []float32
	Scores      [][]float64
	AUC         []*float64
	Average     []*float64 `json:"average_precision"`
	MacroAUC    *float64   `json:"macro_auc"`
	WeightedAUC *float64   `json:"weighted_auc"`
	LogLoss     *float64   `json:"log_loss"`
	Brier       *float64
	Top         []float64
	Calibration [][2]float64
	ROC, PR     [][2]float64
}

func scoredCases(t *testing.T) (cases []scoredCase) {
	t.Helper()
	data, err := os.ReadFile("testdata/scores.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func (c scoredCase) answers() jobs.Answers {
	scale := map[string]jobs.Scale{"probability": jobs.Probabilities, "margin": jobs.Margins}[c.Scale]
	return jobs.Answers{Labels: c.Labels, Scale: scale}
}

// block has the records from up to, not including, to.
func (c scoredCase) block(from, to int) (*dataset.Block, []jobs.Outcome) {
	block, outcomes := &dataset.Block{Labels: [][]byte{}, Weights: c.Weights[from:to]}, []jobs.Outcome{}
	for i := from; i < to; i++ {
		block.IDs = append(block.IDs, dataset.Identity{Object: "o", Offset: int64(i)})
		block.Labels = append(block.Labels, []byte(c.Labels[c.Truth[i]]))
		best := 0
		for y, s := range c.Scores[i] {
			if s > c.Scores[i][best] {
				best = y
			}
		}
		outcomes = append(outcomes, jobs.Outcome{Label: c.Labels[best], Scores: c.Scores[i]})
	}
	return block, outcomes
}

func tallyOf(t *testing.T, c scoredCase, s *Scoring, from, to int) *Tally {
	t.Helper()
	judged, err := NewScoredTally(c.answers(), s)
	if err != nil {
		t.Fatal(err)
	}
	block, outcomes := c.block(from, to)
	if err := judged.Add(block, outcomes); err != nil {
		t.Fatal(err)
	}
	return judged
}

// judged are the figures of a tally that ranks in one round.
func judgedScores(t *testing.T, judged *Tally, s *Scoring) (scores Scores, ranks Rankings, risk Risk) {
	t.Helper()
	metrics, err := judged.Metrics(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	ranked, err := judged.RankMetrics(s)
	if err != nil {
		t.Fatal(err)
	}
	metrics = append(metrics, ranked...)
	for name, to := range map[string]any{scoresMetric: &scores, rankingMetric: &ranks, riskMetric: &risk} {
		if err := jobs.ReadMetric(metrics, name, to); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Figures(nil, metrics); err != nil {
		t.Fatal(err)
	}
	return scores, ranks, risk
}

// Four records: b at 0.9 and 0.6, a at 0.6 and 0.2. Of four pairs 3.5 are right. By falling score, precision is 1 with
// half of the recall, then 2/3 with the other half. Decisions at confidences 0.9 (right), 0.8 (right), and 0.6 (one
// right, one wrong): risk 0, 0, 1/4.
func TestScoresByHand(t *testing.T) {
	c := scoredCase{Scale: "probability", Labels: []string{"a", "b"}, Truth: []int{1, 1, 0, 0},
		Weights: []float32{1, 1, 1, 1}, Scores: [][]float64{{0.1, 0.9}, {0.4, 0.6}, {0.4, 0.6}, {0.8, 0.2}}}
	s := scoringOf(0)
	scores, ranks, risk := judgedScores(t, tallyOf(t, c, s, 0, 4), s)
	near := func(what string, got *float64, want float64) {
		if got == nil || math.Abs(*got-want) > 1e-15 {
			t.Errorf("%s: %v, not %v", what, got, want)
		}
	}
	near("AUC", ranks.Classes[0].AUC, 3.5/4)
	near("average precision", ranks.Classes[0].Average, 0.5+0.5*2/3)
	near("log loss", scores.LogLoss, -(math.Log(0.9)+math.Log(0.6)+math.Log(0.4)+math.Log(0.8))/4)
	near("Brier", scores.Brier, (0.01+0.16+0.36+0.04)/4)
	near("accuracy", &scores.Accuracy, 0.75)
	near("threshold", risk.Threshold, 0.8)
	near("coverage", &risk.Coverage, 0.5)
	near("area", risk.Area, 0.5*0.25)
	want := []Point{{0.9, 0, 0.5, 1}, {0.6, 0.5, 1, 2. / 3}, {0.2, 1, 1, 0.5}}
	if !slices.Equal(ranks.Classes[0].Curve, want) {
		t.Errorf("curve %v", ranks.Classes[0].Curve)
	}
	if scores.Positive != "b" || ranks.MacroAUC != nil || scores.Top != nil {
		t.Errorf("%+v %+v", scores, ranks)
	}
	s.Positive = "a"
	if _, ranks, _ := judgedScores(t, tallyOf(t, c, s, 0, 4), s); *ranks.Classes[0].AUC != 3.5/4 {
		t.Errorf("AUC of a %v", *ranks.Classes[0].AUC)
	}
}

// The figures are those of scikit-learn on ties, weights, single classes and many classes.
func TestScoresAgreeWithScikitLearn(t *testing.T) {
	for _, c := range scoredCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			s := scoringOf(0)
			scores, ranks, _ := judgedScores(t, tallyOf(t, c, s, 0, len(c.Truth)), s)
			same := func(what string, got, want *float64) {
				if (got == nil) != (want == nil) || got != nil && !(math.Abs(*got-*want) <= 1e-12*max(1, *want)) {
					t.Errorf("%s: %v, not %v", what, shownValue(got), shownValue(want))
				}
			}
			for i, r := range ranks.Classes {
				same("AUC of "+r.Label, r.AUC, c.AUC[i])
				same("average precision of "+r.Label, r.Average, c.Average[i])
			}
			if c.MacroAUC != nil {
				same("macro AUC", ranks.MacroAUC, c.MacroAUC)
				same("weighted AUC", ranks.WeightedAUC, c.WeightedAUC)
			}
			same("log loss", scores.LogLoss, c.LogLoss)
			same("Brier score", scores.Brier, c.Brier)
			for i, top := range c.Top {
				same(fmt.Sprint("top ", i+1), &scores.Top[i].Accuracy, &top)
			}
			for i, bin := range c.Calibration {
				same("mean probability", &scores.Calibration[0].Bins[i].Predicted, &bin[0])
				same("share", &scores.Calibration[0].Bins[i].True, &bin[1])
			}
			if len(c.Calibration) > 0 && len(c.Calibration) != len(scores.Calibration[0].Bins) {
				t.Errorf("%d bins, not %d", len(scores.Calibration[0].Bins), len(c.Calibration))
			}
			if len(ranks.Classes) == 1 {
				checkCurve(t, ranks.Classes[0].Curve, c)
			}
		})
	}
}

func shownValue(v *float64) any {
	if v == nil {
		return "nothing"
	}
	return *v
}

// checkCurve finds every point of a curve among those of scikit-learn.
func checkCurve(t *testing.T, curve []Point, c scoredCase) {
	t.Helper()
	among := func(list [][2]float64, x, y float64) bool {
		return list == nil || slices.ContainsFunc(list, func(p [2]float64) bool {
			return math.Abs(p[0]-x) < 1e-12 && math.Abs(p[1]-y) < 1e-12
		})
	}
	for _, p := range curve {
		if !among(c.ROC, p.Negative, p.Positive) || !among(c.PR, p.Positive, p.Precision) {
			t.Errorf("%+v is not on the curves", p)
		}
	}
	if len(curve) == 0 || curve[len(curve)-1].Positive+curve[len(curve)-1].Negative < 1 {
		t.Errorf("the curve does not end: %v", curve)
	}
}

// Whatever the shards and the order of their merges, and however few scores are kept in a round, all metrics are the
// same bytes.
func TestScoresOfAnyShardsAndRounds(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for _, c := range scoredCases(t) {
		whole := scoringOf(40)
		want := roundsOf(t, c, whole, []int{0, len(c.Truth)})
		for _, keeps := range []int{0, 5, 20, 64} {
			s := scoringOf(40)
			s.keeps = keeps
			cuts := []int{0, r.IntN(len(c.Truth)), r.IntN(len(c.Truth)), len(c.Truth)}
			slices.Sort(cuts)
			if got := roundsOf(t, c, s, cuts); got != want {
				t.Errorf("%s, %d scores a round, shards %v: %s\nnot\n%s", c.Name, keeps, cuts, got, want)
			}
		}
	}
}

// roundsOf are the metrics of scores after all rounds, without those of decisions.
func roundsOf(t *testing.T, c scoredCase, s *Scoring, cuts []int) string {
	t.Helper()
	var all *Tally
	for i, to := range cuts[1:] {
		one, err := jobs.Read(jobs.ArraysOf(tallyOf(t, c, s, cuts[i], to)), new(Tally))
		if err != nil {
			t.Fatal(err)
		}
		if all == nil {
			all = one
		} else if all, err = all.Plus(one); err != nil {
			t.Fatal(err)
		}
	}
	metrics, err := all.Metrics(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	p := &Ranks{Scoring: s}
	state, err := p.begin(all)
	if err != nil {
		t.Fatal(err)
	}
	rounds := 0
	for rankings := all.scores.rankings; state.take(rankings, s); rounds++ {
		if state, err = jobs.Read(jobs.ArraysOf(state), new(ranksState)); err != nil {
			t.Fatal(err)
		}
		rankings = furtherRound(t, p, c, state, cuts)
	}
	if s.keeps == 5 && len(c.Truth) > 12 && rounds < 2 {
		t.Errorf("%s: %d rounds", c.Name, rounds)
	}
	ranked, err := state.metrics(s)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, m := range append(metrics, ranked...) {
		text += m.Name + " " + string(m.Value) + "\n"
	}
	return text
}

func furtherRound(t *testing.T, p *Ranks, c scoredCase, state *ranksState, cuts []int) []*Ranking {
	t.Helper()
	rater, err := newRater(c.answers(), "")
	if err != nil {
		t.Fatal(err)
	}
	var all *ranking
	for i, to := range cuts[1:] {
		one := &ranking{p.Scoring.rankings(state.below)}
		block, outcomes := c.block(cuts[i], to)
		if err := p.add(one, state.done, rater, block, outcomes); err != nil {
			t.Fatal(err)
		}
		if one, err = jobs.Read(jobs.ArraysOf(one), new(ranking)); err != nil {
			t.Fatal(err)
		}
		if all == nil {
			all = one
		} else if all, err = all.plus(one); err != nil {
			t.Fatal(err)
		}
	}
	return all.list
}

// Log odds of classes against all others are probabilities: of two, the logistic function.
func TestLogOdds(t *testing.T) {
	r, err := newRater(jobs.Answers{Labels: []string{"a", "b"}, Scale: jobs.LogOdds}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []float64{0, 1, -3, 40, -800, 1e300} {
		v, err := r.rate(dataset.Identity{}, []byte("b"), jobs.Outcome{Label: "b", Scores: []float64{-s, s}})
		if want := 1 / (1 + math.Exp(-s)); err != nil || math.Abs(v.ranks[0]-want) > 1e-15 {
			t.Errorf("log odds %v are a probability of %v, not %v: %v", s, v.ranks[0], want, err)
		}
	}
}

func TestScoresRefuse(t *testing.T) {
	two := jobs.Answers{Labels: []string{"a", "b"}, Scale: jobs.Margins}
	for _, c := range []struct {
		answers  jobs.Answers
		positive string
	}{{jobs.Answers{Value: "value"}, ""}, {jobs.Answers{Labels: []string{"a", "b"}}, ""}, {two, "c"},
		{jobs.Answers{Labels: []string{"a", "b", "c"}, Scale: jobs.Margins}, "a"}, {DetectorAnswers("score"), ""}} {
		s := scoringOf(0)
		if s.Positive = c.positive; true {
			if _, err := NewScoredTally(c.answers, s); err == nil {
				t.Errorf("%+v are judged", c)
			}
		}
	}
	r, err := newRater(two, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]float64{{1}, {1, math.NaN()}, {math.Inf(1), 0}} {
		if _, err := r.rate(dataset.Identity{}, nil, jobs.Outcome{Scores: bad}); err == nil {
			t.Errorf("scores %v are judged", bad)
		}
	}
}

// Of a label that the model does not have, the truth has the least probability, and no class is right.
func TestUnknownLabel(t *testing.T) {
	c := scoredCase{Scale: "probability", Labels: []string{"a", "b"}, Truth: []int{0}, Weights: []float32{2},
		Scores: [][]float64{{0.25, 0.75}}}
	s := scoringOf(0)
	judged, err := NewScoredTally(c.answers(), s)
	if err != nil {
		t.Fatal(err)
	}
	block, outcomes := c.block(0, 1)
	block.Labels[0] = []byte("other")
	if err := judged.Add(block, outcomes); err != nil {
		t.Fatal(err)
	}
	scores, ranks, risk := judgedScores(t, judged, s)
	if scores.Unknown != 2 || math.Abs(*scores.LogLoss-52*math.Ln2) > 1e-12 || scores.Accuracy != 0 ||
		*scores.Brier != (0.0625+0.5625)/2 || ranks.Classes[0].AUC != nil || risk.Threshold != nil {
		t.Errorf("%+v %+v %+v", scores, ranks, risk)
	}
}
