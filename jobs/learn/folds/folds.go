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
	"errors"
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
		split := spec.Spec.Input.Split
		n := split.Folds
		if split.By == protocol.ByLabel && regresses(spec) {
			return nil, protocol.SpecFault("spec.input.split.by is label, and labels are numbers in mode regress, not classes").
				WithHint("Leave split.by out: records are then dealt by draws.")
		}
		switch {
		case n == 0 && split.Deals():
			return heldOut(one, spec)
		case n == 0:
			return one(spec)
		}
		if spec.Spec.Queries != nil || spec.Spec.Model != "" {
			return nil, protocol.SpecFault("spec.input.split.folds does not go with spec.queries and spec.model").
				WithHint("Leave the folds out, or give all records in spec.input.")
		}
		var all jobs.Blocked
		var by *dealer
		for out := 1; out <= n+1; out++ {
			algorithm, err := one(without(spec, out))
			if err != nil {
				return nil, err
			}
			all.Records = jobs.BlocksOf(algorithm)
			list := algorithm.Phases()
			if out == 1 && split.Deals() {
				by = &dealer{spec.Spec.Repro.Seed, split, foldName(list[0].Name(), 1)}
				all.List = by.deals()
			}
			for _, p := range list {
				all.List = append(all.List, &phase{Phase: p, fold: out, folds: n, first: list[0].Name(), by: by})
			}
		}
		return either(all), nil
	}
}

// regresses reports whether the labels of a job are numbers to predict: in all kinds that have it, params.mode says so.
func regresses(spec protocol.JobSpec) bool {
	var params struct {
		Mode string `json:"mode"`
	}
	return json.Unmarshal(spec.Spec.Params, &params) == nil && params.Mode == "regress"
}

// either returns an algorithm over blocks if it is.
func either(all jobs.Blocked) jobs.Algorithm {
	if !all.Records.Any() {
		return all.List
	}
	return all
}

// heldOut makes the algorithm of a spec that holds out records by label or by group: after they are dealt, that of one
// which leaves out part 1.
func heldOut(one New, spec protocol.JobSpec) (jobs.Algorithm, error) {
	by := &dealer{seed: spec.Spec.Repro.Seed, split: spec.Spec.Input.Split}
	spec.Spec.Input.Split.Out = 1
	algorithm, err := one(spec)
	if err != nil {
		return nil, err
	}
	list := algorithm.Phases()
	by.next = list[0].Name()
	all := jobs.Blocked{List: by.deals(), Records: jobs.BlocksOf(algorithm)}
	for _, p := range list {
		all.List = append(all.List, &phase{Phase: p, fold: 1, first: by.next, by: by})
	}
	return either(all), nil
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
	first       string  // name of the first phase of a training
	by          *dealer // nil where records are dealt by their identity alone
}

// name of a phase: that of the last training has the name that it has without folds.
func (p *phase) name(of string, fold int) string {
	if fold > p.folds {
		return of
	}
	return foldName(of, fold)
}

func foldName(of string, fold int) string { return fmt.Sprintf("fold-%d-%s", fold, of) }

// Name is unique among the trainings.
func (p *phase) Name() string { return p.name(p.Phase.Name(), p.fold) }

// Gathers is that of the phase.
func (p *phase) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	if g, ok := p.Phase.(jobs.Gatherer); ok {
		return g.Gathers(leaf, records)
	}
	return 0
}

// MostRounds is that of the phase.
func (p *phase) MostRounds(plan jobs.Plan) int64 {
	if r, ok := p.Phase.(jobs.Repeater); ok {
		return r.MostRounds(plan)
	}
	return -1
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
	kept, state, err := p.split(state)
	if err != nil {
		return nil, nil, err
	}
	if kept.dealt != nil {
		leaf = p.by.marked(kept.dealt, leaf)
	}
	partial, newCarry, err = p.Phase.Map(ctx, state, leaf, carry, ops)
	return partial, newCarry, p.of(err)
}

// of returns a fault of a training without a fold with that fold.
func (p *phase) of(err error) error {
	fault, ok := errors.AsType[*protocol.Fault](err)
	if !ok || p.fold > p.folds {
		return err
	}
	told := *fault
	told.What += fmt.Sprintf(", in the training without fold %d of %d", p.fold, p.folds)
	return &told
}

// discard writes nothing.
func discard(_ context.Context, name string, data []byte) (jobs.File, error) {
	return jobs.File{Name: name, Size: int64(len(data))}, nil
}

// beside is what a state has beside that of the phase: the figures of the folds so far, and how records were dealt.
type beside struct {
	judged []evaluation.Fold
	dealt  *dealt // nil where records are dealt by their identity alone
}

// split takes out of a state what it has beside that of the phase.
func (p *phase) split(state jobs.Arrays) (kept beside, rest jobs.Arrays, err error) {
	rest = maps.Clone(state)
	if p.by != nil {
		if kept.dealt, err = jobs.Load[dealt](state); err != nil {
			return kept, nil, err
		}
		for _, name := range stateNames {
			delete(rest, name)
		}
	}
	if _, ok := state[judgedName]; !ok {
		return kept, rest, nil
	}
	text, err := state.Text(judgedName)
	if err != nil {
		return kept, nil, err
	}
	err = json.Unmarshal([]byte(text), &kept.judged)
	if n := len(kept.judged); err != nil || n > p.folds || n < p.fold-1 {
		return kept, nil, jobs.Malformed("array %q does not hold the figures of folds: %v", judgedName, err)
	}
	delete(rest, judgedName)
	return kept, rest, nil
}

// Step goes on with the training, and from its end to the next one.
func (p *phase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	kept, state, err := p.split(state)
	if err != nil {
		return jobs.Next{}, err
	}
	if p.fold <= p.folds {
		round.Emit = discard
	}
	next, err := p.Phase.Step(ctx, state, round)
	switch {
	case err != nil:
		return jobs.Next{}, p.of(err)
	case p.fold > p.folds:
		return p.last(next, kept)
	}
	return p.judge(next, kept)
}

// judge takes in the figures of a training without a fold. At its end, the next training begins from nothing.
func (p *phase) judge(next jobs.Next, kept beside) (jobs.Next, error) {
	if len(kept.judged) < p.fold {
		kept.judged = append(kept.judged, evaluation.Fold{Fold: p.fold})
	}
	f := &kept.judged[p.fold-1]
	if err := f.Take(next.Metrics); err != nil {
		return jobs.Next{}, err
	}
	var err error
	if next.Metrics, err = p.warnings(next.Metrics); err != nil {
		return jobs.Next{}, err
	}
	if !next.Done {
		next.Phase = p.name(next.Phase, p.fold)
		return kept.put(next)
	}
	if f.Records == 0 {
		return jobs.Next{}, protocol.EmptyFault("no record of fold %d of %d could be judged", p.fold, p.folds).
			WithHint("Records are dealt into folds by their identities: take fewer folds than records, by far.")
	}
	return kept.put(jobs.Next{Phase: p.name(p.first, p.fold+1), Metrics: next.Metrics})
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
func (p *phase) last(next jobs.Next, kept beside) (jobs.Next, error) {
	if !next.Done {
		return kept.put(next)
	}
	if p.folds == 0 {
		return next, nil
	}
	metric, err := jobs.NewMetric(evaluation.FoldsMetric, evaluation.FoldsOf(kept.judged))
	next.Metrics = append(next.Metrics, metric)
	return next, err
}

// put puts it into the state.
func (b beside) put(next jobs.Next) (jobs.Next, error) {
	next.State = withDealt(next.State, b.dealt)
	if b.judged == nil {
		return next, nil
	}
	text, err := json.Marshal(b.judged)
	next.State.PutText(judgedName, string(text))
	return next, err
}

// withDealt returns a copy of a state that has what was dealt, if anything was.
func withDealt(state jobs.Arrays, t *dealt) jobs.Arrays {
	state = maps.Clone(state)
	if state == nil {
		state = jobs.Arrays{}
	}
	if t != nil {
		jobs.Add(state, t)
	}
	return state
}
