package evaluation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/protocol"
)

// maxHeatLabels bounds a confusion matrix that is shown whole.
const maxHeatLabels = 60

// maxReadLabels bounds a confusion matrix whose counts and shares can be read; of a larger one the most confused pairs
// are listed, too.
const maxReadLabels = 10

// maxLabelRows bounds the labels whose ratios are shown.
const maxLabelRows = 100

// Figures are the pictures of what Judge found: how well each label was met, the confusion matrix,
// the mistakes, the errors of values. Without such metrics there are none.
func Figures(_ jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
	var figures []jobs.Figure
	var told Scores
	if err := jobs.ReadMetric(metrics, scoresMetric, &told); err != nil {
		return nil, err
	}
	for _, metric := range metrics {
		draw, ok := drawings[metric.Name]
		if !ok {
			continue
		}
		drawn, err := draw(metric.Value, told.Scale)
		if err != nil {
			return nil, jobs.Malformed("the metric %q cannot be read: %v", metric.Name, err)
		}
		figures = append(figures, drawn...)
	}
	return figures, nil
}

// drawings are of the metrics; scale is what the scores of the job are, as Scores tells it.
var drawings = map[string]func(value json.RawMessage, scale string) ([]jobs.Figure, error){
	reportMetric:     drawing(labelFigures),
	confusionMetric:  drawing(confusionFigures),
	mistakesMetric:   drawing(mistakeFigures),
	costMetric:       drawing(costFigures),
	regressionMetric: drawing(regressionFigures),
	noveltyMetric:    drawing(noveltyFigures),
	thresholdMetric:  drawing(thresholdFigures),
	scoresMetric:     drawing(scoresFigures),
	rankingMetric:    drawingScaled(rankingFigures),
	riskMetric:       drawingScaled(riskFigures),
	bootstrapMetric:  drawing(bootstrapFigures),
	FoldsMetric:      drawing(foldsFigures),
	DealMetric:       drawing(dealFigures),
}

// drawing reads the value of a metric before it is drawn.
func drawing[V any](draw func(V) ([]jobs.Figure, error)) func(json.RawMessage, string) ([]jobs.Figure, error) {
	return drawingScaled(func(v V, _ string) ([]jobs.Figure, error) { return draw(v) })
}

func drawingScaled[V any](
	draw func(v V, scale string) ([]jobs.Figure, error),
) func(json.RawMessage, string) ([]jobs.Figure, error) {
	return func(value json.RawMessage, scale string) ([]jobs.Figure, error) {
		var v V
		if err := json.Unmarshal(value, &v); err != nil {
			return nil, err
		}
		return draw(v, scale)
	}
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", float64(100*v)) }

// labelFigures tells the ratios of each label.
func labelFigures(r Report) ([]jobs.Figure, error) {
	table := &jobs.FigureTable{Columns: []string{"label", "records", "precision", "recall", "F1"}}
	for _, l := range worstFirst(r.Labels)[:min(len(r.Labels), maxLabelRows)] {
		table.Rows = append(table.Rows, []string{l.Label, fmt.Sprint(l.Records), percent(l.Precision),
			percent(l.Recall), percent(l.F1)})
	}
	if more := len(r.Labels) - maxLabelRows; more > 0 {
		table.Rows = append(table.Rows, []string{fmt.Sprintf("%d more", more), "", "", "", ""})
	}
	table.Rows = append(table.Rows, []string{"mean", "", percent(r.Macro.Precision), percent(r.Macro.Recall),
		percent(r.Macro.F1)})
	caption := fmt.Sprintf("Accuracy %.2f %%: %d of %s", float64(100*r.Accuracy), r.Correct,
		protocol.Counted(r.Records, "test record"))
	if r.Rejected > 0 {
		caption += fmt.Sprintf(", %d rejected; %.2f %% of those that were not", r.Rejected,
			float64(100*r.AccuracyAnswered))
	}
	if len(r.Labels) > 1 {
		caption += ". Labels are in order of F1, the worst first"
	}
	return []jobs.Figure{{Title: "Evaluation", Caption: caption + ".", Table: table}}, nil
}

// confusionFigures are the matrix, where it could be read, and the most confused pairs, where its numbers could not.
func confusionFigures(m Matrix) (figures []jobs.Figure, err error) {
	heat, err := m.heatMap()
	if err != nil {
		return nil, err
	}
	if n := len(m.Labels); n > 0 && n <= maxHeatLabels {
		figures = append(figures, jobs.Figure{Title: "Confusion matrix", Heat: heat})
	}
	if pairs := m.confused(); len(m.Labels) > maxReadLabels && len(pairs.Rows) > 0 {
		figures = append(figures, jobs.Figure{Title: "Most confused labels", Table: pairs})
	}
	return figures, nil
}

// worstFirst orders labels by F1, those of one F1 by their records, most first.
func worstFirst(labels []Label) []Label {
	labels = slices.Clone(labels)
	slices.SortFunc(labels, func(a, b Label) int { // total order: labels differ
		return cmp.Or(cmp.Compare(a.F1, b.F1), cmp.Compare(b.Records, a.Records), cmp.Compare(a.Label, b.Label))
	})
	return labels
}

// confused are the pairs of labels with most records, and their share of the records of the true label.
func (m Matrix) confused() *jobs.FigureTable {
	table := &jobs.FigureTable{Columns: []string{"truth", "decision", "records", "share of the truth"}}
	records := make([]int64, len(m.Labels))
	var pairs [][3]int64
	for _, cell := range m.Cells {
		if records[cell[0]] += cell[2]; cell[1] != rejected && cell[1] != cell[0] {
			pairs = append(pairs, cell)
		}
	}
	// total order: no pair of labels stands there twice
	slices.SortFunc(pairs, func(a, b [3]int64) int {
		return cmp.Or(cmp.Compare(b[2], a[2]), cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for _, c := range pairs[:min(len(pairs), maxConfused)] {
		table.Rows = append(table.Rows, []string{m.Labels[c[0]], m.Labels[c[1]], fmt.Sprint(c[2]),
			percent(ratio(c[2], records[c[0]]))})
	}
	return table
}

// heatMap has a last column for rejected records if there are any.
func (m Matrix) heatMap() (*jobs.HeatMap, error) {
	labels, columns := int64(len(m.Labels)), int64(len(m.Labels))
	heat := &jobs.HeatMap{Rows: "truth", Columns: "decision", RowKeys: m.Labels, ColKeys: m.Labels}
	for _, cell := range m.Cells {
		if cell[1] == rejected && columns == labels {
			heat.ColKeys = append(m.Labels[:labels:labels], "(rejected)")
			columns++
		}
	}
	heat.Counts = make([]int64, labels*columns)
	for _, cell := range m.Cells {
		column := cell[1]
		if column == rejected {
			column = labels
		}
		if cell[0] < 0 || cell[0] >= labels || column < 0 || column >= columns {
			return nil, fmt.Errorf("cell %v of %d labels", cell, labels)
		}
		heat.Counts[cell[0]*columns+column] += cell[2]
	}
	return heat, nil
}

// mistakeFigures shows mistakes as pictures, or lists them where they have no picture.
func mistakeFigures(list []Mistake) ([]jobs.Figure, error) {
	const title = "Some of the mistakes"
	if images := MistakeImages(list); images != nil {
		return []jobs.Figure{{Title: title, Caption: "The label of a record, and what was decided.", Images: images}},
			nil
	}
	table := &jobs.FigureTable{}
	for _, m := range list {
		table.Columns = append(parts.NewIdentities(m.ID.Way()).Columns().Names(), "truth", "decision")
		decided := m.Decided
		if m.Rejected {
			decided = "(rejected)"
		}
		table.Rows = append(table.Rows, append(parts.IdentityText(m.ID), m.Truth, decided))
	}
	return []jobs.Figure{{Title: title, Table: table}}, nil
}

func costFigures(c Cost) ([]jobs.Figure, error) {
	return []jobs.Figure{{Title: "Cost of the decisions", Table: &jobs.FigureTable{
		Columns: []string{"records", "total", "mean"},
		Rows:    [][]string{{fmt.Sprint(c.Records), fmt.Sprintf("%.6g", c.Total), fmt.Sprintf("%.6g", c.Mean)}},
	}}}, nil
}

func regressionFigures(r Regression) ([]jobs.Figure, error) {
	table := &jobs.FigureTable{Columns: []string{"records", "mean squared error", "mean absolute error", "R²"},
		Rows: [][]string{{fmt.Sprint(r.Records), fmt.Sprintf("%.6g", r.MeanSquaredError),
			fmt.Sprintf("%.6g", r.MeanAbsoluteError), fmt.Sprintf("%.4f", r.R2)}}}
	figure := jobs.Figure{Title: "Errors of the predictions", Table: table}
	if i := r.Intervals; i != nil {
		table.Rows = append(table.Rows, []string{"interval", i.MeanSquaredError.cell("%.6g"),
			i.MeanAbsoluteError.cell("%.6g"), i.R2.cell("%.4f")})
		figure.Caption = intervalsCaption(i.Confidence, i.Replicates)
	}
	return []jobs.Figure{figure}, nil
}
