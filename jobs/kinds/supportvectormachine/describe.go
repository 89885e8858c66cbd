package supportvectormachine

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/protocol"
)

// most is how many machines, classes or pictures are shown.
const most = 32

// few is how many margins are.
const few = 8

// describe tells people what a model is, within 80 columns.
func (m *model) describe(p *describe.Page) error {
	labels := m.space.Labels.List()
	p.Line("kind", "%s, %s", KindName, m.kernelText())
	switch {
	case m.oneClass:
		p.Line("mode", "%s, nu %g", modeOneClass, m.nu)
	case m.regresses:
		p.Line("mode", "%s, epsilon %g", modeRegress, m.epsilon)
	default:
		p.Line("classes", "%d", len(labels))
	}
	p.Line("records", "%s of %s, scale %s", protocol.Counted(m.space.Records, "training record"),
		protocol.Counted(m.space.Width, "column"), m.space.Scale())
	if m.given != nil {
		m.given.describe(p)
	}
	if m.early != nil {
		p.Line("early", "machines of %d clusters; a record is decided by those of its own", machinesOf(m).parts)
	}
	p.Line("supports", "%d", m.len())
	p.Line("rounds", "%d", m.rounds)
	p.Line("violation", "%.3g", m.worst())
	p.Line("proved", "%s", m.says())
	if m.sigmoids != nil {
		p.Line("probability", "by a sigmoid of each machine, fitted on %d folds", folds)
	}
	m.reject.Describe(p)
	m.margins.Describe(p, m.marginMachines(), few)
	switch {
	case m.oneClass:
		p.Line("rho", "%.6g", -m.bias[0])
		p.Line("outlier", "where rho - f is above %.6g", m.outlierAbove())
		return nil
	case m.regresses:
		p.Line("bias", "%.6g", m.bias[0])
		return nil
	}
	supports := make([]int, len(labels))
	for _, y := range m.class {
		supports[y]++
	}
	p.Text("\n%-24s %15s\n", "class", "support vectors")
	p.Table(labels, func(y int) string { return fmt.Sprintf("%15d", supports[y]) })
	p.Text("\n%-40s %12s %10s\n", "machine", "bias", "supports")
	for k := range m.bias[:min(most, len(m.bias))] {
		p.Text("%-40.40s %12.6g %10d\n", m.machineName(k), m.bias[k], m.supportsOf(k))
	}
	p.Shown("%d of %d machines", min(most, len(m.bias)), len(m.bias))
	return nil
}

// says is what is proved of the machines.
func (m *model) says() string {
	if !m.proves() {
		return "no gap: the kernel may not be positive semidefinite"
	}
	if m.early != nil {
		return fmt.Sprintf("the objective of each cluster is at most %.3g of itself above its least", m.relative())
	}
	return fmt.Sprintf("the objective is at most %.3g of itself above the least", m.relative())
}

// relative is the greatest proved gap of a machine, as a part of its primal objective.
func (m *model) relative() (greatest float64) {
	for _, c := range m.proofs {
		greatest = max(greatest, c.Relative())
	}
	return greatest
}

// worst is the greatest violation of a machine.
func (m *model) worst() (greatest float64) {
	for _, v := range m.violation {
		greatest = max(greatest, v)
	}
	return greatest
}

// supportsOf counts the support vectors of a machine.
func (m *model) supportsOf(machine int) (n int) {
	first, second := machinesOf(m).Pair(machine)
	for j, y := range m.class {
		other := first + second - int(y)
		if m.clusterOf(j) != machine%machinesOf(m).parts {
			continue
		}
		if (int(y) == first || int(y) == second) && m.alpha[j*m.classes().Slots()+m.classes().Slot(int(y), other)] > 0 {
			n++
		}
	}
	return n
}

// machineName says which two classes a machine tells apart.
func (m *model) machineName(k int) string {
	switch {
	case m.oneClass:
		return "of one class"
	case m.regresses:
		return "of numbers"
	}
	first, second := machinesOf(m).Pair(k)
	name := fmt.Sprintf("%s against %s", m.space.Labels.At(second), m.space.Labels.At(first))
	if m.early != nil {
		name += fmt.Sprintf(", cluster %d", k%machinesOf(m).parts)
	}
	return name
}

// figures are the violations by round, what is proved in the end, and the support vectors of largest coefficients as
// pictures where their width is a square; then how the test records were decided.
func (m *model) figures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	line, err := violations(metrics)
	if err != nil {
		return nil, err
	}
	proved := &jobs.FigureTable{Columns: []string{"machine", "primal", "dual", "gap at most", "of the primal", "violation"}}
	for k, c := range m.proofs[:min(most, len(m.proofs))] {
		row := []string{m.machineName(k), fmt.Sprintf("%.10g", c.Primal), "none", "none", "none",
			fmt.Sprintf("%.3g", m.violation[k])}
		if m.proves() {
			row[2], row[3], row[4] = fmt.Sprintf("%.10g", c.Dual), fmt.Sprintf("%.3g", c.GapUpper),
				fmt.Sprintf("%.3g", c.Relative())
		}
		proved.Rows = append(proved.Rows, row)
	}
	caption := "The least primal objective is between dual and primal. The gap bounds the rounding of both."
	if !m.proves() {
		caption = "This kernel may not be positive semidefinite, so the dual bounds nothing: the violation alone is known."
	}
	figures := []jobs.Figure{
		{Title: "Violation by round", Lines: &jobs.LineChart{X: "round", Y: "greatest violation",
			Series: []jobs.Series{line}, Decades: true},
			Caption: "The greatest violation of the conditions of Karush, Kuhn and Tucker among the machines at work."},
		{Title: "What is proved", Table: proved, Caption: caption},
	}
	figures = append(figures, m.margins.Figures(m.marginMachines(), most)...)
	planes, err := m.planeFigures(metrics)
	if err != nil {
		return nil, err
	}
	figures = append(append(figures, planes...), m.pictures()...)
	judged, err := evaluation.Figures(nil, metrics)
	return append(figures, judged...), err
}

// pictures are those of the support vectors of largest coefficients, or what is known of a given matrix.
func (m *model) pictures() []jobs.Figure {
	if m.given != nil {
		return []jobs.Figure{m.given.figure()}
	}
	largest := rank.Greatest(m.len(), m.size)
	largest = largest[:min(most, len(largest))]
	return jobs.Pictures("Support vectors of largest coefficients",
		"Each with its label and the sum of its coefficients.", m.space.Width, len(largest), func(i int) string {
			return fmt.Sprintf("%.24s (%.3g)", m.className(largest[i]), m.size(largest[i]))
		}, func(i int) []float32 { return m.matrix().Row(largest[i]) })
}

// size is the sum of the coefficients of a support vector.
func (m *model) size(i int) (sum float64) {
	for _, a := range m.alpha[i*m.classes().Slots() : (i+1)*m.classes().Slots()] {
		sum += a
	}
	return sum
}

// violationMetric is the name of the violation of a round.
var violationMetric = regexp.MustCompile(`^svm\.round\.(\d+)\.violation$`)

// violations are those above 0, by round.
func violations(metrics []jobs.Metric) (line jobs.Series, err error) {
	line.Name = "violation"
	for _, metric := range metrics {
		found := violationMetric.FindStringSubmatch(metric.Name)
		if found == nil {
			continue
		}
		round, _ := strconv.Atoi(found[1]) // digits
		violation := 0.0
		if err := jobs.ReadMetric([]jobs.Metric{metric}, metric.Name, &violation); err != nil {
			return line, err
		}
		if violation > 0 {
			line.X, line.Y = append(line.X, float64(round)), append(line.Y, violation)
		}
	}
	return line, nil
}
