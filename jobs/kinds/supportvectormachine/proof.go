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
	exact     kernels.ExactMatrix
	norms     kernels.Exact
	squares   []float64     // of the support vectors, see kernels.ExactMatrix
	longest   float64       // norm of a support vector
	farthest  float64       // the greatest of squares
	errors    []float64     // of each coefficient of the leaf
	terms     [][]proofTerm // by class of the records
	supports  kernels.ExactPoints
	records   kernels.ExactPoints
	rows      []float32 // of a block of support vectors
	distances []float64 // squares of a block
	values    []float64 // of the kernel [supports of a block x records]
	sum, size []float64 // [slots x records]: the decisions, and the sums of what they add up in magnitude
	alphas    []float64 // by slot: the sum of the coefficients
}

// proofTerm is what a support vector does to the decisions on the records of a class at a slot.
type proofTerm struct {
	support, slot int
	coefficient   float64 // with its side
}

func newProofSums(m *model, ops *kernelops.Set) *proofSums {
	p := &proofSums{model: m, exact: kernels.ExactMatrix{Function: m.kernel, Ops: ops},
		norms: kernels.Exact{Kernel: m.kernel.Kernel}, terms: make([][]proofTerm, machinesOf(m).groups())}
	p.squares = p.exact.Squares(nil, m.matrix())
	for i := range m.len() {
		if m.given == nil {
			p.longest = max(p.longest, p.norms.Norm(m.matrix().Row(i)))
		}
	}
	for _, s := range p.squares {
		p.farthest = max(p.farthest, s)
	}
	return p
}

// unit is half the distance from 1 to the next float64.
const unit = 0x1p-53

// How many records and support vectors have their kernel values at a time; fewer where rows are wide.
const (
	proofRecords  = 1024
	proofSupports = 256
)

// proofRows is how many rows are taken of at most that many.
func (p *proofSums) proofRows(most int) int { return max(8, min(most, 1<<20/max(1, p.space.Width))) }

// prove computes the decisions on the records of a group anew. O(records * supports * (width + slots)), of the support
// vectors that have a coefficient in a machine of the class.
func (w *walk) prove(g *group, number, base int, c rows.Chunk) error {
	p, n := w.proof, w.perRecord()
	p.errors = append(p.errors, make([]float64, base+len(c.IDs)*n-len(p.errors))...)
	// A sum of n terms, each of which is a rounded product.
	gamma := float64(float64(p.len()+2) * unit)
	gamma /= 1 - gamma
	step := p.proofRows(proofRecords)
	for from := 0; from < len(g.records); from += step {
		part := g.records[from:min(from+step, len(g.records))]
		rows := matrixOf(g.rows, len(g.records), w.space.Width).RowRange(from, from+len(part))
		p.decideAll(rows, number)
		for i, r := range part {
			off := p.off(i)
			for slot := range p.alphas {
				f := p.sum[slot*len(part)+i]
				if f-f != 0 {
					return kernels.Beyond(c.IDs[r], w.kernel.Kernel)
				}
				w.setDecision(base+r*n, slot, f)
				both := float64(off*p.alphas[slot]) + float64(gamma*p.size[slot*len(part)+i])
				p.errors[base+r*n+slot] = float64(both * (1 + 0x1p-20))
			}
		}
	}
	return nil
}

// off bounds how far kernel values of a record of the last decideAll may be off. Those that are given are exact.
func (p *proofSums) off(i int) float64 {
	if p.given != nil {
		return 0
	}
	square := 0.0
	if squares := p.records.Squares(); squares != nil {
		square = squares[i]
	}
	return p.exact.Error(p.norms.Norm(p.records.Rows().Row(i)), p.longest, square, p.farthest)
}

// decideAll sums up the decisions on some records of a group, which without clusters is a class.
func (p *proofSums) decideAll(records kernelops.Matrix, number int) {
	slots := p.classes().Slots()
	p.alphas = kernelops.Resize(p.alphas, slots)
	p.sum, p.size = kernelops.Resize(p.sum, slots*records.Rows), kernelops.Resize(p.size, slots*records.Rows)
	clear(p.alphas)
	clear(p.sum)
	clear(p.size)
	if p.terms[number] == nil {
		p.terms[number] = p.termsOf(number)
	}
	p.exact.Set(&p.records, records, nil)
	for terms := p.terms[number]; len(terms) > 0; {
		terms = p.add(terms)
	}
}

// termsOf lists what decides on the records of a group, by support vector.
func (p *proofSums) termsOf(number int) []proofTerm {
	classes, list := p.classes(), []proofTerm{}
	class, cluster := number/machinesOf(p.model).parts, number%machinesOf(p.model).parts
	if p.regresses {
		for j, beta := range p.model.alpha {
			list = append(list, proofTerm{j, 0, beta})
		}
		return list
	}
	slots := classes.Slots()
	for j, y := range p.class {
		if p.clusterOf(j) != cluster {
			continue
		}
		alpha := p.alpha[j*slots : (j+1)*slots]
		if int(y) != class {
			slot := classes.Slot(class, int(y))
			machine, _ := classes.At(class, slot)
			if a := alpha[classes.Slot(int(y), class)]; a != 0 {
				list = append(list, proofTerm{j, slot, float64(classes.Side(machine, int(y)) * a)})
			}
			continue
		}
		for slot, a := range alpha {
			if _, side := classes.At(class, slot); a != 0 {
				list = append(list, proofTerm{j, slot, float64(side * a)})
			}
		}
	}
	return list
}

// add adds the first of some terms, those of a block of support vectors, and returns the others.
func (p *proofSums) add(terms []proofTerm) []proofTerm {
	p.rows, p.distances = p.rows[:0], p.distances[:0]
	end, count, last, most := 0, 0, -1, p.proofRows(proofSupports)
	for ; end < len(terms) && (count < most || terms[end].support == last); end++ {
		if j := terms[end].support; j != last {
			if p.given == nil {
				p.rows = append(p.rows, p.matrix().Row(j)...)
			}
			if last = j; p.squares != nil {
				p.distances = append(p.distances, p.squares[j])
			}
			count++
		}
	}
	n := p.records.Rows().Rows
	if p.values = kernelops.Resize(p.values, count*n); p.given != nil {
		p.givenValues(terms[:end])
	} else {
		p.exact.Set(&p.supports, matrixOf(p.rows, count, p.space.Width), p.distances)
		p.exact.Values(p.values, &p.supports, &p.records)
	}
	p.addTo(p.sum, terms[:end], false)
	if p.given != nil || p.kernel.Kind != kernelops.RBF { // whose values are not below 0
		for i, v := range p.values {
			p.values[i] = math.Abs(v)
		}
	}
	p.addTo(p.size, terms[:end], true)
	for _, t := range terms[:end] {
		p.alphas[t.slot] += math.Abs(t.coefficient)
	}
	return terms[end:]
}

// addTo adds the terms of a block to sums, or their magnitudes.
func (p *proofSums) addTo(sums []float64, terms []proofTerm, magnitudes bool) {
	n, place := p.records.Rows().Rows, -1
	last := -1
	for _, t := range terms {
		if t.support != last {
			place, last = place+1, t.support
		}
		coefficient := t.coefficient
		if magnitudes {
			coefficient = math.Abs(coefficient)
		}
		p.exact.Ops.AddScaled(sums[t.slot*n:(t.slot+1)*n], p.values[place*n:(place+1)*n], coefficient)
	}
}

// diagonal is at least k(x, x).
func (p *proofSums) diagonal(r record) float64 {
	row := r.X.Row(r.i)
	if p.given != nil {
		return p.given.diagonal(row[r.ordinal])
	}
	norm := p.norms.Norm(row)
	return p.norms.Magnitude(norm, norm)
}

// beyond is the fault of values so large that what is computed of them is no number any more.
func beyond() error {
	return protocol.InputFault(protocol.CodeInputLimit,
		"the values are too large: sums of their products are beyond float64").
		WithHint("Scale them (params.features.scale: standard), or lower params.C.")
}
