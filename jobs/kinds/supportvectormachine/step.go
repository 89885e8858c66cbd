package supportvectormachine

import (
	"context"
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/calibration"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/smo"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// trainPhase trains all machines, gathers their support vectors, and proves how good they are.
type trainPhase struct{ job }

const trainName = "train"

func (p *trainPhase) phase() jobs.Phase {
	return jobs.MapReduce[*training, *tally]{
		Name: trainName, State: jobs.Load[training], Partial: func() *tally { return new(tally) },
		Carry: p.leaf, Merge: (*tally).plus, Step: p.step, Gathers: p.gathers, Rounds: jobs.Most(p.mostRounds()),
	}.Phase()
}

// mostRounds bounds the rounds of all trainings. What a training does beyond max_rounds (collect, join, weigh, start
// and prove) takes endRounds at most, and any of its rounds may be followed by one that fetches rows. One more round,
// at the end of all, writes what was asked for.
func (p *trainPhase) mostRounds() int64 {
	const endRounds = 8
	trainings, fits := int64(1), int64(0)
	if p.Params.Probability {
		trainings, fits = folds+1, calibration.MostRounds
	}
	return trainings*2*(int64(p.Params.MaxRounds)+endRounds) + fits + 1
}

// candidates is how many new members a working set gets of each side: together half of it. The other half are those
// that came into it last (Wen, Shi, Li, He and Chen, "ThunderSVM: a fast SVM library on GPUs and CPUs", JMLR 19, 2018,
// section 3).
func (p *trainPhase) candidates(s *training) int { return max(1, s.workingSet(p.Params.WorkingSet)/4) }

// step ends a round.
func (p *trainPhase) step(ctx context.Context, s *training, all *tally, round jobs.Round) (jobs.Next, error) {
	if all.classes != s.machines() || all.rows.width != s.space.Width {
		return jobs.Next{}, jobs.Malformed("a tally of %d classes and %d columns", all.classes, all.rows.width)
	}
	s.own()
	if s.stage == stageClose {
		return p.close(ctx, s, all, round)
	}
	if s.stage != stageFetch {
		s.rounds++
	}
	var facts jobs.Facts
	switch s.stage {
	case stageDivide, stageTrain, stageJoin:
		if err := p.work(ctx, s, all, &facts); err != nil {
			return jobs.Next{}, err
		}
	case stageHold:
		p.hold(s, all, &facts)
	case stageCalibrate:
		if err := p.fit(s, all, &facts); err != nil {
			return jobs.Next{}, err
		}
	case stageWeigh:
		if err := s.weighed(all, round.Plan.Blocks); err != nil {
			return jobs.Next{}, err
		}
	case stageStart:
		s.supports, s.weights, s.stage = all.found, nil, stageProve
	case stageFetch:
		if err := p.fetched(ctx, s, all); err != nil {
			return jobs.Next{}, err
		}
	case stageCollect:
		if err := s.collected(all, &facts); err != nil {
			return jobs.Next{}, err
		}
	case stageProve:
		if err := p.certify(s, all); err != nil {
			return jobs.Next{}, err
		}
		if s.stage == stageProve {
			return p.end(s, facts, round)
		}
		s.supports = supports{}
	}
	metrics, err := facts.Metrics()
	return jobs.Next{Phase: trainName, Trees: []int{round.Plan.Blocks}, State: jobs.ArraysOf(s), Metrics: metrics}, err
}

// train settles machines, or changes their working sets: at once where all rows are there, else after stage fetch.
func (p *trainPhase) train(ctx context.Context, s *training, all *tally, facts *jobs.Facts) error {
	old, worst, records := s.working, 0.0, map[int64]bool{}
	s.working = members{}
	full, at, tol := false, s.standing(), p.tol(s)
	for _, k := range s.active(p.Params.WorkingSet) {
		e := all.extremes[k]
		if math.IsInf(e.Violation(), 0) && at.violation[k] == math.MaxFloat64 {
			if s.apart() || s.calibrating.leavesOut() { // the cluster lacks a class, or the fold has all records of one
				at.settled[k] = 1
				continue
			}
			return p.weightless(s, k)
		}
		at.violation[k], at.bias[k] = max(0, e.Violation()), e.Bias()
		if at.violation[k] <= tol {
			at.settled[k] = 1
			continue
		}
		worst = max(worst, at.violation[k])
		full = full || !s.join(k, p.choose(k, all, &old), records)
	}
	if !s.calibrating.leavesOut() {
		facts.Add(fmt.Sprintf("svm.round.%06d.violation", s.rounds), worst)
	}
	have := s.rows
	s.rows, s.wanted = tableOf(s.space.Width, records, &have, &all.rows)
	if len(s.wanted) > 0 {
		s.stage = stageFetch
		return nil
	}
	return p.solve(ctx, s)
}

// weightless is the fault of a class of which no training record counts.
func (p *trainPhase) weightless(s *training, machine int) error {
	if s.regresses || s.oneClass {
		return protocol.EmptyFault("every training record weighs 0").WithHint("Check spec.input.weight.")
	}
	first, second := s.machines().Pair(machine)
	return protocol.EmptyFault("every training record of class %q or of class %q weighs 0", s.space.Labels.At(first),
		s.space.Labels.At(second)).
		WithHint("Check spec.input.weight.")
}

// choose returns the next working set of a machine: of the one before those that came last, then the most violating
// that are not among them.
func (p *trainPhase) choose(k int, all *tally, old *members) []candidate {
	fresh := smo.NewCandidates[member](all.most)
	all.candidates(k, fresh)
	list := fresh.Working(2 * all.most)
	known := make(map[int64]bool, len(list))
	for _, c := range list {
		known[c.Ordinal] = true
	}
	from, to := old.of(k)
	var kept []candidate
	for i := to - 1; i >= from && len(kept)+len(list) < 4*all.most; i-- {
		if !known[old.ordinal[i]] {
			kept = append(kept, old.at(i))
		}
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	return append(kept, list...)
}

// values sets k to the kernel values of rows among each other.
func (s *training) values(k []float64, x kernelops.Matrix, evaluator *kernels.Evaluator) error {
	n := x.Rows
	if s.exact == 1 {
		e := kernels.ExactRows{Exact: kernels.Exact{Kernel: s.kernel.Kernel}, Ops: evaluator.Ops}
		for i := range n {
			e.Values(k[i*n:(i+1)*n], x.Row(i), x)
		}
	} else {
		var points kernels.Points
		points.Set(s.kernel.Coarse(), evaluator.Ops, x)
		values := matrixOf(make([]float32, n*n), n, n)
		if err := evaluator.Symmetric(s.kernel.Coarse(), values, &points); err != nil {
			return err
		}
		for i, v := range values.Data {
			k[i] = float64(v)
		}
	}
	if !jobs.Finite(k) {
		return protocol.InputFault(protocol.CodeInputLimit, "values of the kernel (%s) are beyond float32",
			s.kernel.Text()).WithHint("Scale the features (params.features.scale: standard), or lower the degree.")
	}
	return nil
}

// certify says what is proved of each machine. One whose violation, by the exact decisions, is above tol trains on:
// with float64 values from when float32 ones did not halve the greatest violation, and no more when those do not.
func (p *trainPhase) certify(s *training, all *tally) error {
	worst := 0.0
	if err := p.checkProof(s, all); err != nil {
		return err
	}
	for k := range s.proofs {
		var list [termSums]float64
		for i := range list {
			list[i] = all.terms.Float(k*termSums + i)
		}
		standing := smo.Standing{Terms: smo.TermsOf(list), Rate: 1, Diagonal: all.diagonal}
		if s.regresses {
			standing.Rate = all.rate + s.epsilon
		}
		s.violation[k] = max(0, all.extremes[k].Violation()) // 0 where a fold has all records of a class
		if s.calibrating.leavesOut() {
			worst = max(worst, s.violation[k])
			continue
		}
		s.proofs[k] = s.certificate(standing, k)
		s.bound(k, standing, all.margins)
		p := s.proofs[k].Primal
		if s.proves() && !(p >= 0 || s.oneClass && p-p == 0) || s.violation[k]-s.violation[k] != 0 {
			return jobs.Malformed("the objective of machine %d is %v, its violation %v", k, s.proofs[k].Primal,
				s.violation[k])
		}
		worst = max(worst, s.violation[k])
	}
	stuck := worst > s.proved/2
	if begins := s.oneClass && s.proved == math.MaxFloat64; begins {
		s.stage, s.proved = stageTrain, min(worst, math.MaxFloat64/2)
		return nil
	}
	if worst <= p.Params.Tol || s.rounds >= int64(p.Params.MaxRounds) || stuck && s.exact == 1 {
		if s.calibrating.leavesOut() {
			s.stage = stageHold
		}
		return nil
	}
	p.trainOn(s, worst, stuck)
	return nil
}

// end ends the training.
func (p *trainPhase) end(s *training, facts jobs.Facts, round jobs.Round) (jobs.Next, error) {
	worst, gap := 0.0, 0.0
	for k, v := range s.violation {
		worst, gap = max(worst, v), max(gap, s.proofs[k].Relative())
	}
	facts.Add("svm.rounds", s.rounds)
	facts.Add("svm.violation", worst)
	facts.Add("svm.supports", s.len())
	if s.proves() && gap-gap == 0 {
		facts.Add("svm.gap", gap)
	}
	if worst > p.Params.Tol {
		facts.Add(jobs.WarningsMetric, []string{fmt.Sprintf("after %s, the violation is %.3g, more than params.tol, "+
			"%g: raise params.max_rounds, scale the features, or lower params.C", protocol.Counted(s.rounds, "round"),
			worst, p.Params.Tol)})
	}
	s.marginFacts(&facts, p.Params.Margin)
	if s.given != nil {
		s.given.facts(&facts)
	}
	s.fold()
	metrics, err := facts.Metrics()
	if err != nil {
		return jobs.Next{}, err
	}
	if p.closes(s.model) {
		s.stage = stageClose
		next := jobs.Next{Phase: trainName, Trees: []int{round.Plan.Blocks}, State: jobs.ArraysOf(s)}
		next.Metrics = metrics
		return next, nil
	}
	next := jobs.Next{State: jobs.ArraysOf(s.model), Metrics: metrics}
	if s.oneClass {
		return p.detection.End(next, round.Plan), nil
	}
	return p.Judge.End(next, round.Plan), nil
}
