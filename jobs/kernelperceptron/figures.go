package kernelperceptron

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
)

// maxImages bounds the support vectors shown as pictures.
const maxImages = 48

// Figures are the mistakes of each epoch, and the support vectors of largest weight as pictures where their
// width is a square.
func Figures(a jobs.Arrays, _ []jobs.Metric) ([]jobs.Figure, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	line := jobs.Series{Name: "mistakes"}
	for i, n := range m.mistakes {
		line.X, line.Y = append(line.X, float64(i+1)), append(line.Y, float64(n))
	}
	figures := []jobs.Figure{{Title: "Mistakes by epoch", Lines: &jobs.LineChart{X: "epoch", Y: "mistakes", Series: []jobs.Series{line}}}}
	side := jobs.ImageWidth(m.space.Width)
	if side == 0 {
		return figures, nil
	}
	var images []jobs.Image
	for _, i := range m.largest(maxImages) {
		images = append(images, jobs.Image{Label: fmt.Sprintf("%.24s (%.3g)", m.space.Labels.At(int(m.class[i])), math.Sqrt(m.size(i))),
			Width: side, Values: m.matrix().Row(i)})
	}
	return append(figures, jobs.Figure{Title: "Support vectors of largest weight", Images: images,
		Caption: "Each with its label and the length of its coefficients."}), nil
}
