package perceptron

import (
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// figures are the mistakes of each epoch, what is known of the margin, and the weights of the classes as pictures
// where their width is a square; then how the test records were decided.
func (m *model) figures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	var figures []jobs.Figure
	if len(m.epochMistakes) > 0 {
		figures = append(figures, jobs.Figure{Title: "Mistakes by epoch",
			Lines: &jobs.LineChart{X: "epoch", Y: "records", Series: m.lines()}})
	}
	if len(m.margin) > 0 {
		figures = append(figures, jobs.Figure{Title: "Margin", Table: m.marginTable(),
			Caption: "Of the last weights over the training records; below 0 there are records on the wrong side."})
	}
	judged, err := evaluation.Figures(nil, metrics)
	return slices.Concat(figures, m.pictures(), judged), err
}

func (m *model) lines() []jobs.Series {
	lines := []jobs.Series{jobs.SeriesOf("mistakes", m.epochMistakes)}
	if m.Rule == OneVsRest {
		lines = append(lines, jobs.SeriesOf("updates", m.epochUpdates))
	}
	return lines
}

func (m *model) marginTable() *jobs.FigureTable {
	what, total := m.bounded()
	rows := [][]string{{"separated", fmt.Sprint(m.separated)}, {"margin", fmt.Sprintf("%.6g", m.leastMargin())},
		{"radius", fmt.Sprintf("%.6g", m.radius)}, {what, fmt.Sprint(total)}}
	if m.bound > 0 {
		rows = append(rows, []string{"bound on " + what, fmt.Sprintf("%.6g", m.bound)})
	}
	return &jobs.FigureTable{Columns: []string{"fact", "value"}, Rows: rows}
}

// bounded returns what Novikoff's theorem bounds, and how many there were.
func (m *model) bounded() (what string, total int64) {
	what, counts := "mistakes", m.epochMistakes
	if m.Rule == OneVsRest {
		what, counts = "updates", m.epochUpdates
	}
	return what, sums.Total(counts)
}

// pictures shows the rows of weights.
func (m *model) pictures() []jobs.Figure {
	label := func(r int) string {
		if m.Rule == Signed {
			return fmt.Sprintf("%s (bright) or %s (dark)", m.space.Labels.At(1), m.space.Labels.At(0))
		}
		return string(m.space.Labels.At(r))
	}
	weights := m.deciding()
	return jobs.Pictures("Weights", "The weights that decide as pictures, each between its own least and greatest.",
		m.Width, m.rows(), label, func(r int) []float32 { return m.rowOf(weights, r)[:m.Width] })
}
