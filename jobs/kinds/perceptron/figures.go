package perceptron

import (
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
)

// maxImages bounds the classes shown as pictures.
const maxImages = 64

// Figures are the mistakes of each epoch, what is known of the margin, and the weights of the classes as pictures
// where their width is a square; then how the test records were decided.
func Figures(arrays jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
	m, err := readModel(arrays, nil)
	if err != nil {
		return nil, err
	}
	var figures []jobs.Figure
	if len(m.epochMistakes) > 0 {
		figures = append(figures, jobs.Figure{Title: "Mistakes by epoch",
			Lines: &jobs.LineChart{X: "epoch", Y: "records", Series: m.lines()}})
	}
	if len(m.margin) > 0 {
		figures = append(figures, jobs.Figure{Title: "Margin", Table: m.marginTable(),
			Caption: "Of the last weights over the training records; below 0 there are records on the wrong side."})
	}
	if images := m.images(); images != nil {
		figures = append(figures, jobs.Figure{Title: "Weights", Images: images,
			Caption: "The weights that decide as pictures, each between its own least and greatest."})
	}
	judged, err := evaluation.Figures(nil, metrics)
	return append(figures, judged...), err
}

func (m *model) lines() []jobs.Series {
	mistakes, updates := jobs.Series{Name: "mistakes"}, jobs.Series{Name: "updates"}
	for i, n := range m.epochMistakes {
		mistakes.X, mistakes.Y = append(mistakes.X, float64(i+1)), append(mistakes.Y, float64(n))
		updates.X, updates.Y = append(updates.X, float64(i+1)), append(updates.Y, float64(m.epochUpdates[i]))
	}
	if m.Rule == OneVsRest {
		return []jobs.Series{mistakes, updates}
	}
	return []jobs.Series{mistakes}
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
	for _, n := range counts {
		total += n
	}
	return what, total
}

// images are the rows of weights as pictures; nil where their width is no square.
func (m *model) images() []jobs.Image {
	side := jobs.ImageWidth(m.Width)
	if side == 0 {
		return nil
	}
	weights := m.deciding()
	var images []jobs.Image
	for r := range min(m.rows(), maxImages) {
		label := string(m.space.Labels.At(r))
		if m.Rule == Signed {
			label = fmt.Sprintf("%s (bright) or %s (dark)", m.space.Labels.At(1), m.space.Labels.At(0))
		}
		images = append(images, jobs.Image{Label: label, Width: side, Values: m.rowOf(weights, r)[:m.Width]})
	}
	return images
}
