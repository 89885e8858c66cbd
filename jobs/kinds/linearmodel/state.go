package linearmodel

import (
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/protocol"
)

// training is a model in training, and where each machine is.
type training struct {
	*model
	now   []float64 // weights, as those of the model
	done  []int32   // 1 of the machines that are
	ended int32     // 1 in the round after the training

	longest int64 // terms of the longest row
	asked   int32 // 1 if the model is to say what is proved of margins
}

// Fields lists the state.
func (s *training) Fields(f *jobs.Fields) {
	jobs.Make(f, &s.model).Fields(f)
	jobs.List(f, "now", &s.now, s.machines(), s.stride())
	jobs.List(f, "done", &s.done, s.machines())
	jobs.Enum(f, "ended", &s.ended, 0, 1)
	jobs.Scalar(f, "longest", &s.longest)
	jobs.Enum(f, "asked", &s.asked, 0, 1)
	f.Require(s.longest >= 0 && s.longest <= math.MaxInt32, "a row of %d terms", s.longest)
}

// own gives the state memory that no array shares.
func (s *training) own() {
	s.weights, s.now, s.proofs = slices.Clone(s.weights), slices.Clone(s.now), slices.Clone(s.proofs)
	s.done, s.margins = slices.Clone(s.done), slices.Clone(s.margins)
}

// certify keeps the weights of a machine if none before had a lower primal objective, and what is proved. The objective
// of weights of zero is what all records cost.
func (s *training) certify(k int, now dual.Certificate, all dual.Standing) error {
	switch relative := now.Relative(); {
	case s.rounds == 1 && all.Records == 0:
		return weightless()
	case s.rounds == 1 && all.Extent == dual.NoExtent():
		return s.weightlessPair(k)
	case !(now.Primal >= 0 && relative >= 0 && relative <= math.MaxFloat64):
		return jobs.Malformed("the objectives of machine %d are %v and %v", k, now.Primal, now.Dual)
	case s.rounds == 1:
		s.proofs[k] = now // of the first weights, as the model has them
		return nil
	}
	better := false
	if s.proofs[k], better = s.proofs[k].Better(now); better {
		copy(s.row(s.weights, k), s.row(s.now, k))
	}
	return nil
}

// weightless is the fault of records that cost nothing.
func weightless() error {
	return protocol.EmptyFault("every training record weighs 0").WithHint("Check spec.input.weight.")
}

// weightlessPair is that of the records of a machine's two classes: it would decide between them by nothing.
func (s *training) weightlessPair(k int) error {
	return protocol.EmptyFault("every training record of class %.80q and of class %.80q weighs 0, and a machine of classes "+
		"%s tells these two apart", s.others(k), s.space.Labels.At(s.sought(k)), oneVsOne).
		WithHint("Check spec.input.weight, or leave out the records of these classes.")
}

// facts tell how far a machine is: the least primal and the greatest dual objective so far, the gap that is proved
// between them as a part of the primal, and the greatest violation at the coefficients of the round.
func (s *training) facts(f *jobs.Facts, k int, standing dual.Standing) {
	name := fmt.Sprintf("linear.round.%05d.", s.rounds)
	if s.machines() > 1 {
		name += fmt.Sprintf("%03d.", k)
	}
	f.Add(name+"primal", s.proofs[k].Primal)
	f.Add(name+"dual", s.proofs[k].Dual)
	f.Add(name+"gap", s.proofs[k].Relative())
	f.Add(name+"violation", standing.Violation)
}

// next is what follows a round of a phase: another, or the end of the training.
func (j job) next(s *training, phase string, state jobs.Stored, facts jobs.Facts, round jobs.Round) (jobs.Next, error) {
	finished := !slices.Contains(s.done, 0) || s.rounds >= int64(j.Params.MaxRounds)
	if finished {
		facts.Add("linear.rounds", s.rounds)
		facts.Add("linear.gap", s.relative())
		if !j.Params.Margin {
			s.margins.Facts(&facts, metricPrefix)
			s.margins = nil
		} else if s.asked = 1; !j.closes(s) {
			s.margins.Facts(&facts, metricPrefix)
		}
		j.warn(s, &facts)
	}
	metrics, err := facts.Metrics()
	if err != nil {
		return jobs.Next{}, err
	}
	if finished && j.closes(s) {
		s.ended = 1
	} else if finished {
		return j.Judge.End(jobs.Next{State: jobs.ArraysOf(s.model), Metrics: metrics}, round.Plan), nil
	}
	return jobs.Next{Phase: phase, Trees: []int{round.Plan.Blocks}, State: jobs.ArraysOf(state), Metrics: metrics}, nil
}

// warn says so if less is proved than the spec asks for.
func (j job) warn(s *training, facts *jobs.Facts) {
	if gap := s.relative(); gap > j.Params.Tol {
		text := fmt.Sprintf("after %s, the gap that is %s is %.3g of the objective, more than params.tol, %g: "+
			"raise params.max_rounds, scale the features, or lower params.C", protocol.Counted(s.rounds, "round"),
			s.certainty(), gap, j.Params.Tol)
		facts.Add(jobs.WarningsMetric, []string{text})
	}
}
