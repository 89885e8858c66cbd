package perceptron

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/protocol"
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
		weight := func(j int) float64 { return float64(sign * w[j]) }
		p.Words(describe.Leading(m.Width, weight, m.space.ColumnName, p.Few(few)))
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
	p.Line("records", "%s of %s, scale %s", protocol.Counted(m.space.Records, "training record"),
		protocol.Counted(m.Width, "column"), m.space.Scale())
	p.Line("steps", "%d", m.steps)
	m.Reject.Describe(p)
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

// figures are the mistakes of each epoch, what is known of the margin, and the weights of the classes as pictures
// where their width is a square; then how the test records were decided.
func (m *model) figures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	var figures []jobs.Figure
	if len(m.epochMistakes) > 0 {
		figures = append(figures, jobs.Figure{Title: "Mistakes by epoch",
			Lines: &jobs.LineChart{X: "epoch", Y: "training records", Series: m.lines()}})
	}
	if len(m.margin) > 0 {
		figures = append(figures, jobs.Figure{Title: "Margin", Table: m.marginTable(),
			Caption: "Of the last weights over the training records; below 0 there are records on the wrong side."})
	}
	judged, err := evaluation.Figures(nil, metrics)
	return slices.Concat(figures, m.pictures(), judged), err
}

func (m *model) lines() []jobs.Series {
	lines := []jobs.Series{jobs.SeriesOf("mistakes", m.epochMistakes)}
	if m.Rule == OneVsRest {
		lines = append(lines, jobs.SeriesOf("updates", m.epochUpdates))
	}
	return lines
}

func (m *model) marginTable() *jobs.FigureTable {
	what, total := m.bounded()
	rows := [][]string{{"separated", fmt.Sprint(m.separated)}, {"margin", fmt.Sprintf("%.6g", m.leastMargin())},
		{"radius", fmt.Sprintf("%.6g", m.radius)}, {what, fmt.Sprint(total)}}
	if m.bound > 0 {
		rows = append(rows, []string{"bound on " + what, fmt.Sprintf("%.6g", m.bound)})
	}
	return &jobs.FigureTable{Columns: []string{"fact", "value"}, Rows: rows}
}

// bounded returns what Novikoff's theorem bounds, and how many there were.
func (m *model) bounded() (what string, total int64) {
	what, counts := "mistakes", m.epochMistakes
	if m.Rule == OneVsRest {
		what, counts = "updates", m.epochUpdates
	}
	return what, sums.Total(counts)
}

// pictures shows the rows of weights.
func (m *model) pictures() []jobs.Figure {
	label := func(r int) string {
		if m.Rule == Signed {
			return fmt.Sprintf("%s (bright) or %s (dark)", m.space.Labels.At(1), m.space.Labels.At(0))
		}
		return string(m.space.Labels.At(r))
	}
	weights := m.deciding()
	return jobs.Pictures("Weights", "The weights that decide as pictures, each between its own least and greatest.",
		m.Width, m.rows(), label, func(r int) []float32 { return m.rowOf(weights, r)[:m.Width] })
}
