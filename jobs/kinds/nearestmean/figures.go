package nearestmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/onevsone"
)

// figures returns the class means as pictures, if the width is a square number, and the figures of the evaluation, with
// those of the pairs if they were judged.
func (m *model) figures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	means := jobs.Pictures("Class means", "Each mean as a picture, between its own least and greatest value.",
		m.space.Width, len(m.weight), func(y int) string { return string(m.space.Labels.At(y)) }, m.mean)
	judged, err := onevsone.Figures(metrics)
	return append(means, judged...), err
}
