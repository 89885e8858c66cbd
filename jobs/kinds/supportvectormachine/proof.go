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
	exact     *kernels.Exact
	errors    []float64 // of each coefficient of the leaf
	sum, size []float64 // by slot, of one record: the decision, and the sum of what it adds up in magnitude
	off       []float64 // by slot: what the errors of the kernel values add up to
	values    []float64 // of the kernel, by support vector
	bounds    []float64 // on their errors
}

func newProofSums(m *model, ops *kernelops.Set) *proofSums {
	n := m.classes().slots()
	return &proofSums{model: m, exact: kernels.NewExact(m.kernel, ops), sum: make([]float64, n), size: make([]float64, n),
		off: make([]float64, n), values: make([]float64, m.len()), bounds: make([]float64, m.len())}
}

// unit is half the distance from 1 to the next float64.
const unit = 0x1p-53

// prove computes the decisions on the records of a class anew. O(records * supports * (width + slots)).
func (w *walk) prove(g *group, class, base int, c rows.Chunk) error {
	p, slots := w.exact, w.tally.classes.slots()
	p.errors = append(p.errors, make([]float64, base+len(c.IDs)*slots-len(p.errors))...)
	// A sum of n terms, each of which is a rounded product.
	gamma := float64(float64(p.len()+2) * unit)
	gamma /= 1 - gamma
	for i, r := range g.records {
		p.decide(g.rows[i*w.space.Width:(i+1)*w.space.Width], class)
		for slot, f := range p.sum {
			if f-f != 0 {
				return kernels.Beyond(c.IDs[r], w.kernel.Kernel)
			}
			at := base + r*slots + slot
			w.after.f[at] = f
			p.errors[at] = float64((p.off[slot] + float64(gamma*p.size[slot])) * (1 + 0x1p-20))
		}
	}
	return nil
}

// decide sums up the decisions on a row of a class.
func (p *proofSums) decide(row []float32, class int) {
	clear(p.sum)
	clear(p.size)
	clear(p.off)
	classes := p.classes()
	slots := classes.slots()
	p.exact.Row(p.values, p.bounds, row, p.matrix())
	for j, y := range p.class {
		value, off := p.values[j], p.bounds[j]
		alpha := p.alpha[j*slots : (j+1)*slots]
		if int(y) == class {
			for slot, a := range alpha {
				_, side := classes.at(class, slot)
				p.add(slot, a, side, value, off)
			}
			continue
		}
		slot := classes.slot(class, int(y))
		machine, _ := classes.at(class, slot)
		p.add(slot, alpha[classes.slot(int(y), class)], classes.side(machine, y), value, off)
	}
}

// add adds a support vector with a coefficient and a side.
func (p *proofSums) add(slot int, alpha, side, value, off float64) {
	if alpha == 0 {
		return
	}
	term := float64(alpha * value)
	p.sum[slot] += float64(side * term)
	p.size[slot] += math.Abs(term)
	p.off[slot] += float64(alpha * off)
}

// diagonal is at least k(x, x).
func (p *proofSums) diagonal(row []float32) float64 {
	var value, off [1]float64
	p.exact.Row(value[:], off[:], row, kernelops.Matrix{Data: row, Rows: 1, Cols: len(row), Stride: len(row)})
	return value[0] + off[0]
}

// beyond is the fault of values so large that what is computed of them is no number any more.
func beyond() error {
	return protocol.InputFault(protocol.CodeInputLimit,
		"the values are too large: sums of their products are beyond float64").
		WithHint("Scale them (params.features.scale: standard), or lower params.C.")
}
