package kernelperceptron

import (
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
)

// maxImages bounds the support vectors shown as pictures.
const maxImages = 48

// figures are the mistakes of each epoch, the support vectors of largest weight as pictures where their
// width is a square, and the evaluation.
func (m *model) figures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	mistakes := jobs.Figure{Title: "Mistakes by epoch", Lines: &jobs.LineChart{X: "epoch", Y: "mistakes",
		Series: []jobs.Series{jobs.SeriesOf("mistakes", m.mistakes)}}}
	largest := m.largest(maxImages)
	label := func(i int) string {
		return fmt.Sprintf("%.24s (%.3g)", m.space.Labels.At(int(m.class[largest[i]])), math.Sqrt(m.size(largest[i])))
	}
	supports := jobs.Pictures("Support vectors of largest weight",
		"Each with its label and the length of its coefficients.", m.space.Width, len(largest), label,
		func(i int) []float32 { return m.matrix().Row(largest[i]) })
	judged, err := evaluation.Figures(nil, metrics)
	return slices.Concat([]jobs.Figure{mistakes}, supports, judged), err
}
