package linearmodel

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/kernelops"
)

// metricPrefix begins the names of the metrics.
const metricPrefix = "linear"

// support gathers the support vectors of a leaf in the round after the training, in which a leaf measures the
// coefficients that it carries at the model's weights.
type support struct {
	*training
	*margin.Support
}

func newSupport(s *training, way dataset.Way, seed uint64) support {
	return support{s, margin.NewSupport(way, seed, "linearmodel/plane", s.machines())}
}

// add takes in a record, if its coefficient is above 0, and may choose it for the picture.
func (u support) add(r *record, id dataset.Identity, alpha carried) error {
	var supports [margin.PlaneMachines]bool
	for slot := range u.slots() {
		a, err := alpha.at(r.number*u.slots() + slot)
		if err != nil {
			return err
		}
		if !(a > 0) {
			continue
		}
		k, side := u.at(r.class, slot)
		if k < len(supports) {
			supports[k] = true
		}
		u.Add(k, id, string(u.space.Labels.At(r.class)), u.machineLabel(k), a, float64(side*r.Dot(u.row(u.weights, k))))
	}
	if u.planar() && r.cost > 0 {
		u.Draw(id, r.Values[0], r.Values[1], r.class, supports)
	}
	return nil
}

// machineLabel tells a machine apart from the others of a model: by the label that it looks for or, of two classes of
// more, by both.
func (m *model) machineLabel(k int) string {
	if m.paired {
		return m.machineName(k)
	}
	return string(m.space.Labels.At(m.sought(k)))
}

// support goes over the leaf's own block once more, and writes its support vectors if they are asked for.
func (j job) support(
	ctx context.Context, s *training, leaf jobs.Leaf, alpha carried, ops *kernelops.Set,
) (*margin.Written, error) {
	number, u := 0, newSupport(s, j.way, j.Seed)
	err := j.read(ctx, s, leaf, func(v features.Vectors, part jobs.Part) error {
		for i := range v.Rows {
			r, err := s.recordOf(v, part.Labels, i, number, ops)
			if err == nil {
				err = u.add(&r, v.IDs[i], alpha)
			}
			if err != nil {
				return err
			}
			number++
		}
		return nil
	})
	if err == nil {
		err = alpha.checkLen(number * s.slots())
	}
	if err != nil {
		return nil, err
	}
	return u.Write(ctx, leaf, j.Params.SupportVectors)
}

// gathersSupport is what a leaf has in memory beside what training takes.
func (j job) gathersSupport() int64 {
	if j.Params.SupportVectors {
		return margin.SupportBytes
	}
	return 0
}

// closes reports whether a round follows the training, which writes and counts support vectors.
func (j job) closes(s *training) bool { return j.Params.SupportVectors || s.planar() }

// close ends the training with what the last round wrote.
func (j job) close(ctx context.Context, s *training, w *margin.Written, round jobs.Round) (jobs.Next, error) {
	var facts jobs.Facts
	end := margin.End{Prefix: metricPrefix, Machines: s.machines(), Way: j.way, Rows: j.Params.SupportVectors,
		Planar: s.planar()}
	if err := end.Close(ctx, w, round.Emit, &facts); err != nil {
		return jobs.Next{}, err
	}
	metrics, err := facts.Metrics()
	if err != nil {
		return jobs.Next{}, err
	}
	return j.Judge.End(jobs.Next{State: jobs.ArraysOf(s.model), Metrics: metrics}, round.Plan), nil
}
