package supportvectormachine

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/margin"
)

// closing is a leaf in the round after the training, in which it writes and counts support vectors.
type closing struct {
	*margin.Support
	*model
}

// newClosing begins.
func (p *trainPhase) newClosing(m *model) *closing {
	return &closing{margin.NewSupport(p.way, p.Seed, "supportvectormachine/plane", m.classes().Machines()), m}
}

// add takes in a record with its coefficients and decisions by slot, without the bias, and may choose it for the
// picture. What a record costs says whether it counts.
func (c *closing) add(r record, class int, cost float64, alpha, f []float64) {
	var supports [margin.PlaneMachines]bool
	id := r.IDs[r.i]
	for slot, a := range alpha {
		if !(a > 0) {
			continue
		}
		k, y := c.classes().At(class, slot)
		if k < len(supports) {
			supports[k] = true
		}
		c.Add(k, id, string(c.space.Labels.At(class)), c.machineName(k), a, float64(y*(f[slot]+c.bias[k])))
	}
	if c.planar() && cost > 0 {
		row := r.X.Row(r.i)
		c.Draw(id, row[0], row[1], class, supports)
	}
}

// write writes what was added, in stage close.
func (w *walk) write(ctx context.Context, leaf jobs.Leaf, rows bool) (err error) {
	if w.closing != nil {
		w.written, err = w.closing.Write(ctx, leaf, rows)
	}
	return err
}

// closes reports whether a round follows the training, which writes and counts support vectors.
func (p *trainPhase) closes(m *model) bool { return p.Params.SupportVectors || m.planar() }

// planar reports whether the training records are points of a plane that machines divide.
func (m *model) planar() bool {
	return m.classifies() && m.given == nil && m.early == nil && m.space.Width == 2 && m.space.Dense()
}

// gathers is what a leaf keeps of the support vectors that it writes.
func (p *trainPhase) gathers(jobs.Leaf, func(jobs.Source, int) int64) int64 {
	if p.Params.SupportVectors {
		return margin.SupportBytes
	}
	return 0
}

// close ends the training with what the last round wrote.
func (p *trainPhase) close(ctx context.Context, s *training, all *tally, round jobs.Round) (jobs.Next, error) {
	var facts jobs.Facts
	end := margin.End{Prefix: metricPrefix, Machines: len(s.bias), Way: p.way, Rows: p.Params.SupportVectors,
		Planar: s.planar()}
	if err := end.Close(ctx, all.written, round.Emit, &facts); err != nil {
		return jobs.Next{}, err
	}
	metrics, err := facts.Metrics()
	if err != nil {
		return jobs.Next{}, err
	}
	return p.Judge.End(jobs.Next{State: jobs.ArraysOf(s.model), Metrics: metrics}, round.Plan), nil
}
