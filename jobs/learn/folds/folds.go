// Package folds makes a job with spec.input.split.folds of a job without (k-fold cross-validation: Stone,
// "Cross-validatory choice and assessment of statistical predictions", JRSS B 36, 1974). It runs the phases of the kind
// once without each fold, judges what was trained on the records of the fold, and runs them again on all records. The
// model is that of the last training, and the metric "evaluation.folds" has the figures of all.
//
// Complexity: that of the job, times the number of folds and one.
package folds

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// New makes the algorithm of a spec.
type New func(protocol.JobSpec) (jobs.Algorithm, error)

// Of returns a function that makes the algorithm of a spec with folds, too. Folds beside spec.queries or spec.model are
// a *protocol.Fault of CodeSpecInvalid.
func Of(one New) New {
	return func(spec protocol.JobSpec) (jobs.Algorithm, error) {
		n := spec.Spec.Input.Split.Folds
		if n == 0 {
			return one(spec)
		}
		if spec.Spec.Queries != nil || spec.Spec.Model != "" {
			return nil, protocol.SpecFault("spec.input.split.folds does not go with spec.queries and spec.model").
				WithHint("Leave the folds out, or give all records in spec.input.")
		}
		var all jobs.Blocked
		for out := 1; out <= n+1; out++ {
			algorithm, err := one(without(spec, out))
			if err != nil {
				return nil, err
			}
			all.Records = jobs.BlocksOf(algorithm)
			list := algorithm.Phases()
			for _, p := range list {
				all.List = append(all.List, &phase{Phase: p, fold: out, folds: n, first: list[0].Name()})
			}
		}
		if !all.Records.Any() {
			return all.List, nil
		}
		return all, nil
	}
}

// without is the spec of a training that leaves a fold out; of one more than there are folds, that on all records.
func without(spec protocol.JobSpec, out int) protocol.JobSpec {
	split := &spec.Spec.Input.Split
	if out <= split.Folds {
		split.Out = out
		return spec
	}
	*split, spec.Spec.Evaluation = protocol.Split{}, nil
	return spec
}

// phase is a phase of one training.
type phase struct {
	jobs.Phase
	fold, folds int
	first       string // name of the first phase of a training
}

// name of a phase: that of the last training has the name that it has without folds.
func (p *phase) name(of string, fold int) string {
	if fold > p.folds {
		return of
	}
	return fmt.Sprintf("fold-%d-%s", fold, of)
}

// Name is unique among the trainings.
func (p *phase) Name() string { return p.name(p.Phase.Name(), p.fold) }

// Gathers is that of the phase.
func (p *phase) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	if g, ok := p.Phase.(jobs.Gatherer); ok {
		return g.Gathers(leaf, records)
	}
	return 0
}

// Carries is that of the phase.
func (p *phase) Carries() bool {
	c, ok := p.Phase.(jobs.Carrier)
	return !ok || c.Carries()
}

// judgedName is the array of a state that has the figures of the folds so far.
const judgedName = "folds.judged"

// Map maps without the figures. What a training without a fold emits is not written.
func (p *phase) Map(
	ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set,
) (partial, newCarry jobs.Arrays, err error) {
	if p.fold <= p.folds {
		leaf.Emit = discard
	}
	_, state, err = p.split(state)
	if err != nil {
		return nil, nil, err
	}
	return p.Phase.Map(ctx, state, leaf, carry, ops)
}

// discard writes nothing.
func discard(_ context.Context, name string, data []byte) (jobs.File, error) {
	return jobs.File{Name: name, Size: int64(len(data))}, nil
}

// split takes the figures out of a state.
func (p *phase) split(state jobs.Arrays) (judged []evaluation.Fold, rest jobs.Arrays, err error) {
	if _, ok := state[judgedName]; !ok {
		return nil, state, nil
	}
	text, err := state.Text(judgedName)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal([]byte(text), &judged); err != nil || len(judged) > p.folds || len(judged) < p.fold-1 {
		return nil, nil, jobs.Malformed("array %q does not hold the figures of folds: %v", judgedName, err)
	}
	rest = maps.Clone(state)
	delete(rest, judgedName)
	return judged, rest, nil
}

// Step goes on with the training, and from its end to the next one.
func (p *phase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	judged, state, err := p.split(state)
	if err != nil {
		return jobs.Next{}, err
	}
	if p.fold <= p.folds {
		round.Emit = discard
	}
	next, err := p.Phase.Step(ctx, state, round)
	switch {
	case err != nil:
		return jobs.Next{}, err
	case p.fold > p.folds:
		return p.last(next, judged)
	}
	return p.judge(next, judged)
}

// judge takes in the figures of a training without a fold. At its end, the next training begins from nothing.
func (p *phase) judge(next jobs.Next, judged []evaluation.Fold) (jobs.Next, error) {
	if len(judged) < p.fold {
		judged = append(judged, evaluation.Fold{Fold: p.fold})
	}
	f := &judged[p.fold-1]
	if err := f.Take(next.Metrics); err != nil {
		return jobs.Next{}, err
	}
	var err error
	if next.Metrics, err = p.warnings(next.Metrics); err != nil {
		return jobs.Next{}, err
	}
	if !next.Done {
		next.Phase = p.name(next.Phase, p.fold)
		return keep(next, judged)
	}
	if f.Records == 0 {
		return jobs.Next{}, protocol.EmptyFault("no record of fold %d of %d could be judged", p.fold, p.folds).
			WithHint("Records are dealt into folds by their identities: take fewer folds than records, by far.")
	}
	return keep(jobs.Next{Phase: p.name(p.first, p.fold+1), Metrics: next.Metrics}, judged)
}

// warnings are those among metrics, with the fold that they are about.
func (p *phase) warnings(metrics []jobs.Metric) ([]jobs.Metric, error) {
	var facts jobs.Facts
	for _, m := range metrics {
		var texts []string
		if m.Name != jobs.WarningsMetric || json.Unmarshal(m.Value, &texts) != nil {
			continue
		}
		for i, text := range texts {
			texts[i] = fmt.Sprintf("without fold %d: %s", p.fold, text)
		}
		facts.Add(m.Name, texts)
	}
	return facts.Metrics()
}

// last goes on with the training on all records, and leaves the figures at its end.
func (p *phase) last(next jobs.Next, judged []evaluation.Fold) (jobs.Next, error) {
	if !next.Done {
		return keep(next, judged)
	}
	metric, err := jobs.NewMetric(evaluation.FoldsMetric, evaluation.FoldsOf(judged))
	next.Metrics = append(next.Metrics, metric)
	return next, err
}

// keep puts the figures into the state.
func keep(next jobs.Next, judged []evaluation.Fold) (jobs.Next, error) {
	text, err := json.Marshal(judged)
	next.State = maps.Clone(next.State)
	if next.State == nil {
		next.State = jobs.Arrays{}
	}
	next.State.PutText(judgedName, string(text))
	return next, err
}
