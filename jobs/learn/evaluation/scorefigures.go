package evaluation

import (
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// maxCurves bounds the lines of one picture: the colors that can be told apart, without that of a reference line.
const maxCurves = 6

func figureOf(v *float64) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprintf("%.4f", *v)
}

func scoresFigures(s Scores) ([]jobs.Figure, error) {
	table := &jobs.FigureTable{Columns: []string{"test records", "scores", "accuracy without rejection", "log loss",
		"Brier score"}, Rows: [][]string{{fmt.Sprint(s.Records), s.Scale, percent(s.Accuracy), figureOf(s.LogLoss),
		figureOf(s.Brier)}}}
	caption := ""
	if s.Weighted {
		caption = fmt.Sprintf("Records count by their weights, %.6g in all.", s.Weight)
	}
	figures := []jobs.Figure{{Title: "Scores", Caption: caption, Table: table}}
	if len(s.Top) > 0 {
		top := &jobs.FigureTable{Columns: []string{"among the first", "records"}}
		for _, t := range s.Top {
			top.Rows = append(top.Rows, []string{fmt.Sprint(t.K), percent(t.Accuracy)})
		}
		figures = append(figures, jobs.Figure{Title: "Top-k accuracy", Table: top,
			Caption: "Share of the records whose class is among those of the highest scores."})
	}
	if len(s.Calibration) == 0 {
		return figures, nil
	}
	chart := &jobs.LineChart{X: "mean probability", Y: "share of records of the class"}
	errors := &jobs.FigureTable{Columns: []string{"label", "calibration error"}}
	for i, c := range s.Calibration {
		errors.Rows = append(errors.Rows, []string{c.Label, fmt.Sprintf("%.4f", c.Error)})
		if i >= maxCurves {
			continue
		}
		line := jobs.Series{Name: c.Label}
		for _, b := range c.Bins {
			line.X, line.Y = append(line.X, b.Predicted), append(line.Y, b.True)
		}
		chart.Series = append(chart.Series, line)
	}
	chart.Series = append(chart.Series, diagonal("calibrated"))
	return append(figures, jobs.Figure{Title: "Calibration curve", Lines: chart, Caption: firstOf(len(s.Calibration),
		"Each point is a bin of probabilities.")},
		jobs.Figure{Title: "Calibration errors", Table: errors}), nil
}

func diagonal(name string) jobs.Series {
	return jobs.Series{Name: name, X: []float64{0, 1}, Y: []float64{0, 1}, Reference: true}
}

// firstOf adds to a caption that not all classes have a line.
func firstOf(classes int, caption string) string {
	if classes > maxCurves {
		caption += fmt.Sprintf(" Of %d classes, the first %d are drawn.", classes, maxCurves)
	}
	return caption
}

func rankingFigures(r Rankings) ([]jobs.Figure, error) {
	table := &jobs.FigureTable{Columns: []string{"label", "AUC", "average precision"}}
	intervals := slices.ContainsFunc(r.Classes, func(c ClassRanking) bool { return c.AUCInterval != nil })
	if intervals {
		table.Columns = []string{"label", "AUC", "its interval", "average precision", "its interval"}
	}
	row := func(label string, auc *float64, of *Interval, average *float64, from *Interval) {
		cells := []string{label, figureOf(auc), of.cell("%.4f"), figureOf(average), from.cell("%.4f")}
		if !intervals {
			cells = []string{label, figureOf(auc), figureOf(average)}
		}
		table.Rows = append(table.Rows, cells)
	}
	roc := &jobs.LineChart{X: "share of the other records", Y: "share of the records of the class"}
	pr := &jobs.LineChart{X: "recall", Y: "precision"}
	for i, c := range r.Classes {
		row(c.Label, c.AUC, c.AUCInterval, c.Average, c.AverageInterval)
		if i >= maxCurves || len(c.Curve) == 0 {
			continue
		}
		line, recall := jobs.Series{Name: c.Label, X: []float64{0}, Y: []float64{0}}, jobs.Series{Name: c.Label}
		for _, p := range c.Curve {
			line.X, line.Y = append(line.X, p.Negative), append(line.Y, p.Positive)
			recall.X, recall.Y = append(recall.X, p.Positive), append(recall.Y, p.Precision)
		}
		if c.AUC != nil {
			roc.Series = append(roc.Series, line)
		}
		if c.Average != nil {
			pr.Series = append(pr.Series, recall)
		}
	}
	if len(r.Classes) > 1 {
		row("mean", r.MacroAUC, nil, r.MacroAverage, nil)
		row("mean by weight", r.WeightedAUC, nil, r.WeightedAverage, nil)
	}
	figures := []jobs.Figure{{Title: "Rankings by score", Table: table, Caption: "AUC is the share of pairs in which the " +
		"record of the class has the higher score, ties as a half."}}
	if len(roc.Series) > 0 {
		roc.Series = append(roc.Series, diagonal("by chance"))
		figures = append(figures, jobs.Figure{Title: "ROC curve", Lines: roc,
			Caption: firstOf(len(r.Classes), "Both shares have a score above a threshold, as it falls.")})
	}
	if len(pr.Series) > 0 {
		figures = append(figures, jobs.Figure{Title: "Precision and recall", Lines: pr,
			Caption: firstOf(len(r.Classes), "Of the records with a score above a threshold, as it falls.")})
	}
	return figures, nil
}

func riskFigures(r Risk) ([]jobs.Figure, error) {
	threshold := "none"
	if r.Threshold != nil {
		threshold = fmt.Sprintf("%.6g", *r.Threshold)
	}
	figures := []jobs.Figure{{Title: "Rejection by confidence", Table: &jobs.FigureTable{
		Columns: []string{"errors asked for", "threshold of the confidence", "records decided", "errors among them"},
		Rows:    [][]string{{"at most " + percent(r.Asked), threshold, percent(r.Coverage), percent(r.Errors)}},
	}, Caption: "The lowest threshold, and what it does on these test records; further records may differ."}}
	if len(r.Curve) < 2 {
		return figures, nil
	}
	line := jobs.Series{Name: "errors"}
	for _, p := range r.Curve {
		line.X, line.Y = append(line.X, p.Coverage), append(line.Y, p.Errors)
	}
	return append(figures, jobs.Figure{Title: "Risk and coverage", Lines: &jobs.LineChart{X: "share of records decided",
		Y: "share of errors among them", Series: []jobs.Series{line}}}), nil
}

func bootstrapFigures(b Bootstrap) ([]jobs.Figure, error) {
	table := &jobs.FigureTable{Columns: []string{"figure", "from", "to"}}
	for _, row := range []struct {
		name string
		of   *Interval
	}{{"accuracy", b.Accuracy}, {"log loss", b.LogLoss}, {"Brier score", b.Brier}} {
		if row.of != nil {
			table.Rows = append(table.Rows, []string{row.name, fmt.Sprintf("%.4f", row.of.Low),
				fmt.Sprintf("%.4f", row.of.High)})
		}
	}
	return []jobs.Figure{{Title: "Confidence intervals", Table: table, Caption: intervalsCaption(b.Confidence,
		b.Replicates)}}, nil
}
