package linearmodel

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/protocol"
)

// describe tells people what a model is, within 80 columns: what is proved of it, and for each class the columns (of
// texts, the words) whose weights speak most for it. For two classes they are those of the one row, with its sign
// turned for the first class; of machines of two classes each, they are those of each two.
func (m *model) describe(p *describe.Page) error {
	const few = 8 // classes, and columns of each
	if m.regresses {
		return m.describeNumbers(p, few)
	}
	labels := m.space.Labels.List()
	classes, err := p.Classes(labels, few)
	if err != nil {
		return err
	}
	if m.imported() {
		p.Line("kind", KindName)
		m.origin.describe(p, m)
	} else {
		p.Line("kind", "%s, loss %s", KindName, m.loss)
		p.Line("classes", "%d", len(labels))
		m.describeTraining(p)
	}
	m.reject.Describe(p)
	m.margins.Describe(p, m.marginMachines(), few)
	for _, y := range classes {
		machine, sign := y, 1.0
		switch {
		case m.paired:
			m.describePairs(p, labels, classes, y, few)
			continue
		case m.machines() == 1:
			machine, sign = 0, m.side(0, y)
		}
		m.describeWeights(p, strconv.QuoteToGraphic(labels[y]), machine, sign, few)
	}
	p.Shown("%d of %d classes", len(classes), len(labels))
	return nil
}

// describePairs tells of the machines that look for a class, against those before it of some.
func (m *model) describePairs(p *describe.Page, labels []string, classes []int, y, few int) {
	for _, first := range classes {
		if first < y {
			m.describeWeights(p, fmt.Sprintf("%q against %q", labels[y], labels[first]),
				m.pairs().Machine(first, y), 1, few)
		}
	}
}

// describeWeights tells the bias and the columns that speak most for what a machine looks for, or with sign -1 for the
// others.
func (m *model) describeWeights(p *describe.Page, name string, machine int, sign float64, few int) {
	w := m.row(m.weights, machine)
	p.Text("\n%s (bias %.4g)\n", describe.Clip(name, describe.Width-20),
		float64(float64(sign*w[m.space.Width])*m.biasScale)+0) // of -0
	p.Words(describe.Leading(m.space.Width, func(j int) float64 { return float64(sign * w[j]) }, m.space.ColumnName,
		p.Few(few)))
}

// describeTraining tells what a model was made of, and what is proved of it.
func (m *model) describeTraining(p *describe.Page) {
	p.Line("records", "%s of %s, scale %s", protocol.Counted(m.space.Records, "training record"),
		protocol.Counted(m.space.Width, "column"), m.space.Scale())
	p.Line("rounds", "%d", m.rounds)
	if m.told > 0 {
		p.Line("learned on", "from %s since, so nothing is proved", protocol.Counted(m.told, "record"))
		return
	}
	p.Line(m.certainty(), "the objective is at most %.3g of itself above the least", m.relative())
}

// figures are the gaps by round, what is proved in the end, and the weights as pictures where their width is a square;
// then how the test records were decided.
func (m *model) figures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	const most = 64 // machines that are shown
	figures, err := m.proofFigures(metrics, most)
	if err != nil {
		return nil, err
	}
	figures = append(figures, m.margins.Figures(m.marginMachines(), most)...)
	planes, err := m.planeFigures(metrics)
	if err != nil {
		return nil, err
	}
	figures = append(figures, planes...)
	figures = append(figures, jobs.Pictures("Weights",
		"The weights as pictures, each between its own least and greatest.", m.space.Width, m.machines(), m.machineName,
		func(k int) []float64 { return m.row(m.weights, k)[:m.space.Width] })...)
	judged, err := evaluation.Figures(nil, metrics)
	return append(figures, judged...), err
}

// proofFigures are the gaps of the first machines by round and what is proved of them in the end; nothing of a model
// that learned on.
func (m *model) proofFigures(metrics []jobs.Metric, most int) ([]jobs.Figure, error) {
	if m.told > 0 || m.imported() {
		return nil, nil
	}
	gaps, err := m.gaps(metrics, most)
	if err != nil {
		return nil, err
	}
	title := "Proved gap by round"
	if m.loss.Assumed() {
		title = "Assumed gap by round"
	}
	proved := &jobs.FigureTable{Columns: []string{"machine", "primal", "dual", "gap at most", "of the primal"}}
	for k, c := range m.proofs[:min(most, len(m.proofs))] {
		proved.Rows = append(proved.Rows, []string{m.machineName(k), fmt.Sprintf("%.10g", c.Primal),
			fmt.Sprintf("%.10g", c.Dual), fmt.Sprintf("%.3g", c.GapUpper), fmt.Sprintf("%.3g", c.Relative())})
	}
	return []jobs.Figure{
		{Title: title, Caption: "The gap between the least primal and the greatest dual objective so far, as a part of the primal.",
			Lines: &jobs.LineChart{X: "round", Y: "gap, as a part of the primal objective", Series: gaps,
				Decades: true}},
		{Title: "What is " + m.certainty(), Table: proved,
			Caption: "The best primal objective is between dual and primal. The gap bounds the rounding of both." +
				m.assumption()},
	}, nil
}

// gapMetric is the name of a gap in the metrics of a round: of the round and, of several machines, of one.
var gapMetric = regexp.MustCompile(`^linear\.round\.(\d+)(?:\.(\d+))?\.gap$`)

// gaps are those of the first machines, by round.
func (m *model) gaps(metrics []jobs.Metric, most int) ([]jobs.Series, error) {
	lines := make([]jobs.Series, min(most, m.machines()))
	for k := range lines {
		lines[k].Name = m.machineName(k)
	}
	for _, metric := range metrics {
		found := gapMetric.FindStringSubmatch(metric.Name)
		if found == nil {
			continue
		}
		round, _ := strconv.Atoi(found[1]) // digits, and a machine of none is the first
		k, _ := strconv.Atoi(found[2])
		if k >= len(lines) {
			continue
		}
		gap := 0.0
		if err := jobs.ReadMetric([]jobs.Metric{metric}, metric.Name, &gap); err != nil {
			return nil, err
		}
		if gap > 0 {
			lines[k].X, lines[k].Y = append(lines[k].X, float64(round)), append(lines[k].Y, gap)
		}
	}
	return lines, nil
}
