package kmeans

import (
	"cmp"
	"math"

	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// The metrics.
const (
	metricEuclidean = "euclidean"
	metricCosine    = "cosine"
)

// The ways to begin.
const (
	initRandom   = "random"
	initPlusPlus = "kmeans++"
	initParallel = "kmeans||"
	initFarthest = "farthest"
	initGiven    = "given"
)

var initNames = []string{initParallel, initPlusPlus, initRandom, initFarthest, initGiven}

// What to do about a cluster without records.
const (
	emptyFarthest = "farthest"
	emptyKeep     = "keep"
	emptyDrop     = "drop"
	emptyError    = "error"
)

// Bounds of parameters.
const (
	maxK          = 1 << 20
	maxRoundsEver = 10_000
	maxRestarts   = 1_000
	maxSilhouette = 4_096 // the silhouette compares all pairs
	maxColumns    = 1 << 14
)

// Params of a job of kind KMeans.
type Params struct {
	K                int         `json:"k"`
	Algorithm        string      `json:"algorithm"`
	Stiffness        float64     `json:"stiffness"`
	BatchSize        *int        `json:"batch_size,omitempty"`
	Split            string      `json:"split,omitempty"`
	Metric           string      `json:"metric"`
	Init             string      `json:"init"`
	InitRounds       int         `json:"init_rounds"`
	Oversampling     float64     `json:"oversampling"`
	Centers          [][]float64 `json:"centers,omitempty"`
	MaxRounds        int         `json:"max_rounds"`
	Tol              float64     `json:"tol"`
	Empty            string      `json:"empty"`
	Restarts         int         `json:"restarts"`
	Assignments      bool        `json:"assignments"`
	Distances        bool        `json:"distances"`
	Responsibilities bool        `json:"responsibilities"`
	Format           string      `json:"format"`
	SilhouetteSample int         `json:"silhouette_sample"`
	Indices          bool        `json:"indices"`
	features.Params
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return append([]params.Parameter{
		params.Whole("k", &p.K, 0, 1, maxK).Missing("required, but for init given").Says("The number of clusters."),
		params.Choice("algorithm", &p.Algorithm, algorithmLloyd, algorithmNames...).
			Says("How the centers move; soft shares each record out among centers by its responsibilities, minibatch " +
				"looks at some records a round, bisecting splits clusters by 2-means."),
		params.Number("stiffness", &p.Stiffness, 0, "[1e-30, 1e30]").Missing("required with algorithm soft").
			Says("Responsibilities are in proportion to exp(-stiffness |x - center|^2): 1 / (2 s^2) for clusters of " +
				"standard deviation s."),
		params.Optional("batch_size", &p.BatchSize).Missing("1024 with algorithm minibatch").Within("1 to 65536").
			Says("Records that are drawn for each round of algorithm minibatch."),
		params.Choice("split", &p.Split, "", splitDistortion, splitSize).
			Missing("distortion with algorithm bisecting").
			Says("The cluster that algorithm bisecting splits next: that of the greatest distortion, or weight."),
		params.Choice("metric", &p.Metric, metricEuclidean, metricEuclidean, metricCosine).
			Says("Distance of a record to a center; cosine is spherical k-means, which takes scale none or l2."),
		params.Choice("init", &p.Init, initParallel, initNames...).
			Says("First centers; given takes them from centers or spec.model."),
		params.Whole("init_rounds", &p.InitRounds, 5, 1, 100).
			Says("Passes of kmeans||, each of which draws candidates."),
		params.Number("oversampling", &p.Oversampling, 2, "(0, 100]").
			Says("Candidates that kmeans|| draws in a pass, as a multiple of k."),
		params.Value("centers", &p.Centers).Missing("none").Checked(p.checkCenters).
			Says("Centers to begin from, a row each, in the units of scaled vectors."),
		params.Whole("max_rounds", &p.MaxRounds, 300, 1, maxRoundsEver).
			Says("Most rounds; with algorithm minibatch their number, with bisecting those of each split."),
		params.Number("tol", &p.Tol, 0, "[0, 1)").
			Says("Stops once a round lowers J, with algorithm soft the free energy, by no more than this share. 0 " +
				"stops on unchanged assignments only, and with algorithm soft on unchanged centers."),
		params.Choice("empty", &p.Empty, emptyFarthest, emptyFarthest, emptyKeep, emptyDrop, emptyError).
			Says("What becomes of a cluster without records; farthest moves its center to the record farthest " +
				"from its own."),
		params.Whole("restarts", &p.Restarts, 1, 1, maxRestarts).
			Says("Runs from other first centers; the best is kept."),
	}, append(p.outputs(), p.Params.Parameters()...)...)
}

// outputs declares what is written or measured beside the model.
func (p *Params) outputs() []params.Parameter {
	return []params.Parameter{
		params.Flag("assignments", &p.Assignments, false).
			Says("Writes the cluster and the distance of each training record beside the model."),
		params.Flag("distances", &p.Distances, false).
			Says("Writes the distances of each training record to all centers beside the model, for k of at most " +
				"16384."),
		params.Flag("responsibilities", &p.Responsibilities, false).
			Says("Writes the responsibilities of all centers for each training record beside the model, with " +
				"algorithm soft."),
		params.Choice("format", &p.Format, parts.CSV, parts.CSV, parts.JSONL, parts.NPY).
			Says("Format of what is written of each record. npy has no names of records: the clusters alone, " +
				"or a row of k numbers for each."),
		params.Whole("silhouette_sample", &p.SilhouetteSample, 0, 0, maxSilhouette).
			Says("Training records to take the silhouette on, in all and of each cluster; 0 for none."),
		params.Flag("indices", &p.Indices, false).
			Says("Computes the indices of Calinski-Harabasz and Davies-Bouldin over all training records, in a pass " +
				"more, for k of at most 4096."),
	}
}

// Complete scales for cosine, and counts given centers.
func (p *Params) Complete() {
	if p.Metric == metricCosine && p.Scale == features.ScaleNone {
		p.Scale = features.ScaleL2
	}
	if p.Algorithm == algorithmBatch && p.BatchSize == nil {
		size := presetBatch
		p.BatchSize = &size
	}
	if p.Algorithm == algorithmBisecting && p.Split == "" {
		p.Split = splitDistortion
	}
	if p.Init == initGiven && p.K == 0 {
		p.K = len(p.Centers)
	}
}

// Check rejects parameters that contradict each other.
func (p *Params) Check() error {
	switch {
	case p.Init != initGiven && p.K == 0:
		return protocol.SpecFault("k, the number of clusters, is from 1 to %d, not 0", maxK)
	case p.Metric == metricCosine && p.Scale != features.ScaleL2:
		return protocol.SpecFault("metric cosine takes scale none or l2, not %s", p.Scale)
	case p.Init != initGiven && p.Centers != nil:
		return protocol.SpecFault("centers need init given")
	case p.Init == initGiven && p.Restarts > 1:
		return protocol.SpecFault(
			"restarts from given centers would all be the same; restarts is 1, not %d", p.Restarts)
	case p.Centers != nil && p.K != len(p.Centers):
		return protocol.SpecFault("k is %d, but there are %d centers", p.K, len(p.Centers))
	}
	return cmp.Or(p.checkAlgorithm(), p.checkSizes(), p.Params.Check())
}

// checkSizes rejects figures and outputs whose size follows k where that is too large.
func (p *Params) checkSizes() error {
	switch {
	case p.Indices && p.K > maxIndices:
		return protocol.SpecFault("indices compare all pairs of clusters: k is at most %d, not %d", maxIndices, p.K).
			WithHint("Choose a smaller k, or leave out params.indices.")
	case p.Distances && p.K > maxColumns:
		return protocol.SpecFault("distances have a column for each center: k is at most %d, not %d", maxColumns, p.K).
			WithHint("Choose a smaller k, or assignments, which have the nearest center alone.")
	}
	return nil
}

// checkCenters checks the centers by themselves; their width is checked when the data's is known.
func (p *Params) checkCenters() error {
	for i, row := range p.Centers {
		if len(row) == 0 || len(row) != len(p.Centers[0]) {
			return protocol.SpecFault("centers: row %d has %d numbers, row 0 has %d", i, len(row), len(p.Centers[0]))
		}
		for j, v := range row {
			if !(math.Abs(v) <= math.MaxFloat32) {
				return protocol.SpecFault("centers: row %d, number %d is beyond the range of float32", i, j)
			}
		}
	}
	return nil
}
