package kernelmean

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
)

// maxShown bounds the classes that a description lists.
const maxShown = 20

// DescribeMean tells the kernel, and of each class the records and the length of its mean in feature space.
func DescribeMean(a jobs.Arrays, _ jobs.DescribeOptions) (string, error) {
	m, err := readMeanModel(a)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Nearest mean in feature space: %d classes, %d records of width %d%s\n", len(m.weights), m.rows(), m.space.Width, m.kept())
	fmt.Fprintf(&b, "kernel: %s\n\n", m.kernel.Text())
	listClasses(&b, m.space, m.first, "squared norm of the mean", m.norms)
	if len(m.weights) == 2 {
		labels := m.space.Labels.List()
		fmt.Fprintf(&b, "\nf(x) = sum of alpha_i k(x_i, x) + b is above 0 for %s: alpha is %.6g for its records and %.6g for those of %s (times\ntheir weight where they have one), and b = %.6g\n",
			labels[1], 1/m.weights[1], -1/m.weights[0], labels[0], float64((m.norms[0]-m.norms[1])/2))
	}
	return b.String(), nil
}

// DescribeDensity tells how decisions are made, and of each class the records and the bandwidth.
func DescribeDensity(a jobs.Arrays, _ jobs.DescribeOptions) (string, error) {
	m, err := readDensityModel(a)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Bayes by kernel densities: %d classes, %d records of width %d%s\n", len(m.weights), m.rows(), m.space.Width, m.kept())
	fmt.Fprintf(&b, "kernel: normal density; prior: %s; ", m.prior)
	switch {
	case m.rule != nil:
		fmt.Fprintf(&b, "decision: least expected cost, of %d named pairs\n\n", m.rule.Pairs())
	case m.rejectBelow > 0:
		fmt.Fprintf(&b, "decision: largest posterior; none if it is below %v\n\n", m.rejectBelow)
	default:
		b.WriteString("decision: largest posterior\n\n")
	}
	listClasses(&b, m.space, m.first, "bandwidth", m.bandwidth)
	return b.String(), nil
}

func listClasses(b *strings.Builder, space *features.Space, first []int, what string, values []float64) {
	fmt.Fprintf(b, "%-24s %10s  %s\n", "class", "records", what)
	for y, v := range values[:min(len(values), maxShown)] {
		fmt.Fprintf(b, "%-24.24s %10d  %.6g\n", space.Labels.At(y), first[y+1]-first[y], v)
	}
	if more := len(values) - maxShown; more > 0 {
		fmt.Fprintf(b, "and %d more\n", more)
	}
}
