package perceptron

import (
	"fmt"
	"strconv"

	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/rank"
)

// describe tells people what a model is, within 80 columns: how its training went, and for each class the
// columns (of texts, the words) whose weights speak most for it. For two classes they are
// those of the one row, with its sign turned for the first class.
func (m *model) describe(p *describe.Page) error {
	const few = 8 // classes, and columns of each
	classes, err := p.Classes(m.space.Labels.List(), few)
	if err != nil {
		return err
	}
	m.describeHead(p)
	weights := m.deciding()
	for _, y := range classes {
		w, sign := m.classRow(weights, y)
		p.Text("\n%s (bias %.4g)\n",
			describe.Clip(strconv.QuoteToGraphic(string(m.space.Labels.At(y))), describe.Width-20),
			float32(sign*w[m.Width]))
		p.Words(m.topColumns(w[:m.Width], sign, p.Few(few)))
	}
	p.Shown("%d of %d classes", len(classes), m.Classes)
	return nil
}

// classRow returns the row of a class, and the sign that it has there.
func (m *model) classRow(weights []float32, class int) (row []float32, sign float32) {
	if m.Rule != Signed {
		return m.rowOf(weights, class), 1
	}
	return weights, float32(2*class - 1)
}

func (m *model) describeHead(p *describe.Page) {
	p.Line("kind", "%s, %s, rule %s", KindName, m.Form, m.Rule)
	p.Line("classes", "%d", m.Classes)
	p.Line("records", "%d training records of %d columns, scale %s", m.space.Records, m.Width, m.space.Scale())
	p.Line("steps", "%d", m.steps)
	if m.Form.votes() {
		p.Line("vectors", "%s", m.describeVotes())
	}
	if n := len(m.epochMistakes); n > 0 {
		p.Line("mistakes", "%d in epoch 1, %d in epoch %d", m.epochMistakes[0], m.epochMistakes[n-1], n)
	}
	if len(m.margin) > 0 {
		p.Line("margin", "%.4g of the last weights; radius %.4g", m.leastMargin(), m.radius)
	}
	switch {
	case m.bound > 0:
		what, total := m.bounded()
		p.Line("separated", "yes; %d %s, by Novikoff's theorem at most %.4g", total, what, m.bound)
	case m.separated:
		p.Line("separated", "yes")
	default:
		p.Line("separated", "no")
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
	var words []string
	for _, j := range rank.Greatest(len(w), func(j int) float32 { return float32(sign * w[j]) }) {
		if len(words) == top || !(sign*w[j] > 0) {
			break
		}
		name := "column " + strconv.Itoa(j+1)
		if d := m.space.Dictionary(); d != nil {
			name = strconv.QuoteToGraphic(string(d.Terms.At(j)))
		}
		words = append(words, fmt.Sprintf("%s %.4g", name, float32(sign*w[j])))
	}
	return words
}
