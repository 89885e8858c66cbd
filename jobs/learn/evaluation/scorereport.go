package evaluation

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// Names of the metrics.
const (
	scoresMetric    = "evaluation.scores"
	rankingMetric   = "evaluation.ranking"
	riskMetric      = "evaluation.risk"
	bootstrapMetric = "evaluation.bootstrap"
)

// Scores is what the scores of test records say one by one. All shares are of the weight of the records.
type Scores struct {
	Records  int64   `json:"records"`
	Weight   float64 `json:"weight"`
	Weighted bool    `json:"weighted"` // some weight is not 1
	Scale    string  `json:"scale"`    // probability, margin or distance
	Positive string  `json:"positive,omitempty"`
	Unknown  float64 `json:"unknown"`  // weight of the records whose label the model does not have
	Accuracy float64 `json:"accuracy"` // of decisions, if none is rejected
	// LogLoss and Brier are of probabilities alone; nil without them, and without weight.
	LogLoss     *float64      `json:"log_loss"`
	Brier       *float64      `json:"brier"`
	Top         []Top         `json:"top,omitempty"` // of three classes or more
	Calibration []Calibration `json:"calibration,omitempty"`
}

// Top is the share of records whose class is among the K of highest scores; of equal scores those first in byte order.
type Top struct {
	K        int     `json:"k"`
	Accuracy float64 `json:"accuracy"`
}

// Calibration compares the probabilities of a class with how often records are of it.
type Calibration struct {
	Label string `json:"label"`
	Bins  []Bin  `json:"bins"` // those with records
	// Error is the mean over the records of the distance of the two shares of their bin.
	Error float64 `json:"error"`
}

// Bin is the records with a probability above From, up to To; those of 0 are in the first.
type Bin struct {
	From      float64 `json:"from"`
	To        float64 `json:"to"`
	Weight    float64 `json:"weight"`
	Predicted float64 `json:"predicted"` // mean probability
	True      float64 `json:"true"`      // share of records of the class
}

// ClassRanking is how well records of a class are ranked above all others.
type ClassRanking struct {
	Label    string   `json:"label"`
	Positive float64  `json:"positive"` // weight of the records of the class
	Negative float64  `json:"negative"`
	AUC      *float64 `json:"auc"`               // nil without both
	Average  *float64 `json:"average_precision"` // nil without positive records
	// AUCInterval and AverageInterval are there with spec.evaluation.bootstrap, of up to 16 classes.
	AUCInterval     *Interval `json:"auc_interval,omitempty"`
	AverageInterval *Interval `json:"average_precision_interval,omitempty"`
	Curve           []Point   `json:"curve,omitempty"`
	// Spread is how the scores of the class and of the others are spread, of two classes.
	Spread *ScoreSpread `json:"spread,omitempty"`
}

// Point is what is ranked at a score and above.
type Point struct {
	Score     float64 `json:"score"`
	Negative  float64 `json:"negative"` // share of the negative records: false positive rate
	Positive  float64 `json:"positive"` // share of the positive ones: recall
	Precision float64 `json:"precision"`
}

// Rankings are those of the classes. Macro is the plain mean over classes that have the figure, Weighted the mean by
// the weight of their records; nil of two classes, of which one is ranked.
type Rankings struct {
	Classes         []ClassRanking `json:"classes"`
	MacroAUC        *float64       `json:"macro_auc,omitempty"`
	WeightedAUC     *float64       `json:"weighted_auc,omitempty"`
	MacroAverage    *float64       `json:"macro_average_precision,omitempty"`
	WeightedAverage *float64       `json:"weighted_average_precision,omitempty"`
}

// Risk is how many decisions are wrong where those below a confidence are rejected.
type Risk struct {
	Asked     float64     `json:"asked"`     // greatest share of errors
	Threshold *float64    `json:"threshold"` // lowest confidence with no more; nil where the share is never that low
	Coverage  float64     `json:"coverage"`  // share of the records at the threshold and above
	Errors    float64     `json:"errors"`    // share of wrong decisions on them
	Area      *float64    `json:"area"`      // mean share of errors over the coverage; nil without weight
	Curve     []RiskPoint `json:"curve"`
	// Spread is how the confidence of right decisions (negative) and of wrong ones is spread, of three classes or more.
	Spread *ScoreSpread `json:"spread,omitempty"`
}

// RiskPoint is the share of errors at a confidence and above.
type RiskPoint struct {
	Confidence float64 `json:"confidence"`
	Coverage   float64 `json:"coverage"`
	Errors     float64 `json:"errors"`
}

// Bootstrap has confidence intervals of figures.
type Bootstrap struct {
	Replicates int       `json:"replicates"`
	Confidence float64   `json:"confidence"`
	Accuracy   *Interval `json:"accuracy,omitempty"`
	LogLoss    *Interval `json:"log_loss,omitempty"`
	Brier      *Interval `json:"brier,omitempty"`
}

func scaleName(s jobs.Scale) string {
	switch s {
	case jobs.Distances:
		return "distance"
	case jobs.Margins:
		return "margin"
	}
	return "probability"
}

// report derives the figures of sums.
func (t *scoredTally) report() Scores {
	r := Scores{Records: t.records, Weight: bounded(t.sums.Float(sumWeight)), Weighted: t.weighted,
		Scale:   scaleName(t.scale),
		Unknown: bounded(t.sums.Float(sumUnknown)), Accuracy: t.mean(sumCorrect)}
	labels := t.rankedLabels()
	if t.labels.Len() == 2 {
		r.Positive = labels[0]
	} else {
		reached := t.sums.Only(sumRank)
		for k := 1; k <= min(maxTop, t.labels.Len()-1); k++ {
			if k > 1 {
				reached, _ = reached.Plus(t.sums.Only(sumRank + k - 1)) // of one sum each
			}
			if r.Weight > 0 {
				r.Top = append(r.Top, Top{k, bounded(reached.Float(0) / r.Weight)})
			}
		}
	}
	if t.bins == 0 || !(r.Weight > 0) {
		return r
	}
	logLoss, brier := t.mean(sumLogLoss), t.mean(sumBrier)
	r.LogLoss, r.Brier = &logLoss, &brier
	for i, label := range labels {
		r.Calibration = append(r.Calibration, t.calibrationOf(label, i*t.bins, r.Weight))
	}
	return r
}

// calibrationOf is that of a class whose first bin has that number.
func (t *scoredTally) calibrationOf(label string, first int, weight float64) Calibration {
	c := Calibration{Label: label, Bins: []Bin{}}
	for bin := range t.bins {
		at := (first + bin) * binSums
		w := bounded(t.calibration.Float(at + binWeight))
		p, y := bounded(t.calibration.Float(at+binPredicted)), bounded(t.calibration.Float(at+binTrue))
		if !(w > 0) {
			continue
		}
		c.Bins = append(c.Bins, Bin{edgeOf(bin, t.bins), min(1, edgeOf(bin+1, t.bins)), w, bounded(p / w),
			bounded(y / w)})
		c.Error = bounded(c.Error + bounded(max(p-y, y-p)/weight))
	}
	return c
}

// metrics are the figures of sums, and what a person should know of them.
func (t *scoredTally) metrics(facts *jobs.Facts, s *Scoring) {
	r := t.report()
	facts.Add(scoresMetric, r)
	var warnings []string
	if n := t.labels.Len(); n > maxRankedClasses {
		warnings = append(warnings, fmt.Sprintf("no class is ranked against the others, as there are %d classes, more "+
			"than %d: spec.evaluation gives log loss, Brier score, top-k accuracy and the risk of decisions", n,
			maxRankedClasses))
	}
	if r.Unknown > 0 {
		warnings = append(warnings, fmt.Sprintf("test records of weight %v have a label that no training record has: "+
			"they count as decided wrong, and as negative for each class", r.Unknown))
	}
	if len(warnings) > 0 {
		facts.Add(jobs.WarningsMetric, warnings)
	}
	if t.bootstrap.Len() == 0 || s == nil {
		return
	}
	b := Bootstrap{Replicates: t.bootstrap.Len() / replicateSums, Confidence: s.Confidence,
		Accuracy: intervalOf(t.bootstrap, replicateCorrect, s.Confidence)}
	if t.bins > 0 {
		b.LogLoss = intervalOf(t.bootstrap, replicateLogLoss, s.Confidence)
		b.Brier = intervalOf(t.bootstrap, replicateBrier, s.Confidence)
	}
	facts.Add(bootstrapMetric, b)
}

// metrics are the figures of rankings that have ended.
func (s *ranksState) metrics(of *Scoring) ([]jobs.Metric, error) {
	var facts jobs.Facts
	labels, last := s.classes.List(), len(s.sweeps)-1
	var undefined []string
	r := Rankings{}
	for i, label := range labels {
		c := s.sweeps[i].classRanking(label, of.Confidence)
		r.Classes = append(r.Classes, c)
		if c.AUC == nil {
			undefined = append(undefined, label)
		}
	}
	if len(labels) > 1 {
		r.average()
	}
	if len(labels) > 0 {
		facts.Add(rankingMetric, r)
	}
	facts.Add(riskMetric, s.sweeps[last].riskReport(*of.Errors))
	if len(undefined) > 0 {
		facts.Add(jobs.WarningsMetric, []string{fmt.Sprintf("no AUC of %s: test records are needed that are of the class, and "+
			"others that are not", strings.Join(undefined[:min(len(undefined), 5)], ", "))})
	}
	return facts.Metrics()
}

func (s *sweep) classRanking(label string, confidence float64) ClassRanking {
	c := ClassRanking{Label: label, Positive: massFloat(s.total[1]), Negative: massFloat(s.total[0]), AUC: s.auc(),
		Average: s.mean(), Spread: s.spread.report()}
	c.AUCInterval, c.AverageInterval = s.replicates.intervals(confidence)
	for _, p := range s.curve {
		c.Curve = append(c.Curve, Point{p.score, p.negative, p.positive, p.precision})
	}
	return c
}

func (s *sweep) riskReport(asked float64) Risk {
	r := Risk{Asked: asked, Area: s.mean(), Curve: []RiskPoint{}, Spread: s.spread.report()}
	if s.found {
		r.Threshold, r.Coverage, r.Errors = &s.best.score, s.best.coverage, s.best.precision
	}
	for _, p := range s.curve {
		r.Curve = append(r.Curve, RiskPoint{p.score, p.coverage, p.precision})
	}
	return r
}

// average sets the means over classes.
func (r *Rankings) average() {
	mean := func(of func(ClassRanking) *float64, weight func(ClassRanking) float64) *float64 {
		sum, all := 0.0, 0.0
		for _, c := range r.Classes {
			if v := of(c); v != nil {
				sum += float64(*v * weight(c))
				all += weight(c)
			}
		}
		if !(all > 0) {
			return nil
		}
		sum /= all
		return &sum
	}
	one, positive := func(ClassRanking) float64 { return 1 }, func(c ClassRanking) float64 { return c.Positive }
	auc, average := func(c ClassRanking) *float64 { return c.AUC }, func(c ClassRanking) *float64 { return c.Average }
	r.MacroAUC, r.WeightedAUC = mean(auc, one), mean(auc, positive)
	r.MacroAverage, r.WeightedAverage = mean(average, one), mean(average, positive)
}
