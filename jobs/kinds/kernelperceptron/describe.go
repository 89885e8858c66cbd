package kernelperceptron

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// maxShown bounds the classes and support vectors that Describe lists.
const maxShown = 20

// Describe tells of the kernel, the training, the classes and the support vectors of largest weight.
func Describe(a jobs.Arrays, _ jobs.DescribeOptions) (string, error) {
	m, err := readModel(a)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Kernel perceptron, %s: %d classes of vectors with %d columns\n", m.form, m.space.Labels.Len(),
		m.space.Width)
	fmt.Fprintf(&b, "kernel: %s\n\n", m.kernel.Text())
	fmt.Fprintf(&b, "%d support vectors of %d training records; %d mistakes in %d epochs:", m.supports(),
		m.space.Records, m.total(), len(m.mistakes))
	for _, n := range m.mistakes[:min(len(m.mistakes), maxShown)] {
		fmt.Fprintf(&b, " %d", n)
	}
	b.WriteString("\n")
	switch {
	case m.dropped > 0 && m.form == formPlain:
		fmt.Fprintf(&b, "%d support vectors were dropped\n", m.dropped)
	case m.dropped > 0:
		fmt.Fprintf(&b, "%d times a support vector was dropped; here it counts for the records it lived\n", m.dropped)
	}
	m.describeMargin(&b)
	m.describeClasses(&b)
	fmt.Fprintf(&b, "\n%-24s %12s  %s\n", "largest support vectors", "|alpha|", "record")
	for _, i := range m.largest(maxShown) {
		fmt.Fprintf(&b, "%-24.24s %12.6g  %q at %d\n", m.space.Labels.At(int(m.class[i])), math.Sqrt(m.size(i)),
			m.ids[i].Object, m.ids[i].Offset)
	}
	return b.String(), nil
}

func (m *model) describeMargin(b *strings.Builder) {
	fmt.Fprintf(b, "R = %.6g", math.Sqrt(max(0, m.radius)))
	if m.margin == m.margin {
		fmt.Fprintf(b, "; the last epoch made no mistake: margin %.6g", m.margin)
	}
	if m.bound == m.bound {
		fmt.Fprintf(b, ", Novikoff's bound %.6g mistakes", m.bound)
	}
	b.WriteString("\n")
}

func (m *model) describeClasses(b *strings.Builder) {
	supports := make([]int, m.space.Labels.Len())
	for _, y := range m.class {
		supports[y]++
	}
	fmt.Fprintf(b, "\n%-24s %15s %12s\n", "class", "support vectors", "b")
	for y, n := range supports[:min(len(supports), maxShown)] {
		offset := m.b[0]
		switch {
		case len(m.b) > 1:
			offset = m.b[y]
		case y == 0:
			offset = -offset
		}
		fmt.Fprintf(b, "%-24.24s %15d %12.6g\n", m.space.Labels.At(y), n, offset)
	}
	if more := len(supports) - maxShown; more > 0 {
		fmt.Fprintf(b, "and %d more\n", more)
	}
}

// size is the sum of alpha^2 of a support vector.
func (m *machine) size(place int) (sum float64) {
	for _, a := range m.alpha[place*m.columns() : (place+1)*m.columns()] {
		sum += float64(a * a)
	}
	return sum
}

// largest lists the places of up to n support vectors, largest first.
func (m *machine) largest(n int) []int {
	places, sizes := make([]int, m.supports()), make([]float64, m.supports())
	for i := range places {
		places[i], sizes[i] = i, m.size(i)
	}
	// total order: no place stands there twice
	slices.SortFunc(places, func(a, b int) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) })
	return places[:min(n, len(places))]
}
