package supportvectormachine

import (
	"math"

	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// proofSums are the decisions on records in float64, anew from all support vectors, and how far they may be off.
type proofSums struct {
	*model
	exact     kernels.ExactRows
	longest   float64   // norm of a support vector
	errors    []float64 // of each coefficient of the leaf
	values    []float64 // of the kernel, by support vector
	sum, size []float64 // by slot, of one record: the decision, and the sum of what it adds up in magnitude
	alphas    []float64 // by slot: the sum of the coefficients
}

func newProofSums(m *model, ops *kernelops.Set) *proofSums {
	n := m.classes().slots()
	p := &proofSums{model: m, exact: kernels.ExactRows{Exact: kernels.Exact{Kernel: m.kernel.Kernel}, Ops: ops},
		values: make([]float64, m.len()), sum: make([]float64, n), size: make([]float64, n), alphas: make([]float64, n)}
	for i := range m.len() {
		if m.given != nil {
			break
		}
		p.longest = max(p.longest, p.exact.Norm(m.matrix().Row(i)))
	}
	return p
}

// unit is half the distance from 1 to the next float64.
const unit = 0x1p-53

// prove computes the decisions on the records of a class anew. O(records * supports * (width + slots)).
func (w *walk) prove(g *group, class, base int, c rows.Chunk) error {
	p, n := w.proof, w.perRecord()
	p.errors = append(p.errors, make([]float64, base+len(c.IDs)*n-len(p.errors))...)
	// A sum of n terms, each of which is a rounded product.
	gamma := float64(float64(p.len()+2) * unit)
	gamma /= 1 - gamma
	for i, r := range g.records {
		row := g.rows[i*w.space.Width : (i+1)*w.space.Width]
		p.decide(row, class)
		off := p.errorOf(row)
		for slot, f := range p.sum {
			if f-f != 0 {
				return kernels.Beyond(c.IDs[r], w.kernel.Kernel)
			}
			w.setDecision(base+r*n, slot, f)
			both := float64(off*p.alphas[slot]) + float64(gamma*p.size[slot])
			p.errors[base+r*n+slot] = float64(both * (1 + 0x1p-20))
		}
	}
	return nil
}

// decide sums up the decisions on a row of a class.
func (p *proofSums) decide(row []float32, class int) {
	clear(p.sum)
	clear(p.size)
	clear(p.alphas)
	classes := p.classes()
	slots := classes.slots()
	p.kernelValues(row)
	if p.regresses {
		for j, beta := range p.model.alpha {
			p.add(0, beta, 1, p.values[j])
		}
		return
	}
	for j, y := range p.class {
		alpha := p.alpha[j*slots : (j+1)*slots]
		if int(y) == class {
			for slot, a := range alpha {
				_, side := classes.at(class, slot)
				p.add(slot, a, side, p.values[j])
			}
			continue
		}
		slot := classes.slot(class, int(y))
		machine, _ := classes.at(class, slot)
		p.add(slot, alpha[classes.slot(int(y), class)], classes.side(machine, y), p.values[j])
	}
}

// add adds a support vector with a coefficient and a side.
func (p *proofSums) add(slot int, alpha, side, value float64) {
	if alpha == 0 {
		return
	}
	term := float64(alpha * value)
	p.sum[slot] += float64(side * term)
	p.size[slot] += math.Abs(term)
	p.alphas[slot] += math.Abs(alpha)
}

// kernelValues sets the values to those of a row and the support vectors.
func (p *proofSums) kernelValues(row []float32) {
	if p.given != nil {
		columnsOf(p.values, row, p.ordinal)
		return
	}
	p.exact.Values(p.values, row, p.matrix())
}

// errorOf bounds the errors of those values. Those that are given have none.
func (p *proofSums) errorOf(row []float32) float64 {
	if p.given != nil {
		return 0
	}
	return p.exact.Error(p.space.Width, p.exact.Norm(row), p.longest)
}

// diagonal is at least k(x, x).
func (p *proofSums) diagonal(r record) float64 {
	row := r.X.Row(r.i)
	if p.given != nil {
		return p.given.diagonal(row[r.ordinal])
	}
	norm := p.exact.Norm(row)
	return p.exact.Magnitude(norm, norm)
}

// beyond is the fault of values so large that what is computed of them is no number any more.
func beyond() error {
	return protocol.InputFault(protocol.CodeInputLimit,
		"the values are too large: sums of their products are beyond float64").
		WithHint("Scale them (params.features.scale: standard), or lower params.C.")
}
