package evaluation

import (
	"cmp"
	"fmt"
	"math"
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
	chart := &jobs.LineChart{X: "mean probability", Y: "share of records of the class", UnitX: true, UnitY: true}
	errors := &jobs.FigureTable{Columns: []string{"label", "calibration error"}}
	for _, c := range s.Calibration {
		errors.Rows = append(errors.Rows, []string{c.Label, fmt.Sprintf("%.4f", c.Error)})
	}
	for _, i := range worstOf(len(s.Calibration), func(i int) float64 { return -s.Calibration[i].Error }) {
		c := s.Calibration[i]
		line := jobs.Series{Name: fmt.Sprintf("%s, error %.4f", c.Label, c.Error)}
		for _, b := range c.Bins {
			line.X, line.Y = append(line.X, b.Predicted), append(line.Y, b.True)
		}
		chart.Series = append(chart.Series, line)
	}
	chart.Series = append(chart.Series, diagonal("calibrated"))
	figures = append(figures, jobs.Figure{Title: "Calibration curve", Lines: chart, Caption: drawnOf(len(s.Calibration),
		"Each point is a bin of probabilities; below the diagonal they are too high.", "greatest error")})
	if len(s.Calibration) > maxCurves { // the legend has no room for them
		figures = append(figures, jobs.Figure{Title: "Calibration errors", Table: errors})
	}
	return figures, nil
}

func diagonal(name string) jobs.Series {
	return jobs.Series{Name: name, X: []float64{0, 1}, Y: []float64{0, 1}, Reference: true}
}

// worstOf are up to maxCurves of the numbers below n, ascending: those of the lowest values, of equal ones the first.
func worstOf(n int, value func(i int) float64) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	// total order: of equal values by their number
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(value(a), value(b)), cmp.Compare(a, b)) })
	list = list[:min(n, maxCurves)]
	slices.Sort(list)
	return list
}

// drawnOf adds to a caption that not all classes have a line.
func drawnOf(classes int, caption, which string) string {
	if classes > maxCurves {
		caption += fmt.Sprintf(" Of %d classes, the %d of %s are drawn.", classes, maxCurves, which)
	}
	return caption
}

func rankingFigures(r Rankings, scale string) ([]jobs.Figure, error) {
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
	for _, c := range r.Classes {
		row(c.Label, c.AUC, c.AUCInterval, c.Average, c.AverageInterval)
	}
	if len(r.Classes) > 1 {
		row("mean", r.MacroAUC, nil, r.MacroAverage, nil)
		row("mean by weight", r.WeightedAUC, nil, r.WeightedAverage, nil)
	}
	figures := []jobs.Figure{{Title: "Rankings by score", Table: table, Caption: "AUC is the share of pairs in which the " +
		"record of the class has the higher score, ties as a half."}}
	figures = append(figures, curveFigures(r.Classes)...)
	if len(r.Classes) != 1 || r.Classes[0].Spread == nil {
		return figures, nil
	}
	if err := r.Classes[0].Spread.check(); err != nil {
		return nil, err
	}
	return append(figures, scoresOfClass(r.Classes[0], scale)), nil
}

// curveFigures are the ROC curves and those of precision and recall, where there are any.
func curveFigures(classes []ClassRanking) (figures []jobs.Figure) {
	roc := &jobs.LineChart{X: "share of the other records", Y: "share of the records of the class", UnitX: true,
		UnitY: true}
	pr := &jobs.LineChart{X: "recall", Y: "precision", UnitX: true, UnitY: true}
	for _, i := range worstOf(len(classes), func(i int) float64 { return aucOrMost(classes[i]) }) {
		c := classes[i]
		if len(c.Curve) == 0 {
			continue
		}
		line := jobs.Series{Name: fmt.Sprintf("%s, AUC %s", c.Label, figureOf(c.AUC)), X: []float64{0}, Y: []float64{0}}
		recall := jobs.Series{Name: fmt.Sprintf("%s, average %s", c.Label, figureOf(c.Average)), Steps: true,
			X: []float64{0}, Y: []float64{c.Curve[0].Precision}}
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
	if len(roc.Series) > 0 {
		roc.Series = append(roc.Series, diagonal("by chance"))
		figures = append(figures, jobs.Figure{Title: "ROC curve", Lines: roc,
			Caption: drawnOf(len(classes), "Both shares have a score above a threshold, as it falls. "+curveCaption,
				"least AUC")})
	}
	if len(pr.Series) == 0 {
		return figures
	}
	if all := classes[0].Positive + classes[0].Negative; len(classes) == 1 {
		share := bounded(classes[0].Positive / all)
		pr.Series = append(pr.Series, jobs.Series{Name: "by chance", X: []float64{0, 1}, Y: []float64{share, share},
			Reference: true})
	}
	return append(figures, jobs.Figure{Title: "Precision and recall", Lines: pr,
		Caption: drawnOf(len(classes), "Of the records with a score above a threshold, as it falls. "+curveCaption,
			"least AUC")})
}

// aucOrMost is the AUC of a class; one without comes last.
func aucOrMost(c ClassRanking) float64 {
	if c.AUC == nil {
		return math.MaxFloat64
	}
	return *c.AUC
}

// curveCaption says how exact curves are.
const curveCaption = "Points are exact, and a hundredth of either share apart; the figures in the legend are of all scores."

// scoresOfClass is the picture of the scores of two classes.
func scoresOfClass(c ClassRanking, scale string) jobs.Figure {
	h := c.Spread.histogram(c.Label, c.Positive, "others", c.Negative, c.Spread.Positive, c.Spread.Negative)
	f := jobs.Figure{Title: "Margins", Histogram: h, Caption: "Where the two overlap, a threshold decides some of either wrong."}
	switch scale {
	case scaleName(jobs.Probabilities):
		f.Title, h.X, h.Zero = "Probabilities by class", "probability of "+c.Label, false
		closeAt1(h)
	case scaleName(jobs.Distances):
		h.X = "how much nearer " + c.Label + " is than the other"
	default:
		h.X = "margin: how far the score of " + c.Label + " is ahead of the other"
	}
	if h.Zero {
		f.Caption += " Decisions change at the line, at 0."
	}
	f.Caption += c.Spread.caption()
	return f
}

// histogram is a spread as the shares of two groups.
func (s *ScoreSpread) histogram(
	firstName string, first float64, secondName string, second float64, ofFirst, ofSecond []float64,
) *jobs.Histogram {
	h := &jobs.Histogram{Y: "share of the records of each group", Zero: true}
	for i := range len(s.Negative) + 1 {
		h.Edges = append(h.Edges, s.From+float64(float64(i)*s.Width))
	}
	group := func(name string, all float64, weights []float64) {
		if !(all > 0) {
			return
		}
		g := jobs.BinGroup{Name: fmt.Sprintf("%s (%.6g)", name, all)}
		for _, w := range weights {
			g.Values = append(g.Values, bounded(w/all))
		}
		h.Groups = append(h.Groups, g)
	}
	group(firstName, first, ofFirst)
	group(secondName, second, ofSecond)
	return h
}

// closeAt1 puts a probability of 1, which begins a bin, into the bin that ends there.
func closeAt1(h *jobs.Histogram) {
	n := len(h.Edges) - 2 // the last bin
	if n < 1 || h.Edges[n] != 1 {
		return
	}
	h.Edges = h.Edges[:n+1]
	for i, g := range h.Groups {
		g.Values[n-1] = bounded(g.Values[n-1] + g.Values[n])
		h.Groups[i].Values = g.Values[:n]
	}
}

// check refuses bins of one side alone.
func (s *ScoreSpread) check() error {
	if len(s.Negative) != len(s.Positive) {
		return fmt.Errorf("a spread of %d and %d bins", len(s.Negative), len(s.Positive))
	}
	return nil
}

func (s *ScoreSpread) caption() string {
	return fmt.Sprintf(" Bins are %.6g wide; the outer ones also have the records beyond, at most 0.5 %% at either end.",
		s.Width)
}

func riskFigures(r Risk, scale string) ([]jobs.Figure, error) {
	threshold := "none"
	if r.Threshold != nil {
		threshold = fmt.Sprintf("%.6g", *r.Threshold)
	}
	figures := []jobs.Figure{{Title: "Rejection by confidence", Table: &jobs.FigureTable{
		Columns: []string{"errors asked for", "threshold of the confidence", "records decided", "errors among them"},
		Rows:    [][]string{{"at most " + percent(r.Asked), threshold, percent(r.Coverage), percent(r.Errors)}},
	}, Caption: "The lowest threshold, and what it does on these test records; further records may differ."}}
	if r.Spread != nil {
		if err := r.Spread.check(); err != nil {
			return nil, err
		}
		figures = append(figures, confidenceFigure(r.Spread, scale))
	}
	if len(r.Curve) < 2 {
		return figures, nil
	}
	line := jobs.Series{Name: "errors"}
	for _, p := range r.Curve {
		line.X, line.Y = append(line.X, p.Coverage), append(line.Y, p.Errors)
	}
	chart := &jobs.LineChart{X: "share of records decided", Y: "share of errors among them",
		Series: []jobs.Series{line}}
	if r.Threshold != nil {
		chart.Series = append(chart.Series, jobs.Series{Name: "at the threshold", X: []float64{r.Coverage},
			Y: []float64{r.Errors}, Points: true})
	}
	return append(figures, jobs.Figure{Title: "Risk and coverage", Lines: chart}), nil
}

// confidenceFigure is the picture of the confidence of right and of wrong decisions.
func confidenceFigure(s *ScoreSpread, scale string) jobs.Figure {
	right, wrong := 0.0, 0.0
	for i := range s.Negative {
		right, wrong = right+s.Negative[i], wrong+s.Positive[i]
	}
	h := s.histogram("right", bounded(right), "wrong", bounded(wrong), s.Negative, s.Positive)
	f := jobs.Figure{Title: "Margins of decisions", Histogram: h,
		Caption: "The more to the right the right ones are, the better a threshold on the confidence."}
	switch h.Zero = false; scale {
	case scaleName(jobs.Probabilities):
		f.Title, h.X = "Confidence of decisions", "probability of the decision"
		closeAt1(h)
	case scaleName(jobs.Distances):
		h.X = "how much nearer the decision is than the next class"
	default:
		h.X = "margin: how far the decision is ahead of the next class"
	}
	f.Caption += s.caption()
	return f
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
