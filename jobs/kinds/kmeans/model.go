package kmeans

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

const (
	noSilhouette = float64(-2) // stands for none; silhouettes are in [-1, 1]

	maxCenter = float64(math.MaxFloat32) * 4 // after shifting back; a center is a mean of float32
)

// model is a trained model.
type model struct {
	space           *features.Space
	centers         []float64
	metric          string
	records         []int64
	weight, cost    []float64
	labels          []int64
	init, stop      string
	rounds, restart int64
	algorithm       string
	stiffness       float64 // of a soft model; 0 of others
	freeEnergy      float64 // of the same, with its centers
	tree            *tree   // of a bisecting model; nil of others
	silhouette      float64
	silhouettes     []float64 // of each cluster; noSilhouette without records in the sample. nil without a sample
	indices         *indices  // nil unless wanted and defined
}

func newModel(params Params, s *state, root *census) *model {
	return &model{space: s.space, centers: s.best.centers, metric: params.Metric, records: root.records,
		weight: root.weight.Floats(),
		cost:   root.cost.Floats(), labels: root.labels, init: params.Init, stop: s.best.stop,
		algorithm: params.Algorithm, stiffness: params.Stiffness, freeEnergy: root.freeEnergy(), tree: s.best.tree,
		rounds: int64(s.best.rounds), restart: int64(s.best.restart), silhouette: noSilhouette}
}

func (m *model) clusters() int { return len(m.centers) / m.space.Width }

func (m *model) center(j int) []float64 { return m.centers[j*m.space.Width : (j+1)*m.space.Width] }

// assigner finds the clusters of records.
func (m *model) assigner(ops *kernelops.Set) *assigner {
	near := newAssigner(ops, m.centers, origin(m.space))
	near.tree = m.tree
	return near
}

func (m *model) cosine() bool { return m.metric == metricCosine }

// distortion is J of the final centers.
func (m *model) distortion() float64 { return sums.Total(m.cost) / 2 }

// agreement is how the clusters fall on the labels; ok is false without labels.
func (m *model) agreement() (c contingency, ok bool) {
	return contingency{m.labels, m.clusters()}, len(m.labels) > 0
}

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	f.Kind(KindName, 1)
	jobs.Make(f, &m.space).Fields(f)
	jobs.List(f, "centers", &m.centers, -1, m.space.Width) // in scaled units, in lexicographic order
	f.Require(len(m.centers) > 0, "a model without centers")
	k := m.clusters()
	f.Choice("metric", &m.metric, metricEuclidean, metricCosine)
	jobs.List(f, "clusters.records", &m.records, k) // training records
	jobs.List(f, "clusters.weight", &m.weight, k)
	jobs.List(f, "clusters.cost", &m.cost, k)                           // sum of w |x - mu|^2; J is half the sum of all
	jobs.List(f, "clusters.labels", &m.labels, m.space.Labels.Len(), k) // training records by label
	f.Choice("training.init", &m.init, initNames...)
	m.algorithmFields(f)
	f.Choice("training.stop", &m.stop, stopUnchanged, stopTolerance, stopRounds)
	jobs.Scalar(f, "training.rounds", &m.rounds)   // Lloyd's rounds of the restart that was kept
	jobs.Scalar(f, "training.restart", &m.restart) // its number, from 0
	if f.Has("training.silhouette", m.silhouette != noSilhouette) {
		jobs.Scalar(f, "training.silhouette", &m.silhouette)
		jobs.Optional(f, "clusters.silhouette", &m.silhouettes, k)
	}
	if f.Has("training.calinski_harabasz", m.indices != nil) {
		x := jobs.Make(f, &m.indices)
		jobs.Scalar(f, "training.calinski_harabasz", &x.calinskiHarabasz)
		jobs.Scalar(f, "training.davies_bouldin", &x.daviesBouldin)
	}
	f.Check(m.check)
}

// algorithmFields lists what models of the first algorithm, Lloyd's, do not have.
func (m *model) algorithmFields(f *jobs.Fields) {
	if !f.Has("training.algorithm", m.algorithm != algorithmLloyd) {
		m.algorithm = algorithmLloyd
		return
	}
	f.Choice("training.algorithm", &m.algorithm, algorithmNames...)
	if m.algorithm == algorithmBisecting {
		f.Require(m.clusters() > 1, "a tree of one cluster")
		jobs.Make(f, &m.tree).Fields(f, "tree", m.clusters(), m.space.Width)
	}
	if m.algorithm == algorithmSoft {
		jobs.Scalar(f, "soft.stiffness", &m.stiffness)
		jobs.Scalar(f, "soft.free_energy", &m.freeEnergy)
		f.Require(1e-30 <= m.stiffness && m.stiffness <= 1e30 && m.clusters() <= maxSoft,
			"a soft model of %d clusters with stiffness %v", m.clusters(), m.stiffness)
		f.Require(m.freeEnergy >= 0 && m.freeEnergy <= math.MaxFloat64, "a free energy of %v", m.freeEnergy)
	}
}

// readModel loads a model in time and memory linear in its bytes, and refuses with
// jobs.Malformed what training would not write.
func readModel(a jobs.Arrays) (*model, error) { return jobs.Read(a, &model{silhouette: noSilhouette}) }

// check compares a model with what training guarantees.
func (m *model) check() error {
	centers := m.centers
	if m.tree != nil {
		centers = slices.Concat(centers, m.tree.centers)
	}
	for i, v := range centers {
		if !(math.Abs(v) <= maxCenter) {
			return jobs.Malformed("center %d has a coordinate of %v", i/m.space.Width, v)
		}
	}
	switch {
	case m.cosine() && m.space.Scale() != features.ScaleL2:
		return jobs.Malformed("a model with metric cosine and scale %s", m.space.Scale())
	case !jobs.Exact(m.records, 0) || !jobs.Exact(m.labels, 0):
		return jobs.Malformed("a model's counts are from 0 to 2^53 together")
	case !finiteSum(m.weight) || !finiteSum(m.cost):
		return jobs.Malformed("a model's sums are finite and not below 0")
	case m.rounds < 1 || m.rounds > maxRoundsEver && m.tree == nil || m.restart < 0 || m.restart >= maxRestarts:
		return jobs.Malformed("a model of restart %d, round %d", m.restart, m.rounds)
	case m.silhouette != noSilhouette && !(math.Abs(m.silhouette) <= 1):
		return jobs.Malformed("a model with a silhouette of %v", m.silhouette)
	case m.indices != nil && !finiteSum([]float64{m.indices.calinskiHarabasz, m.indices.daviesBouldin}):
		return jobs.Malformed("a model with indices of %v", *m.indices)
	}
	for _, s := range m.silhouettes {
		if s != noSilhouette && !(math.Abs(s) <= 1) {
			return jobs.Malformed("a cluster with a silhouette of %v", s)
		}
	}
	return nil
}

func finiteSum(list []float64) bool {
	sum := 0.0
	for _, v := range list {
		if !(v >= 0) {
			return false
		}
		sum += v
	}
	return sum < math.Inf(1)
}

// knownSilhouettes are those of the clusters, nil of a cluster without records in the sample.
func (m *model) knownSilhouettes() []*float64 {
	list := make([]*float64, len(m.silhouettes))
	for j, s := range m.silhouettes {
		if s != noSilhouette {
			list[j] = &s
		}
	}
	return list
}

// metrics are the figures of the finished model. Indices that are wanted and not defined are null.
func (m *model) metrics(wantIndices bool) ([]jobs.Metric, error) {
	var facts jobs.Facts
	facts.Add("kmeans.distortion", m.distortion())
	if m.stiffness > 0 {
		facts.Add("kmeans.free_energy", m.freeEnergy)
	}
	facts.Add("kmeans.rounds", m.rounds)
	facts.Add("kmeans.restart", m.restart)
	facts.Add("kmeans.stop", m.stop)
	facts.Add("kmeans.sizes", m.records)
	if c, ok := m.agreement(); ok {
		facts.Add("kmeans.ari", c.adjustedRand())
		facts.Add("kmeans.nmi", c.normalizedMutualInformation())
	}
	if m.silhouette != noSilhouette {
		facts.Add("kmeans.silhouette", m.silhouette)
		facts.Add("kmeans.silhouettes", m.knownSilhouettes())
	}
	switch {
	case m.indices != nil:
		facts.Add("kmeans.calinski_harabasz", m.indices.calinskiHarabasz)
		facts.Add("kmeans.davies_bouldin", m.indices.daviesBouldin)
	case wantIndices: // not defined
		facts.Add("kmeans.calinski_harabasz", nil)
		facts.Add("kmeans.davies_bouldin", nil)
	}
	return facts.Metrics()
}
