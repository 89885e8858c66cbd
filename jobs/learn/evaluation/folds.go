package evaluation

import (
	"cmp"
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
)

// FoldsMetric is the name of the metric of a job with folds.
const FoldsMetric = "evaluation.folds"

// Fold is what a model that was trained without a fold does on its records; figures that there are not are nil.
type Fold struct {
	Fold     int      `json:"fold"` // counted from 1
	Records  int64    `json:"records"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	MacroF1  *float64 `json:"macro_f1,omitempty"`
	AUC      *float64 `json:"auc,omitempty"` // of more than two classes the plain mean
	LogLoss  *float64 `json:"log_loss,omitempty"`
	Brier    *float64 `json:"brier,omitempty"`
	MSE      *float64 `json:"mean_squared_error,omitempty"`
	MAE      *float64 `json:"mean_absolute_error,omitempty"`
	R2       *float64 `json:"r2,omitempty"`
}

// foldFigure is a figure of a fold.
type foldFigure struct {
	name string
	of   *float64
}

func (f Fold) figures() []foldFigure {
	return []foldFigure{{"accuracy", f.Accuracy}, {"macro F1", f.MacroF1}, {"AUC", f.AUC}, {"log loss", f.LogLoss},
		{"Brier score", f.Brier}, {"mean squared error", f.MSE}, {"mean absolute error", f.MAE}, {"R²", f.R2}}
}

// Take takes in the figures among the metrics of one step.
func (f *Fold) Take(metrics []jobs.Metric) error {
	var decisions Report
	var values Regression
	var scores Scores
	var ranks Rankings
	for _, m := range []struct {
		name string
		to   any
	}{{reportMetric, &decisions}, {regressionMetric, &values}, {scoresMetric, &scores}, {rankingMetric, &ranks}} {
		if err := jobs.ReadMetric(metrics, m.name, m.to); err != nil {
			return err
		}
	}
	if decisions.Records > 0 {
		f.Records, f.Accuracy, f.MacroF1 = decisions.Records, &decisions.Accuracy, &decisions.Macro.F1
	}
	f.LogLoss, f.Brier = cmp.Or(scores.LogLoss, f.LogLoss), cmp.Or(scores.Brier, f.Brier)
	if len(ranks.Classes) == 1 {
		ranks.MacroAUC = ranks.Classes[0].AUC
	}
	f.AUC = cmp.Or(ranks.MacroAUC, f.AUC)
	if values.Records > 0 {
		f.Records, f.MSE, f.MAE, f.R2 = values.Records, &values.MeanSquaredError, &values.MeanAbsoluteError, &values.R2
	}
	return nil
}

// Folds are the figures of all folds, with the mean of each and its standard deviation (n - 1), by the name of the
// figure: those that every fold has.
type Folds struct {
	Folds     []Fold   `json:"folds"`
	Summaries []Spread `json:"summary"`
}

// Spread is the mean of a figure over the folds and how far it varies.
type Spread struct {
	Figure    string  `json:"figure"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

// FoldsOf summarizes the figures of folds.
func FoldsOf(list []Fold) Folds {
	all := Folds{Folds: list, Summaries: []Spread{}}
	if len(list) < 2 {
		return all
	}
	for i, figure := range list[0].figures() {
		sum, n := 0.0, 0
		for _, f := range list {
			if v := f.figures()[i].of; v != nil {
				sum += *v
				n++
			}
		}
		if n < len(list) {
			continue
		}
		mean, squares := sum/float64(n), 0.0
		for _, f := range list {
			d := *f.figures()[i].of - mean
			squares += float64(d * d)
		}
		deviation := math.Sqrt(squares / float64(n-1))
		all.Summaries = append(all.Summaries, Spread{figure.name, bounded(mean), bounded(deviation)})
	}
	return all
}

func foldsFigures(all Folds) ([]jobs.Figure, error) {
	table := &jobs.FigureTable{Columns: []string{"fold", "records"}}
	for _, s := range all.Summaries {
		table.Columns = append(table.Columns, s.Figure)
	}
	row := func(name, records string, of func(Spread) *float64) {
		cells := []string{name, records}
		for _, s := range all.Summaries {
			cells = append(cells, figureOf(of(s)))
		}
		table.Rows = append(table.Rows, cells)
	}
	for _, f := range all.Folds {
		row(fmt.Sprint(f.Fold), fmt.Sprint(f.Records), func(s Spread) *float64 {
			for _, figure := range f.figures() {
				if figure.name == s.Figure {
					return figure.of
				}
			}
			return nil
		})
	}
	row("mean", "", func(s Spread) *float64 { return &s.Mean })
	row("deviation", "", func(s Spread) *float64 { return &s.Deviation })
	return []jobs.Figure{{Title: "Folds", Table: table, Caption: "Each fold was judged by a model that was trained " +
		"on the others. The model of this job was trained on all records."}}, nil
}
