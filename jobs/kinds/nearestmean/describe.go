package nearestmean

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/onevsone"
	"github.com/gram-compute/gram/protocol"
)

// describe lists each class with the weight of its records and the class whose mean is closest. With
// two classes it also gives the norm of w and the offset b of the linear rule.
func (m *model) describe(p *describe.Page) error {
	labels := m.space.Labels.List()
	p.Text("Nearest mean: %d classes of vectors with %s\n\n", len(m.weight), protocol.Counted(m.space.Width, "column"))
	if m.reject > 0 {
		m.reject.Describe(p)
		p.Text("\n")
	}
	p.Text("%-24s %10s  %s\n", "class", "weight", "closest other class")
	p.Table(labels, func(y int) string {
		other, distance := m.closest(y)
		return fmt.Sprintf("%10g  %.24s, %.4g away", m.weight[y], labels[other], distance)
	})
	if len(m.weight) == 2 {
		p.Text("\nlinear rule: <w, x> + b > 0 is %s, with |w| = %.6g and b = %.6g\n", labels[1],
			float64(2*m.between(0, 1)), m.offset())
	}
	return nil
}

// offset returns b = |mu_0|^2 - |mu_1|^2 of the rule that is positive for class 1.
func (m *model) offset() float64 {
	b := 0.0
	for j, v := range m.mean(0) {
		u := m.mean(1)[j]
		b += float64(v*v) - float64(u*u)
	}
	return b
}

func (m *model) closest(class int) (other int, distance float64) {
	distance = math.Inf(1)
	for y := range m.weight {
		if d := m.between(class, y); y != class && d < distance {
			other, distance = y, d
		}
	}
	return other, distance
}

func (m *model) between(x, y int) float64 {
	sum := 0.0
	for j, v := range m.mean(x) {
		d := v - m.mean(y)[j]
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

// figures returns the class means as pictures, if the width is a square number, and the figures of the evaluation, with
// those of the pairs if they were judged.
func (m *model) figures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	means := jobs.Pictures("Class means", "Each mean as a picture, between its own least and greatest value.",
		m.space.Width, len(m.weight), func(y int) string { return string(m.space.Labels.At(y)) }, m.mean)
	judged, err := onevsone.Figures(metrics)
	return append(means, judged...), err
}
