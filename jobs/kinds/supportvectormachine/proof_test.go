package supportvectormachine

import (
	"math"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/kernelops"
)

// decide sums up the decisions on a row of a class.
func (p *proofSums) decide(row []float32, class int) { p.decideAll(matrixOf(row, 1, len(row)), class) }

// The decisions of the proof are sums over all support vectors, over more of them than a block has, by each kernel.
func TestProofSums(t *testing.T) {
	records := groups(700, 3, 3)
	for _, kernel := range []string{"rbf", "linear", "polynomial"} {
		m, _ := train(t, `{"kernel":"`+kernel+`","C":1e-3,"max_rounds":4,"working_set":1024}`, records)
		if m.len() <= proofSupports {
			t.Fatalf("%s: %d support vectors are one block", kernel, m.len())
		}
		for class := range 3 {
			checkProof(t, m, class, records)
		}
	}
}

func checkProof(t *testing.T, m *model, class int, records []jobstest.Record) {
	t.Helper()
	p, classes := newProofSums(m, kernelops.Best()), m.classes()
	var rows []float32
	for i := class; i < 30; i += 3 {
		rows = append(rows, records[i].Dense...)
	}
	p.decideAll(matrixOf(rows, 10, 3), class)
	for i := range 10 {
		for slot := range classes.Slots() {
			machine, _ := classes.At(class, slot)
			first, second := classes.Pair(machine)
			want, size := 0.0, 0.0
			for j, y := range m.class {
				if int(y) == first || int(y) == second {
					a := m.alpha[j*classes.Slots()+classes.Slot(int(y), first+second-int(y))]
					term := a * kernels.Exact{Kernel: m.kernel.Kernel}.Value(rows[3*i:3*i+3], m.matrix().Row(j))
					want, size = want+classes.Side(machine, int(y))*term, size+math.Abs(term)
				}
			}
			at := slot*10 + i
			if math.Abs(p.sum[at]-want) > 1e-12*size || math.Abs(p.size[at]-size) > 1e-12*size {
				t.Fatalf("class %d, machine %d: %v of %v, not %v of %v", class, machine, p.sum[at], p.size[at], want,
					size)
			}
		}
	}
}
