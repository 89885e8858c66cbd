package kernelperceptron

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
)

// maxImages bounds the support vectors shown as pictures.
const maxImages = 48

// Figures are the mistakes of each epoch, the support vectors of largest weight as pictures where their
// width is a square, and the evaluation.
func Figures(a jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	line := jobs.Series{Name: "mistakes"}
	for i, n := range m.mistakes {
		line.X, line.Y = append(line.X, float64(i+1)), append(line.Y, float64(n))
	}
	figures := []jobs.Figure{{Title: "Mistakes by epoch", Lines: &jobs.LineChart{X: "epoch", Y: "mistakes",
		Series: []jobs.Series{line}}}}
	if images := m.images(); images != nil {
		figures = append(figures, jobs.Figure{Title: "Support vectors of largest weight", Images: images,
			Caption: "Each with its label and the length of its coefficients."})
	}
	judged, err := evaluation.Figures(nil, metrics)
	return append(figures, judged...), err
}

// images are support vectors as pictures; nil where their width is no square.
func (m *model) images() (images []jobs.Image) {
	side := jobs.ImageWidth(m.space.Width)
	if side == 0 {
		return nil
	}
	for _, i := range m.largest(maxImages) {
		images = append(images, jobs.Image{Label: fmt.Sprintf("%.24s (%.3g)", m.space.Labels.At(int(m.class[i])),
			math.Sqrt(m.size(i))),
			Width: side, Values: m.matrix().Row(i)})
	}
	return images
}
