package supportvectormachine

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/jobs/learn/smo"
	"github.com/gram-compute/gram/jobs/learn/voting"
	"github.com/gram-compute/gram/kernelops"
)

// model is the machines over one shared list of support vectors, with what is proved of each.
type model struct {
	space  *features.Space
	kernel kernels.Function // where no values are given
	given  *given           // nil of a kernel of vectors
	bias   []float64        // of each machine
	// regresses says that the one machine gives a number, and epsilon by how much it may be off and cost nothing.
	regresses bool
	epsilon   float64
	// oneClass says that the one machine tells records like those that it was trained on from others.
	oneClass bool
	nu       float64
	// threshold is the one novelty, rho - f, above which a record is an outlier; nil for 0.
	threshold []float64
	supports
	violation []float64 // of each machine, at the end
	proofs    []smo.Certificate
	early     *early      // nil where the machines are of all records
	sigmoids  []float64   // [machines x 2]: A and B; nil if params.probability did not ask for them
	margins   margin.List // nil if there are none, or params.margin did not ask for them
	rounds    int64
	reject    evaluation.Rejection
}

// supports are records with a coefficient that is not 0, ascending by ordinal.
type supports struct {
	ordinal []int64
	class   []int32
	alpha   []float64 // [supports x slots]; of numbers beta, which may be below 0
	rows    []float32 // [supports x width], as they were read
	cluster []int32   // [supports] of an early answer; else empty
}

func (s *supports) len() int { return len(s.ordinal) }

// matrix is the rows of the support vectors.
func (m *model) matrix() kernelops.Matrix {
	w := m.space.Width
	return matrixOf(m.rows, m.len(), w)
}

// Fields lists the support vectors.
func (s *supports) Fields(f *jobs.Fields, width int, classes voting.Classes) {
	jobs.List(f, "supports.ordinal", &s.ordinal)
	n := s.len()
	jobs.List(f, "supports.class", &s.class, n)
	jobs.List(f, "supports.alpha", &s.alpha, n, classes.Slots())
	jobs.List(f, "supports", &s.rows, n, width)
	jobs.Optional(f, "supports.cluster", &s.cluster, n)
	f.Check(func() error {
		for i, y := range s.class {
			if y < 0 || int(y) >= int(classes) || i > 0 && s.ordinal[i] <= s.ordinal[i-1] {
				return jobs.Malformed("support vector %d is record %d, of class %d", i, s.ordinal[i], y)
			}
		}
		if !jobs.Finite(s.alpha) || !jobs.Finite(s.rows) {
			return jobs.Malformed("support vectors have values that are not finite")
		}
		return nil
	})
}

// classes are those of the machines. Of numbers there is one machine, in which each record is there twice: as one of
// class 1 that pulls its decision up, and one of class 0 that pulls it down. Of one class it is one of class 1.
func (m *model) classes() voting.Classes {
	if m.regresses || m.oneClass {
		return 2
	}
	return voting.Classes(m.space.Labels.Len())
}

// begin makes certificates of nothing.
func (m *model) begin() { m.proofs = make([]smo.Certificate, machinesOf(m).Machines()) }

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	f.Kind(KindName, 1)
	jobs.Make(f, &m.space).Fields(f)
	m.modeFields(f)
	m.kernelFields(f)
	earlyFields(f, m)
	jobs.List(f, "bias", &m.bias, machinesOf(m).Machines())
	m.supports.Fields(f, m.rowWidth(), m.classes())
	f.Check(m.checkOneClass)
	f.Check(m.checkGiven)
	f.Check(func() error {
		if m.early == nil {
			return m.supports.checkClusters(0)
		}
		return m.supports.checkClusters(machinesOf(m).parts)
	})
	jobs.List(f, "training.violation", &m.violation, machinesOf(m).Machines())
	m.proofFields(f)
	m.sigmoidFields(f)
	m.margins.Fields(f, m.classes().Machines())
	f.Require(m.margins == nil || m.hasMargin(), "a margin with kernel %s", m.kernelText())
	jobs.Scalar(f, "training.rounds", &m.rounds)
	m.reject.Fields(f)
	f.Require(m.reject == 0 || m.classifies(), "a model of no classes rejects below %v", m.reject)
	f.Require(jobs.Finite(m.bias) && m.rounds >= 0 && m.rounds <= maxRounds,
		"a support vector machine after %d rounds, or with a bias that is not finite", m.rounds)
}

// proofFields lists what is proved: of each machine primal, its error, dual, its error, and the bound on the gap.
func (m *model) proofFields(f *jobs.Fields) {
	const each = 5
	list := make([]float64, 0, each*len(m.proofs))
	for _, c := range m.proofs {
		list = append(list, c.Primal, c.PrimalError, c.Dual, c.DualError, c.GapUpper)
	}
	jobs.List(f, "training.certificate", &list, machinesOf(m).Machines(), each)
	if !f.Reading() {
		return
	}
	m.begin()
	for k := range m.proofs {
		v := list[each*k:]
		m.proofs[k] = smo.Certificate{Primal: v[0], PrimalError: v[1], Dual: v[2], DualError: v[3], GapUpper: v[4]}
		f.Require(v[1] >= 0 && v[3] >= 0 && v[4] >= 0, "the certificate of machine %d is %v", k, v[:each])
	}
}

// proves reports whether the kernel is positive semidefinite for certain, so that the dual objective bounds the primal.
func (m *model) proves() bool {
	k := m.kernel
	if m.given != nil {
		return m.given.verdict != verdictUntold
	}
	return k.Kind == kernelops.Linear || k.Kind == kernelops.RBF ||
		k.Kind == kernelops.Polynomial && k.Scale > 0 && k.Offset >= 0
}

// readModel loads a model in time and memory linear in its bytes.
func readModel(a jobs.Arrays) (*model, error) { return jobs.Load[model](a) }
