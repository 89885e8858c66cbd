package gaussiannb

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/protocol"
)

// growth is in a model that grows: the sums that its means and variances were rounded from. Sums are exact, so that a
// job which goes on adding from a model gives, to the bit, the model of all records at once, however they are cut into
// jobs and shards. V, by which variances are smoothed, is that of all records, too: its sums count every record once,
// whatever it weighs, and so are others.
type growth struct {
	columns      *features.Growth
	sums         *sums.Moments // of each class
	varSmoothing float64       // of the job; that of the next one may be another
}

// leastSmoothing is the least var_smoothing of a spec.
const leastSmoothing = 1e-30

// growthPrefix begins the names of the arrays.
const growthPrefix = "growth."

// Fields lists the growth of a model. While reading, it must give the model.
func (g *growth) Fields(f *jobs.Fields, m *model) {
	jobs.Make(f, &g.columns).Fields(f, m.space)
	jobs.Make(f, &g.sums).Named(f, growthPrefix)
	jobs.Scalar(f, growthPrefix+"var_smoothing", &g.varSmoothing)
	f.Require(g.varSmoothing >= leastSmoothing && g.varSmoothing <= 1, "a model has var_smoothing %v", g.varSmoothing)
	f.Check(func() error { return g.check(m) })
}

// check computes the model again.
func (g *growth) check(m *model) error {
	for y := range m.weight {
		if y >= g.sums.Classes() || g.sums.Weight.Float(y) != m.weight[y] {
			return jobs.Malformed("the sums of a model that grows are not of its %d classes and their weights",
				len(m.weight))
		}
	}
	for i := range g.sums.Sums.Len() { // of numbers that may be missing, see countPresent
		if width := m.space.Width; m.space.Omits() && i%(2*width) >= width && !g.sums.Flags(i) {
			return jobs.Malformed("the sums of a model that grows count numbers that are not there")
		}
	}
	again, err := estimate(g.varSmoothing, m.space, g.sums)
	if err != nil {
		return jobs.Malformed("the sums of a model that grows: %v", err)
	}
	if !slices.Equal(again.mean, m.mean) || !slices.Equal(again.variance, m.variance) {
		return jobs.Malformed("the sums of a model that grows are not those of its means and variances")
	}
	return nil
}

// accepts refuses a model that has lost its sums, or has others than its own, before a job begins from it.
func accepts(a jobs.Arrays) error {
	if err := checkGrows(a); err != nil {
		return err
	}
	_, err := jobs.Load[model](a)
	return err
}

// checkGrows refuses a model without sums; it reads few arrays.
func checkGrows(a jobs.Arrays) error {
	if err := (jobs.Kind{Name: KindName}).CheckModel(a); err != nil {
		return err
	}
	if _, grows := a[growthPrefix+"var_smoothing"]; !grows {
		return protocol.SpecFault("spec.model is a model of kind %s that was trained without grows, so it has no sums that "+
			"a job of kind %s can add to", KindName, KindName).
			WithHint("Train spec.model with params.grows: true, or leave it out and train on all records.")
	}
	return nil
}

// spacePhase is phase "features", which goes on from the model of spec.model where there is one.
func spacePhase(p Params, spec protocol.JobSpec) (jobs.Phase, error) {
	grown := spec.Spec.Model != ""
	if grown || p.Grows {
		why := "spec.model"
		if p.Grows {
			why = "params.grows"
		}
		if err := p.Features.CheckGrows(why); err != nil {
			return nil, err
		}
		if len(spec.Spec.Input.Categorical) > 0 {
			return nil, protocol.SpecFault("%s takes no spec.input.categorical: the records of the next job may have other "+
				"categories", why).WithHint("Train on all records at once.")
		}
	}
	options := []features.Option{features.Classes(2)}
	if p.Grows {
		options = append(options, features.Grows())
	}
	if grown {
		options = append(options, features.After(readGrown))
	}
	builder, err := features.NewBuilder(p.Features, spec, options...)
	if err != nil {
		return nil, err
	}
	return builder.Phase(func(given jobs.Arrays, space *features.Space) (jobs.Next, error) {
		s := &state{space: space, growth: space.Growth()}
		if grown {
			m, err := jobs.Load[model](given)
			if err != nil {
				return jobs.Next{}, err
			}
			if m.growth == nil {
				return jobs.Next{}, jobs.Malformed("a model that grows has no sums")
			}
			s.before = m.placed(space)
		}
		return jobs.Next{Phase: momentsName, State: jobs.ArraysOf(s)}, nil
	}), nil
}

// readGrown reads of a model that grows what phase "features" needs.
func readGrown(a jobs.Arrays) (space *features.Space, columns *features.Growth, err error) {
	if err := checkGrows(a); err != nil {
		return nil, nil, err
	}
	_, err = jobs.Read(a, jobs.FieldsFunc(func(f *jobs.Fields) {
		jobs.Make(f, &space).Fields(f)
		jobs.Make(f, &columns).Fields(f, space)
	}))
	return space, columns, err
}

// placed are the sums of a model for the labels of a space, which include its own.
func (m *model) placed(space *features.Space) *sums.Moments {
	to := make([]int32, m.space.Labels.Len())
	for y, label := range m.space.Labels.List() {
		to[y] = space.Class([]byte(label))
	}
	return m.growth.sums.Placed(to, space.Labels.Len())
}

// with adds the sums of the model before, if there is one.
func (p momentsPhase) with(s *state, root *sums.Moments) (*sums.Moments, error) {
	switch {
	case p.grown != (s.before != nil):
		return nil, jobs.Malformed("the state has sums of spec.model: %v; the job adds to a model: %v", s.before != nil,
			p.grown)
	case p.Params.Grows != (s.growth != nil):
		return nil, jobs.Malformed("a state of a model that grows: %v, in a job that grows: %v", s.growth != nil,
			p.Params.Grows)
	case p.grown:
		return s.before.Plus(root)
	}
	return root, nil
}
