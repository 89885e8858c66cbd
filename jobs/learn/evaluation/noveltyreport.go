package evaluation

import (
	"fmt"

	"github.com/gram-compute/gram/jobs"
)

// Names of the metrics.
const (
	noveltyMetric   = "evaluation.novelty"
	thresholdMetric = "novelty.threshold"
)

// Threshold is the novelty above which a record is an outlier, and how it was found.
type Threshold struct {
	Records     int64    `json:"records"`      // normal ones that were not trained on
	FalseAlarms float64  `json:"false_alarms"` // the greatest probability of one that was asked for
	Threshold   *float64 `json:"threshold"`    // nil if there were too few records
}

func (t Threshold) tooFew() string {
	return fmt.Sprintf("%d normal records are too few for a threshold with a probability of a false alarm of at most %g: "+
		"raise params.novelty.validation or params.novelty.false_alarms", t.Records, t.FalseAlarms)
}

// Novelty is how well test records were ranked and told apart.
type Novelty struct {
	Normal int64 `json:"normal"`
	Novel  int64 `json:"novel"`
	// AUC is the share of pairs of a novel and a normal record in which the novel one is ranked above, ties as a half;
	// nil without such pairs. Within is how far it may be from that of unrounded scores: 0 up to 2^20 different ones.
	AUC    *float64 `json:"auc"`
	Within float64  `json:"auc_within,omitempty"`
	// Precision is the share of novel records among the Top that were ranked highest.
	Top       int64   `json:"top"`
	Precision float64 `json:"precision_at_top"`
	// Alarms are the records that were called outliers.
	FalseAlarms    int64        `json:"false_alarms"`
	Detected       int64        `json:"detected"`
	FalseAlarmRate float64      `json:"false_alarm_rate"` // of the normal records
	DetectionRate  float64      `json:"detection_rate"`   // of the novel records
	Curve          [][2]float64 `json:"curve"`            // shares of normal and of novel records above a score
}

func (n Novelty) oneSided() string {
	return fmt.Sprintf("of the test records %d are normal and %d novel: AUC needs both. Check params.novelty.labels "+
		"and spec.input.split.test", n.Normal, n.Novel)
}

// noveltyTally is what is known of ranked records.
type noveltyTally struct {
	ranking               *Ranking
	falseAlarms, detected int64
}

func (t *noveltyTally) add(score float64, novel, alarm bool) {
	t.ranking.Add(score, novel)
	switch {
	case alarm && novel:
		t.detected++
	case alarm:
		t.falseAlarms++
	}
}

// Fields lists the tally.
func (t *noveltyTally) Fields(f *jobs.Fields) {
	jobs.Make(f, &t.ranking).Fields(f, "ranking")
	jobs.Scalar(f, "alarms.false", &t.falseAlarms)
	jobs.Scalar(f, "alarms.detected", &t.detected)
	f.Check(func() error {
		if normal, novel := t.ranking.Counts(); t.falseAlarms < 0 || t.falseAlarms > normal || t.detected < 0 ||
			t.detected > novel {
			return jobs.Malformed("%d and %d alarms of %d and %d records", t.falseAlarms, t.detected, normal, novel)
		}
		return nil
	})
}

func (t *noveltyTally) plus(right *noveltyTally) (*noveltyTally, error) {
	t.ranking.Plus(right.ranking)
	t.falseAlarms += right.falseAlarms
	t.detected += right.detected
	return t, nil
}

func (r *Ranking) total() int64 {
	negative, positive := r.Counts()
	return negative + positive
}

// report derives the figures; top is 0 for as many as are novel.
func (t *noveltyTally) report(top int64) Novelty {
	n := Novelty{FalseAlarms: t.falseAlarms, Detected: t.detected, Curve: [][2]float64{}}
	n.Normal, n.Novel = t.ranking.Counts()
	if n.Top = top; top == 0 {
		n.Top = n.Novel
	}
	if n.Top = min(n.Top, n.Normal+n.Novel); n.Top > 0 {
		n.Precision = t.ranking.PrecisionAt(n.Top)
	}
	if auc, within, ok := t.ranking.AUC(); ok {
		n.AUC, n.Within, n.Curve = &auc, within, t.ranking.Curve()
	}
	n.FalseAlarmRate, n.DetectionRate = ratio(n.FalseAlarms, n.Normal), ratio(n.Detected, n.Novel)
	return n
}

// noveltyFigures are the figures as a table, and the ROC curve.
func noveltyFigures(n Novelty) ([]jobs.Figure, error) {
	auc := "none"
	if n.AUC != nil {
		if auc = fmt.Sprintf("%.4f", *n.AUC); n.Within > 0 {
			auc += fmt.Sprintf(" ± %.1g", n.Within)
		}
	}
	figures := []jobs.Figure{{Title: "Novel records", Table: &jobs.FigureTable{
		Columns: []string{"test records", "normal", "novel", "AUC", "top", "novel among the top", "false alarms", "detected"},
		Rows: [][]string{{fmt.Sprint(n.Normal + n.Novel), fmt.Sprint(n.Normal), fmt.Sprint(n.Novel), auc,
			fmt.Sprint(n.Top), percent(n.Precision), fmt.Sprintf("%d, %s", n.FalseAlarms, percent(n.FalseAlarmRate)),
			fmt.Sprintf("%d, %s", n.Detected, percent(n.DetectionRate))}},
	}, Caption: "AUC is the share of pairs in which the novel record is ranked above the normal one. False alarms " +
		"are normal records that are called outliers."}}
	if len(n.Curve) < 2 {
		return figures, nil
	}
	curve := jobs.Series{Name: "detected"}
	for _, p := range n.Curve {
		curve.X, curve.Y = append(curve.X, p[0]), append(curve.Y, p[1])
	}
	return append(figures, jobs.Figure{Title: "ROC curve", Lines: &jobs.LineChart{X: "share of normal records",
		Y: "share of novel records", UnitX: true, UnitY: true, Series: []jobs.Series{curve, diagonal("by chance")}},
		Caption: "Both shares have a novelty above a threshold, as it falls."}), nil
}

func thresholdFigures(t Threshold) ([]jobs.Figure, error) {
	threshold := "none"
	if t.Threshold != nil {
		threshold = fmt.Sprintf("%.6g", *t.Threshold)
	}
	return []jobs.Figure{{Title: "Threshold", Table: &jobs.FigureTable{
		Columns: []string{"normal records", "false alarms asked for", "threshold of the novelty"},
		Rows:    [][]string{{fmt.Sprint(t.Records), "at most " + percent(t.FalseAlarms), threshold}},
	}, Caption: "Found on normal records that were not trained on."}}, nil
}
