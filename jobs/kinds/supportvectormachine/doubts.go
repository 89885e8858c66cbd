package supportvectormachine

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
)

// doubtFold warns of machines without a fold whose training ended before they met params.tol.
func (p *trainPhase) doubtFold(s *training, facts *jobs.Facts) {
	worst := 0.0
	for k, done := range s.settled {
		if v := s.violation[k]; done == 0 && v < math.MaxFloat64 {
			worst = max(worst, v)
		}
	}
	if worst > p.Params.Tol {
		facts.Add(jobs.WarningsMetric, []string{fmt.Sprintf("without fold %d, training ended in round %d with a violation of "+
			"%.3g, more than params.tol, %g, and probabilities follow from it: raise params.max_rounds, scale the features, or "+
			"lower params.C", s.calibrating.fold, s.rounds-1, worst, p.Params.Tol)})
	}
}

// doubtSigmoids warns of sigmoids that do not rise with the decision: their probabilities contradict the machine, or
// are the same for all records.
func (s *training) doubtSigmoids(facts *jobs.Facts) {
	count, first := 0, 0
	for k := range s.bias {
		if s.sigmoid(k).A >= 0 {
			if count == 0 {
				first = k
			}
			count++
		}
	}
	if count > 0 {
		facts.Add(jobs.WarningsMetric, []string{fmt.Sprintf("%d of %d machines, %s the first, have a sigmoid that does not rise "+
			"with the decision, so that probabilities say nothing about it: a class has too few records, they weigh too "+
			"little, or the classes do not differ", count, len(s.bias), s.machineName(first))})
	}
}
