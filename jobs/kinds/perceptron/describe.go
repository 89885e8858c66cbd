package perceptron

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
)

const (
	describeClasses = 8 // classes shown unless named
	describeTop     = 8 // columns per class unless told
)

// Describe tells people what a model is, within 80 columns: how its training went, and for each class the
// columns (of texts, the words) whose weights speak most for it. For two classes they are
// those of the one row, with its sign turned for the first class. A named class that the model lacks is a
// *protocol.Fault of CodeSpecInvalid.
func Describe(arrays jobs.Arrays, opt jobs.DescribeOptions) (string, error) {
	m, err := readModel(arrays, nil)
	if err != nil {
		return "", err
	}
	classes, err := describe.Classes(m.space.Labels.List(), opt.Classes, describeClasses)
	if err != nil {
		return "", err
	}
	top := opt.Top
	if top <= 0 {
		top = describeTop
	}
	var b strings.Builder
	m.describeHead(&b)
	weights := m.deciding()
	for _, y := range classes {
		w, sign := m.classRow(weights, y)
		fmt.Fprintf(&b, "\n%s (bias %.4g)\n",
			describe.Clip(strconv.QuoteToGraphic(string(m.space.Labels.At(y))), describe.Width-20),
			float32(sign*w[m.Width]))
		describe.Wrap(&b, m.topColumns(w[:m.Width], sign, top))
	}
	if len(opt.Classes) == 0 && len(classes) < m.Classes {
		fmt.Fprintf(&b, "\n%d of %d classes shown; name others to see them.\n", len(classes), m.Classes)
	}
	return b.String(), nil
}

// classRow returns the row of a class, and the sign that it has there.
func (m *model) classRow(weights []float32, class int) (row []float32, sign float32) {
	if m.Rule != Signed {
		return m.rowOf(weights, class), 1
	}
	return weights, float32(2*class - 1)
}

func (m *model) describeHead(b *strings.Builder) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%-12s %s\n", name, describe.Clip(fmt.Sprintf(format, args...), describe.Width-13))
	}
	line("kind", "%s, %s, rule %s", KindName, m.Form, m.Rule)
	line("classes", "%d", m.Classes)
	line("records", "%d training records of %d columns, scale %s", m.space.Records, m.Width, m.space.Scale())
	line("steps", "%d", m.steps)
	if m.Form.votes() {
		line("vectors", "%s", m.describeVotes())
	}
	if n := len(m.epochMistakes); n > 0 {
		line("mistakes", "%d in epoch 1, %d in epoch %d", m.epochMistakes[0], m.epochMistakes[n-1], n)
	}
	if len(m.margin) > 0 {
		line("margin", "%.4g of the last weights; radius %.4g", m.leastMargin(), m.radius)
	}
	switch {
	case m.bound > 0:
		what, total := m.bounded()
		line("separated", "yes; %d %s, by Novikoff's theorem at most %.4g", total, what, m.bound)
	case m.separated:
		line("separated", "yes")
	default:
		line("separated", "no")
	}
}

// describeVotes counts the vectors that vote, and those that were dropped.
func (m *model) describeVotes() string {
	text := strconv.Itoa(m.votes() + 1)
	if d := m.dropped; d.vectors > 0 {
		all := d.votes
		for k := range m.survived {
			all += m.voice(k)
		}
		text += fmt.Sprintf("; %d more, with %.1f %% of the votes, were dropped", d.vectors,
			100*float64(d.votes)/float64(max(1, all)))
	}
	return text
}

// topColumns names the columns of the greatest weights above 0, times sign.
func (m *model) topColumns(w []float32, sign float32, top int) []string {
	var columns []int
	for j, v := range w {
		if v*sign > 0 {
			columns = append(columns, j)
		}
	}
	// total order: columns differ
	slices.SortFunc(columns, func(x, y int) int {
		return cmp.Or(cmp.Compare(math.Abs(float64(w[y])), math.Abs(float64(w[x]))), cmp.Compare(x, y))
	})
	words := []string{}
	for _, j := range columns[:min(top, len(columns))] {
		name := "column " + strconv.Itoa(j+1)
		if d := m.space.Dictionary(); d != nil {
			name = strconv.QuoteToGraphic(string(d.Terms.At(j)))
		}
		words = append(words, fmt.Sprintf("%s %.4g", name, float32(sign*w[j])))
	}
	for i := range max(0, len(words)-1) {
		words[i] += ","
	}
	return words
}
