package gaussiannb

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
)

const (
	describeClasses = 8 // classes shown unless the options name some
	describeColumns = 8 // columns per class unless the options set Top
)

// Describe renders a model for people: its parameters, and the mean and standard deviation of the
// columns of each class. Columns are ordered by the distance of their mean from the mean of all
// records, in standard deviations of the class, largest first. A named class that the model lacks
// is a *protocol.Fault of CodeSpecInvalid.
func Describe(arrays jobs.Arrays, opt jobs.DescribeOptions) (string, error) {
	m, err := readModel(arrays)
	if err != nil {
		return "", err
	}
	classes, err := describe.Classes(m.space.Labels.List(), opt.Classes, describeClasses)
	if err != nil {
		return "", err
	}
	top := opt.Top
	if top <= 0 {
		top = describeColumns
	}
	var b strings.Builder
	m.describeHead(&b)
	for _, y := range classes {
		fmt.Fprintf(&b, "\n%s (weight %g)\n", strconv.QuoteToGraphic(string(m.space.Labels.At(y))), m.weight[y])
		for _, j := range m.farthest(y, top) {
			at := y*m.space.Width + j
			fmt.Fprintf(&b, "  column %-8d mean %12.6g   deviation %12.6g\n", j+1, m.mean[at],
				math.Sqrt(m.variance[at]))
		}
	}
	if len(opt.Classes) == 0 && len(classes) < len(m.weight) {
		fmt.Fprintf(&b, "\n%d of %d classes shown; name others to see them.\n", len(classes), len(m.weight))
	}
	return b.String(), nil
}

func (m *model) describeHead(b *strings.Builder) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("kind", "%s", KindName)
	line("classes", "%d", len(m.weight))
	line("records", "%d of width %d", m.space.Records, m.space.Width)
	line("scale", "%s", m.space.Scale())
	line("prior", "%s", m.decision.Prior())
	line("decision", "%s", m.decision.String())
}

// farthest returns at most top columns, those in which the class differs most from all records.
func (m *model) farthest(class, top int) []int {
	distance := func(j int) float64 {
		at := class*m.space.Width + j
		return math.Abs(m.mean[at]-m.space.Mean[j]) / math.Sqrt(m.variance[at])
	}
	columns := make([]int, m.space.Width)
	for j := range columns {
		columns[j] = j
	}
	// total order: columns differ
	slices.SortFunc(columns, func(i, j int) int {
		switch a, b := distance(i), distance(j); {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return i - j
	})
	return columns[:min(top, len(columns))]
}
