package supportvectormachine

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/jobs/learn/smo"
	"github.com/gram-compute/gram/protocol"
)

// metricPrefix begins the names of the metrics.
const metricPrefix = "svm"

// factMachines is how many machines have metrics of their own.
const factMachines = 64

// hasMargin reports whether what is measured bounds the largest margin: of classes, with a kernel that has a space.
func (m *model) hasMargin() bool {
	return m.classifies() && m.given == nil && m.early == nil && m.proves()
}

// classifies reports that labels are classes.
func (m *model) classifies() bool { return !m.regresses && !m.oneClass }

// needMargin refuses outputs about margins of jobs that have no margin.
func (p *Params) needMargin() error {
	if !p.Asked() {
		return nil
	}
	if p.Mode != modeClassify {
		return protocol.SpecFault("margin or support_vectors is true in mode %s, which has no margin", p.Mode).
			WithHint("Leave margin and support_vectors out: the model has the support vectors in any case.")
	}
	if p.Margin && p.Given() {
		return protocol.SpecFault("margin is true with kernel %s: margins are proved for kernels of vectors",
			kernels.Precomputed).
			WithHint("Leave margin out.")
	}
	kernel, err := p.Params.Of(1)
	if err != nil || !p.Margin {
		return err
	}
	if m := (&model{kernel: kernels.Function{Kernel: kernel}}); !m.proves() {
		return protocol.SpecFault("margin is true with a kernel that may not be positive semidefinite (%s), so that there "+
			"is no space to have a margin in", kernels.Text(kernel)).
			WithHint("Take kernel rbf, linear, or polynomial with a scale above 0 and an offset of at least 0; or leave " +
				"margin out.")
	}
	return nil
}

// marginMachines are the machines whose margins are told.
func (m *model) marginMachines() margin.Machines {
	return margin.Machines{Space: "in the space of the kernel, of planes whose bias is free", Name: m.machineName}
}

// marginTally is what leaves found about the margins in stage prove.
type marginTally struct {
	nearest []smo.Nearest // of each machine
	twins   []int32       // 1 of machines both of whose classes have one row
}

func newMarginTally(machines int) *marginTally {
	t := &marginTally{nearest: make([]smo.Nearest, machines), twins: make([]int32, machines)}
	for k := range t.nearest {
		t.nearest[k] = smo.NewNearest()
	}
	return t
}

// Fields lists the tally.
func (t *marginTally) Fields(f *jobs.Fields, machines int) {
	list := make([]float64, 0, 2*machines)
	for _, n := range t.nearest {
		list = append(list, n.Above, n.Below)
	}
	jobs.List(f, "margin.nearest", &list, machines, 2)
	jobs.List(f, "margin.twins", &t.twins, machines)
	if f.Reading() {
		t.nearest = make([]smo.Nearest, machines)
		for k := range t.nearest {
			t.nearest[k] = smo.Nearest{Above: list[2*k], Below: list[2*k+1]}
		}
	}
}

// plus joins what two neighbors found. Either both are of stage prove, or none.
func (t *marginTally) plus(right *marginTally) (*marginTally, error) {
	if t == nil && right == nil {
		return nil, nil
	}
	if t == nil || right == nil || len(t.twins) != len(right.twins) {
		return nil, jobs.Malformed("only one of two tallies has margins, or one of other machines")
	}
	both := newMarginTally(len(t.nearest))
	for k := range both.nearest {
		both.nearest[k] = t.nearest[k]
		both.nearest[k].Merge(right.nearest[k])
		both.twins[k] = t.twins[k] | right.twins[k]
	}
	return both, nil
}

// findTwins marks the machines of a record's class and of each support vector of another class that has the same row:
// no machine separates the two. Of two such records at least one is a support vector, once a machine is trained.
func (w *walk) findTwins(row []float32, class int) {
	for _, j := range w.places[hashOf(row)] {
		if other := int(w.class[j]); other != class && equalRows(row, w.matrix().Row(j)) {
			machine, _ := w.tally.classes.At(class, w.tally.classes.Slot(class, other))
			w.tally.margins.twins[machine] = 1
		}
	}
}

// placesOf are the support vectors by the hash of their row.
func (m *model) placesOf() map[uint64][]int {
	places := make(map[uint64][]int, m.len())
	for j := range m.len() {
		h := hashOf(m.matrix().Row(j))
		places[h] = append(places[h], j)
	}
	return places
}

// hashOf is one of equal rows (Fowler, Noll and Vo's FNV-1a, of words in place of octets).
func hashOf(row []float32) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range row {
		h = (h ^ uint64(math.Float32bits(v+0))) * 1099511628211 // a sum with 0 is not -0
	}
	return h
}

func equalRows(x, y []float32) bool {
	for j, v := range x {
		if v != y[j] {
			return false
		}
	}
	return true
}

// bound joins the bounds on a machine's margin that a pass of stage prove gives.
func (s *training) bound(k int, standing smo.Standing, all *marginTally) {
	if s.margins == nil || all == nil {
		return
	}
	s.margins[k] = s.margins[k].Join(smo.Bounds(standing, all.nearest[k]))
	if all.twins[k] == 1 {
		s.margins[k].Lo, s.margins[k].Hi = 0, 0
	}
}

// marginFacts are the bounds on the margins of the first machines, which then stay in the model if they are asked for.
func (s *training) marginFacts(facts *jobs.Facts, keep bool) {
	s.margins[:min(factMachines, len(s.margins))].Facts(facts, metricPrefix)
	if !keep {
		s.margins = nil
	}
}
