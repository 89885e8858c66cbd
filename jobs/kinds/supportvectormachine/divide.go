package supportvectormachine

import (
	"context"
	"fmt"
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/centers"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/learn/voting"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// Bounds of params.clusters, and of the machines of all clusters: a round selects records for each.
const (
	maxClusters      = 256
	maxLocalMachines = 1 << 15
)

// Dividing are the parameters of the local start.
type Dividing struct {
	Clusters int  `json:"clusters,omitempty"`
	Early    bool `json:"early,omitempty"`
}

func (p *Params) clusterParameter() params.Parameter {
	return params.Whole("clusters", &p.Clusters, 0, 0, maxClusters).
		Says("Number of clusters. Training begins with machines for the records of each cluster, and goes on from their " +
			"coefficients; 0 for no such start. What is proved is the same as without it, unless early is true.").
		From("Hsieh, Si and Dhillon, A divide-and-conquer solver for kernel support vector machines, ICML 2014.")
}

// checkClusters refuses clusters of given kernel values, which are no vectors, and of one class, whose coefficients
// must not begin at 0.
func (p *Params) checkClusters() error {
	switch {
	case p.Clusters == 0:
	case p.Given():
		return protocol.SpecFault("clusters is %d with kernel %s: only vectors have clusters", p.Clusters, p.Kernel).
			WithHint("Leave clusters out.")
	case p.oneClass():
		return protocol.SpecFault("clusters is %d in mode %s, whose coefficients have a sum from the start", p.Clusters,
			modeOneClass).WithHint("Leave clusters out.")
	}
	return nil
}

// machines numbers the machines of the current stage: one for each two classes, or with clusters one for each two
// classes and cluster. Those of two classes follow one another, by cluster.
type machines struct {
	voting.Classes
	parts int // clusters, at least 1
}

// Machines is the number of machines.
func (m machines) Machines() int { return m.Classes.Machines() * m.parts }

// Pair returns the classes of a machine.
func (m machines) Pair(machine int) (first, second int) { return m.Classes.Pair(machine / m.parts) }

// Side returns the side of a class in a machine, see voting.Classes.
func (m machines) Side(machine, class int) float64 { return m.Classes.Side(machine/m.parts, class) }

// Of returns the machine of a class at a slot (see voting.Classes) over the records of a cluster, and the class's side.
func (m machines) Of(class, slot, cluster int) (machine int, side float64) {
	machine, side = m.At(class, slot)
	return machine*m.parts + cluster, side
}

// group numbers the records of a class and a cluster.
func (m machines) group(class, cluster int) int { return class*m.parts + cluster }

// groups is the number of groups.
func (m machines) groups() int { return int(m.Classes) * m.parts }

// standing is the progress of machines, one value each.
type standing struct {
	bias, violation []float64
	settled         []int32 // 1 if the violation is small enough
}

// newStanding is that of machines before their first round.
func newStanding(machines int) *standing {
	s := &standing{make([]float64, machines), make([]float64, machines), make([]int32, machines)}
	for k := range s.violation {
		s.violation[k] = math.MaxFloat64
	}
	return s
}

// standing returns that of the machines of the current stage. It shares the memory of the state.
func (s *training) standing() standing {
	if s.dividing() {
		return *s.local
	}
	return standing{s.bias, s.violation, s.settled}
}

// dividing reports whether the state is in the local phase: its machines are those of clusters, and not the model's.
func (s *training) dividing() bool {
	return s.local != nil && (s.stage == stageTrain || s.stage == stageFetch || s.stage == stageCollect)
}

// machines numbers the machines of the current stage.
func (s *training) machines() machines {
	if s.dividing() {
		return machines{s.classes(), clustersOf(s.centers, s.space.Width)}
	}
	return machinesOf(s.model)
}

// apart reports whether the machines of the current stage are those of clusters, in the local phase or as the model: no
// kernel value is of records of two clusters.
func (s *training) apart() bool { return s.dividing() || s.early != nil }

// localFields lists the state of the local phase.
func (s *training) localFields(f *jobs.Fields) {
	centersField(f, "centers", &s.centers, s.space.Width)
	if f.Has("local.bias", s.local != nil) {
		if f.Reading() {
			s.local = &standing{}
		}
		n := clustersOf(s.centers, s.space.Width) * s.classes().Machines()
		jobs.List(f, "local.bias", &s.local.bias, n)
		jobs.List(f, "local.violation", &s.local.violation, n)
		jobs.List(f, "local.settled", &s.local.settled, n)
	}
}

// localTol times params.tol is the violation at which a machine of the local phase is done. The machines of all records
// train on from there.
const localTol = 10

// tol is the violation at which a machine of the current stage is done.
func (p *trainPhase) tol(s *training) float64 {
	if s.dividing() {
		return float64(localTol * p.Params.Tol)
	}
	return p.Params.Tol
}

// The centers are those of a sample of at most sampleRows records and sampleValues values, but of at least two records
// for each of maxClusters.
const (
	sampleRows   = 4096
	sampleValues = 1 << 22
)

func newSample(width int) *sampling.Sample {
	return sampling.New(max(2*maxClusters, min(sampleRows, sampleValues/max(1, width))))
}

// centerRace draws the sample of records for the centers.
func (p *trainPhase) centerRace() *sampling.Race {
	return sampling.NewRace(p.Seed, "supportvectormachine/centers")
}

// offer offers a record to the sample. The draw is by ordinal, so it does not depend on files.
func (w *walk) offer(r record) {
	time := w.race.NumberTime(uint64(r.ordinal), 1, w.tally.sample.Limit())
	w.tally.sample.Offer(time, dataset.Identity{Offset: r.ordinal}, r.X.Row(r.i))
}

// divided ends stage divide: it finds the centers, and begins the training of the machines of the clusters.
func (p *trainPhase) divided(s *training, all *tally, facts *jobs.Facts) error {
	if all.sample == nil || all.sample.Len() == 0 {
		return jobs.Malformed("a tally without a sample of records")
	}
	draws := all.sample.Draws()
	if width := len(draws[0].Row); width != s.space.Width {
		return jobs.Malformed("a sample of rows of %d numbers, not %d", width, s.space.Width)
	}
	s.centers = centers.Of(draws, p.Params.Clusters, philox.New(p.Seed, "supportvectormachine/centers/first"))
	facts.Add("svm.clusters", clustersOf(s.centers, s.space.Width))
	if p.Params.Early {
		s.beginEarly()
	} else {
		s.beginLocal()
	}
	return nil
}

// beginLocal begins the local phase, if there are centers. All trainings of a job share them.
func (s *training) beginLocal() {
	if len(s.centers) > 0 {
		s.local, s.stage = newStanding(clustersOf(s.centers, s.space.Width)*s.classes().Machines()), stageTrain
	}
}

// joins ends the local phase: the next round computes f of all records from its support vectors.
func (s *training) joins(all *tally, facts *jobs.Facts) {
	facts.Add(s.metric("local.rounds"), s.rounds)
	facts.Add(s.metric("local.supports"), len(all.found.ordinal))
	s.supports, s.working, s.rows = all.found, members{}, table{width: s.space.Width}
	s.local, s.stage = nil, stageJoin
}

// metric returns the name of a metric of the current training: of one without a fold, with the fold's number.
func (s *training) metric(name string) string {
	if s.calibrating.leavesOut() {
		return fmt.Sprintf("svm.fold.%d.%s", s.calibrating.fold, name)
	}
	return "svm." + name
}

// divide sets the clusters of the records of a chunk: as carried, or in the first round those of the nearest centers.
func (w *walk) divide(base int, c rows.Chunk) error {
	if !w.apart() {
		return nil
	}
	from, to := base/w.perRecord(), base/w.perRecord()+len(c.IDs)
	if len(w.before.cluster) == 0 {
		if w.nearest == nil {
			list := w.centers
			if w.early != nil {
				list = w.early.centers
			}
			w.nearest = centers.NewNearest(list, w.space.Width, w.evaluator.Ops)
		}
		w.after.cluster = w.nearest.Add(w.after.cluster, c.X)
		return nil
	}
	if to > len(w.before.cluster) {
		return jobs.Malformed("%d clusters are carried, fewer than the block has records", len(w.before.cluster))
	}
	for _, k := range w.before.cluster[from:to] {
		if k < 0 || int(k) >= w.tally.classes.parts {
			return jobs.Malformed("a record of cluster %d is carried, of %d", k, w.tally.classes.parts)
		}
	}
	w.after.cluster = append(w.after.cluster, w.before.cluster[from:to]...)
	return nil
}

// clusterAt returns the cluster of the record of a coefficient, 0 without clusters.
func (w *walk) clusterAt(at int) int {
	if len(w.after.cluster) == 0 {
		return 0
	}
	return int(w.after.cluster[at/w.perRecord()])
}

// stays reports whether no decision on the records of a group changes in this round: towards the end few clusters
// train.
func (w *walk) stays(group int) bool {
	return w.stage != stageProve && w.stage != stageJoin && len(w.moves[group].terms) == 0
}

// plusSamples merges the samples of two tallies. Either both have one, or neither.
func plusSamples(a, b *sampling.Sample, width int) (*sampling.Sample, error) {
	switch {
	case a == nil && b == nil:
		return nil, nil
	case a == nil || b == nil:
		return nil, jobs.Malformed("only one of two tallies has a sample")
	}
	both := newSample(width)
	if err := both.Merge(a); err != nil {
		return nil, err
	}
	return both, both.Merge(b)
}

// joinedClusters concatenates the clusters of the support vectors of two tallies, nil if they have no clusters.
func joinedClusters(left, right *supports) ([]int32, error) {
	if left.cluster == nil && right.cluster == nil {
		return nil, nil
	}
	if len(left.cluster) != left.len() || len(right.cluster) != right.len() {
		return nil, jobs.Malformed("%d and %d support vectors have %d and %d clusters", left.len(), right.len(),
			len(left.cluster), len(right.cluster))
	}
	return joined(left.cluster, right.cluster), nil
}

// sums is the number of sums of a tally: 0 in the local phase, whose machines do not come to stage prove.
func (s *training) sums() int {
	if s.dividing() {
		return 0
	}
	return termSums * machinesOf(s.model).Machines()
}

// joinRows is the number of support vectors of the local phase whose kernel values are computed at a time.
const joinRows = 256

// join computes f of the records of a class anew, from all support vectors of the local phase, with the float32 kernel
// values of training: stage prove measures the error that is left. O(records * supports * width).
func (w *walk) join(g *group, class, base int, c rows.Chunk) error {
	n, slots := len(g.records), w.model.classes().Slots()
	if w.joining[class] == nil {
		w.joining[class] = (&proofSums{model: w.model}).termsOf(class)
	}
	w.sum = kernelops.Resize(w.sum, n*slots)
	clear(w.sum)
	for terms := w.joining[class]; len(terms) > 0; {
		var err error
		if terms, err = w.joinSome(g, terms); err != nil {
			return err
		}
	}
	for slot := range slots {
		for i, r := range g.records {
			f := w.sum[slot*n+i]
			if f-f != 0 {
				return kernels.Beyond(c.IDs[r], w.kernel.Kernel)
			}
			w.setDecision(base+r*w.perRecord(), slot, f)
		}
	}
	return nil
}

// joinSome adds the terms of the first support vectors to the sums of a group, and returns the others.
func (w *walk) joinSome(g *group, terms []proofTerm) ([]proofTerm, error) {
	end, count, last := 0, 0, -1
	w.moved = w.moved[:0]
	for ; end < len(terms) && (count < joinRows || terms[end].support == last); end++ {
		if j := terms[end].support; j != last {
			w.moved, last = append(w.moved, w.matrix().Row(j)...), j
			count++
		}
	}
	n := len(g.records)
	w.points.Set(w.coarse, w.evaluator.Ops, matrixOf(w.moved, count, w.space.Width))
	w.values = kernelops.Resize(w.values, count*n)
	tile := matrixOf(w.values, count, n)
	if err := w.evaluator.Matrix(w.coarse, tile, &w.points, &g.points); err != nil {
		return nil, err
	}
	place := -1
	last = -1
	for _, t := range terms[:end] {
		if t.support != last {
			place, last = place+1, t.support
		}
		w.evaluator.Ops.Mixed.Axpy(w.sum[t.slot*n:(t.slot+1)*n], tile.Row(place), t.coefficient)
	}
	return terms[end:], nil
}

// work ends a round of stage divide, train or join: it finds the centers, or chooses working sets.
func (p *trainPhase) work(ctx context.Context, s *training, all *tally, facts *jobs.Facts) error {
	switch s.stage {
	case stageDivide:
		return p.divided(s, all, facts)
	case stageJoin:
		s.supports, s.stage = supports{}, stageTrain
	}
	return p.train(ctx, s, all, facts)
}

// collected ends stage collect: in the local phase stage join follows, otherwise stage prove.
func (s *training) collected(all *tally, facts *jobs.Facts) error {
	if s.dividing() {
		s.joins(all, facts)
		return nil
	}
	clusters := 0
	if s.early != nil && all.found.len() > 0 {
		clusters = machinesOf(s.model).parts
	}
	if err := all.found.checkClusters(clusters); err != nil {
		return err
	}
	s.supports, s.working, s.rows, s.stage = all.found, members{}, table{width: s.space.Width}, stageProve
	if all.leftOut == 0 {
		s.whole = 1
	}
	for k, e := range all.extremes {
		s.bias[k] = e.Bias()
	}
	return nil
}

// checkProof refuses sums of another number of machines and, with params.early, a class all of whose records weigh 0.
func (p *trainPhase) checkProof(s *training, all *tally) error {
	if all.terms.Len() != termSums*len(s.proofs) {
		return jobs.Malformed("a tally of %d sums of %d machines", all.terms.Len(), len(s.proofs))
	}
	if s.early != nil {
		if k := s.missing(all); k >= 0 {
			return p.weightless(s, k)
		}
	}
	return nil
}
