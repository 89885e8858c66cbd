package nearestmean

import (
	"fmt"
	"math"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// maxShown bounds the classes that Describe lists.
const maxShown = 20

// Describe lists each class with the weight of its records and the class whose mean is closest. With
// two classes it also gives the norm of w and the offset b of the linear rule.
func Describe(a jobs.Arrays, _ jobs.DescribeOptions) (string, error) {
	m, err := readModel(a)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Nearest mean: %d classes of vectors with %d columns\n\n", len(m.weight), m.space.Width)
	fmt.Fprintf(&b, "%-24s %10s  %s\n", "class", "weight", "closest other class")
	for y, w := range m.weight[:min(len(m.weight), maxShown)] {
		other, distance := m.closest(y)
		fmt.Fprintf(&b, "%-24.24s %10g  %.24s, %.4g away\n", m.space.Labels.At(y), w, m.space.Labels.At(other),
			distance)
	}
	if more := len(m.weight) - maxShown; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	if len(m.weight) == 2 {
		fmt.Fprintf(&b, "\nlinear rule: <w, x> + b > 0 is %s, with |w| = %.6g and b = %.6g\n",
			m.space.Labels.At(1), float64(2*m.between(0, 1)), m.offset())
	}
	return b.String(), nil
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
