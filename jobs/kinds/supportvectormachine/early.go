package supportvectormachine

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/centers"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/smo"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func (p *Params) earlyParameter() params.Parameter {
	return params.Flag("early", &p.Early, false).Checked(p.checkEarly).
		Says("The model is the machines of the clusters: those of its nearest center decide a record. What is proved is about " +
			"the problem of each cluster, not about that of all records.").
		From("Hsieh, Si and Dhillon (2014), section 4.")
}

// checkEarly refuses early answers without clusters, in modes other than classify, and together with outputs that need
// a machine of all records.
func (p *Params) checkEarly() error {
	switch {
	case !p.Early:
	case p.Clusters == 0:
		return protocol.SpecFault("early is true without clusters: the early answer is that of the clusters").
			WithHint("Set clusters, or leave early out.")
	case p.Mode != modeClassify:
		return protocol.SpecFault("early is true in mode %s: early answers are for classes", p.Mode).
			WithHint("Leave early out.")
	case p.Probability:
		return protocol.SpecFault("probability is true with early, and decisions of different clusters have no " +
			"common scale").WithHint("Leave early out.")
	case p.Asked():
		return protocol.SpecFault("margin or support_vectors is true with early: they need machines of all records").
			WithHint("Leave early out.")
	}
	return nil
}

// early is the part of a model that only an early answer has: each of its machines is over the records of one cluster.
type early struct {
	centers []float32 // [clusters x width]
}

// machinesOf numbers the machines of a model.
func machinesOf(m *model) machines {
	parts := 1
	if m.early != nil {
		parts = clustersOf(m.early.centers, m.space.Width)
	}
	return machines{m.classes(), parts}
}

// clustersOf is the number of centers.
func clustersOf(centers []float32, width int) int { return len(centers) / max(1, width) }

// centersField lists centers, and reports whether there are any.
func centersField(f *jobs.Fields, name string, centers *[]float32, width int) bool {
	if !f.Has(name, *centers != nil) {
		return false
	}
	jobs.List(f, name, centers)
	n := clustersOf(*centers, width)
	f.Require(n*width == len(*centers) && n > 0 && n <= maxClusters && jobs.Finite(*centers), "%d values of centers, of "+
		"width %d", len(*centers), width)
	return true
}

// earlyFields lists the centers of an early answer.
func earlyFields(f *jobs.Fields, m *model) {
	e := early{}
	if m.early != nil {
		e = *m.early
	}
	if centersField(f, "early.centers", &e.centers, m.space.Width) {
		m.early = &e
	}
	f.Require(m.early == nil || m.classifies() && m.given == nil, "centers of a machine without classes or vectors")
}

// checkClusters refuses support vectors whose clusters are not below a number of clusters; 0 if they have no clusters.
func (s *supports) checkClusters(clusters int) error {
	if clusters == 0 && len(s.cluster) > 0 || clusters > 0 && len(s.cluster) != s.len() {
		return jobs.Malformed("%d support vectors have %d clusters", s.len(), len(s.cluster))
	}
	for i, k := range s.cluster {
		if k < 0 || int(k) >= clusters {
			return jobs.Malformed("support vector %d is of cluster %d, of %d", i, k, clusters)
		}
	}
	return nil
}

// beginEarly makes the machines of the clusters those of the model.
func (s *training) beginEarly() {
	s.early, s.centers = &early{s.centers}, nil
	at := newStanding(machinesOf(s.model).Machines())
	s.bias, s.violation, s.settled = at.bias, at.violation, at.settled
	s.model.begin()
	s.stage = stageTrain
}

// missing returns a machine one of whose classes has no record with a weight above 0 in any cluster, -1 if there is no
// such machine.
func (s *training) missing(all *tally) int {
	parts := machinesOf(s.model).parts
	for k := 0; k < len(all.extremes); k += parts {
		e := smo.NewExtremes()
		for _, part := range all.extremes[k : k+parts] {
			e.Merge(part)
		}
		if math.IsInf(e.Violation(), 0) {
			return k
		}
	}
	return -1
}

// clusterOf returns the cluster of a support vector, 0 without clusters.
func (s *supports) clusterOf(j int) int {
	if len(s.cluster) == 0 {
		return 0
	}
	return int(s.cluster[j])
}

// partOf returns the model of one cluster, which has no clusters.
func partOf(m *model, cluster int) *model {
	all := machinesOf(m)
	p := &model{space: m.space, kernel: m.kernel}
	for k := range m.classes().Machines() {
		p.bias = append(p.bias, m.bias[k*all.parts+cluster])
	}
	slots := m.classes().Slots()
	for j := range m.len() {
		if m.clusterOf(j) == cluster {
			p.ordinal, p.class = append(p.ordinal, m.ordinal[j]), append(p.class, m.class[j])
			p.alpha = append(p.alpha, m.alpha[j*slots:(j+1)*slots]...)
			p.supports.rows = append(p.supports.rows, m.matrix().Row(j)...)
		}
	}
	return p
}

// router decides each record by the predictor of its cluster.
type router struct {
	parts   []*predictor
	nearest *centers.Nearest
	cluster []int32
	rows    []float32
	width   int
}

func newRouter(m *model, reader *features.Reader, ops *kernelops.Set) *router {
	r := &router{nearest: centers.NewNearest(m.early.centers, m.space.Width, ops), width: m.space.Width}
	for k := range machinesOf(m).parts {
		r.parts = append(r.parts, newPredictor(partOf(m, k), reader, ops))
	}
	return r
}

// chunk appends the outcomes of some records.
func (r *router) chunk(c rows.Chunk, to []jobs.Outcome) ([]jobs.Outcome, error) {
	r.cluster = r.nearest.Add(r.cluster[:0], c.X)
	base := len(to)
	to = append(to, make([]jobs.Outcome, len(c.IDs))...)
	for k, p := range r.parts {
		some := rows.Chunk{}
		r.rows = r.rows[:0]
		for i, cluster := range r.cluster {
			if int(cluster) == k {
				some.IDs, r.rows = append(some.IDs, c.IDs[i]), append(r.rows, c.X.Row(i)...)
			}
		}
		if len(some.IDs) == 0 {
			continue
		}
		some.X = matrixOf(r.rows, len(some.IDs), r.width)
		p.outcomes = p.outcomes[:0]
		if err := p.chunk(some); err != nil {
			return nil, err
		}
		next := 0
		for i, cluster := range r.cluster {
			if int(cluster) == k {
				to[base+i] = p.outcomes[next]
				next++
			}
		}
	}
	return to, nil
}
