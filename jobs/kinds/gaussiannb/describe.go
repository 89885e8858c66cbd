package gaussiannb

import (
	"math"
	"strconv"

	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/rank"
)

// describe writes the parameters of a model, and the mean and standard deviation of a few columns of each class.
// Columns are ordered by the distance of their mean from the mean of all records, in standard deviations of the class,
// largest first.
func (m *model) describe(p *describe.Page) error {
	const few = 8 // classes, and columns of each
	classes, err := p.Classes(m.space.Labels.List(), few)
	if err != nil {
		return err
	}
	p.Line("kind", "%s", KindName)
	p.Line("classes", "%d", len(m.weight))
	p.Line("records", "%d of width %d", m.space.Records, m.space.Width)
	p.Line("scale", "%s", m.space.Scale())
	if m.space.Omits() {
		p.Line("missing", "left out")
	}
	if m.growth != nil {
		p.Line("grows", "yes: a job may add records to it")
	}
	p.Line("prior", "%s", m.decision.Prior())
	p.Line("decision", "%s", m.decision.String())
	for _, y := range classes {
		p.Text("\n%s (weight %g)\n", strconv.QuoteToGraphic(string(m.space.Labels.At(y))), m.weight[y])
		begin := y * m.space.Width
		farthest := rank.Greatest(m.space.Width, func(j int) float64 {
			return math.Abs(m.mean[begin+j]-m.space.Mean[j]) / math.Sqrt(m.variance[begin+j])
		})
		for _, j := range farthest[:min(p.Few(few), len(farthest))] {
			p.Text("  column %-8d mean %12.6g   deviation %12.6g\n", j+1, m.mean[begin+j],
				math.Sqrt(m.variance[begin+j]))
		}
	}
	p.Shown("%d of %d classes", len(classes), len(m.weight))
	return nil
}
