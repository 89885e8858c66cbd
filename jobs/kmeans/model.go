package kmeans

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
)

// modelVersion is the version of the model's layout.
const modelVersion = 1

// Arrays of a model, beside kind, version and the space's.
const (
	modelCenters     = "centers"                    // F64 [k, width], in scaled units, in lexicographic order
	modelMetric      = "metric"                     // U8 text
	modelRecords     = "clusters.records"           // I64 [k]: training records
	modelWeight      = "clusters.weight"            // F64 [k]
	modelCost        = "clusters.cost"              // F64 [k]: sum of w |x - mu|^2; J is half the sum of all
	modelContingency = "clusters.labels"            // I64 [labels, k]: training records by label
	modelInit        = "training.init"              // U8 text
	modelStop        = "training.stop"              // U8 text: unchanged, tolerance or max_rounds
	modelRounds      = "training.rounds"            // I64 scalar: Lloyd's rounds of the restart that was kept
	modelRestart     = "training.restart"           // I64 scalar: its number, from 0
	modelSilhouette  = "training.silhouette"        // F64 scalar, where asked for
	noSilhouette     = float64(-2)                  // stands for none; silhouettes are in [-1, 1]
	maxCount         = int64(1) << 53               // counts are exact in float64
	maxCenter        = float64(math.MaxFloat32) * 4 // after shifting back; a centre is a mean of float32
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
	silhouette      float64
}

func newModel(params Params, s *state, root *census) *model {
	return &model{space: s.space, centers: s.best.centers, metric: params.Metric, records: root.records, weight: root.weight,
		cost: root.cost, labels: root.labels, init: params.Init, stop: s.best.stop,
		rounds: int64(s.best.rounds), restart: int64(s.best.restart), silhouette: noSilhouette}
}

func (m *model) clusters() int { return len(m.centers) / m.space.Width }

func (m *model) cosine() bool { return m.metric == metricCosine }

// distortion is J of the final centres.
func (m *model) distortion() float64 {
	sum := 0.0
	for _, c := range m.cost {
		sum += c
	}
	return sum / 2
}

// agreement is how the clusters fall on the labels; ok is false without labels.
func (m *model) agreement() (c contingency, ok bool) {
	return contingency{m.labels, m.clusters()}, len(m.labels) > 0
}

// arrays writes the model: one byte string per content.
func (m *model) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	a.PutKind(KindName, modelVersion)
	m.space.Put(a)
	jobs.Put(a, modelCenters, m.centers, m.clusters(), m.space.Width)
	a.PutText(modelMetric, m.metric)
	jobs.Put(a, modelRecords, m.records)
	jobs.Put(a, modelWeight, m.weight)
	jobs.Put(a, modelCost, m.cost)
	jobs.Put(a, modelContingency, m.labels, m.space.Labels.Len(), m.clusters())
	a.PutText(modelInit, m.init)
	a.PutText(modelStop, m.stop)
	jobs.PutScalar(a, modelRounds, m.rounds)
	jobs.PutScalar(a, modelRestart, m.restart)
	if m.silhouette != noSilhouette {
		jobs.PutScalar(a, modelSilhouette, m.silhouette)
	}
	return a
}

// readModel loads a model in time and memory linear in its bytes, and refuses with
// jobs.Malformed what training would not write.
func readModel(a jobs.Arrays) (*model, error) {
	if err := a.CheckKind(KindName, modelVersion); err != nil {
		return nil, err
	}
	space, err := features.ReadSpace(a)
	if err != nil {
		return nil, err
	}
	r := jobs.ArrayReader{Arrays: a}
	m := &model{space: space, centers: jobs.ReadArray[float64](&r, modelCenters, -1, space.Width), metric: r.Text(modelMetric),
		init: r.Text(modelInit), stop: r.Text(modelStop), silhouette: noSilhouette,
		rounds: jobs.ReadScalar[int64](&r, modelRounds), restart: jobs.ReadScalar[int64](&r, modelRestart)}
	if r.Err != nil {
		return nil, r.Err
	}
	if len(m.centers) == 0 {
		return nil, jobs.Malformed("a model without centers")
	}
	k := m.clusters()
	m.records, m.weight, m.cost = jobs.ReadArray[int64](&r, modelRecords, k), jobs.ReadArray[float64](&r, modelWeight, k), jobs.ReadArray[float64](&r, modelCost, k)
	m.labels = jobs.ReadArray[int64](&r, modelContingency, space.Labels.Len(), k)
	if _, ok := a[modelSilhouette]; ok {
		m.silhouette = jobs.ReadScalar[float64](&r, modelSilhouette)
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return m, m.check()
}

// check holds a model against what training guarantees.
func (m *model) check() error {
	for i, v := range m.centers {
		if !(math.Abs(v) <= maxCenter) {
			return jobs.Malformed("center %d has a coordinate of %v", i/m.space.Width, v)
		}
	}
	known := slices.Contains([]string{metricEuclidean, metricCosine}, m.metric) &&
		slices.Contains(initNames, m.init) &&
		slices.Contains([]string{stopUnchanged, stopTolerance, stopRounds}, m.stop)
	switch {
	case !known:
		return jobs.Malformed("a model with metric %q, init %q, stop %q", m.metric, m.init, m.stop)
	case m.cosine() && m.space.Scale() != features.ScaleL2:
		return jobs.Malformed("a model with metric cosine and scale %s", m.space.Scale())
	case !counts(m.records) || !counts(m.labels):
		return jobs.Malformed("a model's counts are from 0 to 2^53 together")
	case !sums(m.weight) || !sums(m.cost):
		return jobs.Malformed("a model's sums are finite and not below 0")
	case m.rounds < 1 || m.rounds > maxRoundsEver || m.restart < 0 || m.restart >= maxRestarts:
		return jobs.Malformed("a model of restart %d, round %d", m.restart, m.rounds)
	case m.silhouette != noSilhouette && !(math.Abs(m.silhouette) <= 1):
		return jobs.Malformed("a model with a silhouette of %v", m.silhouette)
	}
	return nil
}

// counts reports whether no count is below 0 and their sum is exact in float64.
func counts(list []int64) bool {
	sum := int64(0)
	for _, n := range list {
		if n < 0 || n > maxCount-sum {
			return false
		}
		sum += n
	}
	return true
}

func sums(list []float64) bool {
	sum := 0.0
	for _, v := range list {
		if !(v >= 0) {
			return false
		}
		sum += v
	}
	return sum < math.Inf(1)
}

// metrics are the figures of the finished model.
func (m *model) metrics() ([]jobs.Metric, error) {
	type figure struct {
		name  string
		value any
	}
	figures := []figure{{"kmeans.distortion", m.distortion()}, {"kmeans.rounds", m.rounds}, {"kmeans.restart", m.restart},
		{"kmeans.stop", m.stop}, {"kmeans.sizes", m.records}}
	if c, ok := m.agreement(); ok {
		figures = append(figures, figure{"kmeans.ari", c.adjustedRand()}, figure{"kmeans.nmi", c.normalizedMutualInformation()})
	}
	if m.silhouette != noSilhouette {
		figures = append(figures, figure{"kmeans.silhouette", m.silhouette})
	}
	var metrics []jobs.Metric
	for _, f := range figures {
		metric, err := jobs.NewMetric(f.name, f.value)
		if err != nil {
			return nil, err
		}
		metrics = append(metrics, metric)
	}
	return metrics, nil
}
