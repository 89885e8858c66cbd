package kmeans

import (
	"encoding/json"
	"math"

	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/validate"
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
)

// Params of a job of kind KMeans.
type Params struct {
	K int `json:"k"` // clusters; with given centres it may be left out
	// Metric is "euclidean" or "cosine" (spherical k-means, which takes scale none or l2).
	Metric string `json:"metric"`
	// Init is "kmeans||", "kmeans++", "random", "farthest", or "given": by Centers or by spec.model, a model
	// of kind KMeans.
	Init string `json:"init"`
	// InitRounds and Oversampling are those of "kmeans||": passes that draw, and candidates drawn in each, as a multiple of k.
	InitRounds   int     `json:"init_rounds"`
	Oversampling float64 `json:"oversampling"`
	// Centers to begin from, a row each, in the units of scaled vectors.
	Centers   [][]float64 `json:"centers,omitempty"`
	MaxRounds int         `json:"max_rounds"`
	// Tol stops after a round in which J fell by no more than Tol times what it was before; 0 stops on unchanged assignments only.
	Tol float64 `json:"tol"`
	// Empty says what becomes of a cluster without records: "farthest" (its centre moves to the record farthest from
	// its own), "keep", "drop" or "error".
	Empty    string `json:"empty"`
	Restarts int    `json:"restarts"`
	// Assignments writes the cluster and the distance of each training record beside the model.
	Assignments bool `json:"assignments"`
	// SilhouetteSample is a number of training records to take the silhouette on; 0 for none.
	SilhouetteSample int `json:"silhouette_sample"`
	features.Params
}

// DefaultParams begin by kmeans|| and run until no assignment changes, for 300 rounds at most.
func DefaultParams() Params {
	return Params{Metric: metricEuclidean, Init: initParallel, InitRounds: 5, Oversampling: 2, MaxRounds: 300,
		Empty: emptyFarthest, Restarts: 1, Params: features.DefaultParams()}
}

// Defaults returns params with every default written in; a *protocol.Fault of
// CodeSpecInvalid says what is wrong with them.
func Defaults(params json.RawMessage) (json.RawMessage, error) {
	p, err := parseParams(params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

func parseParams(params json.RawMessage) (Params, error) {
	p := DefaultParams()
	if err := validate.Decode(params, &p); err != nil {
		return Params{}, err
	}
	if p.Metric == metricCosine && p.Scale == features.ScaleNone {
		p.Scale = features.ScaleL2
	}
	if p.Init == initGiven && p.K == 0 {
		p.K = len(p.Centers)
	}
	if err := p.check(); err != nil {
		return Params{}, validate.In("spec.params", err)
	}
	return p, nil
}

func (p Params) check() error {
	for _, err := range []error{
		validate.OneOf("metric", p.Metric, metricEuclidean, metricCosine),
		validate.OneOf("init", p.Init, initParallel, initPlusPlus, initRandom, initFarthest, initGiven),
		validate.OneOf("empty", p.Empty, emptyFarthest, emptyKeep, emptyDrop, emptyError),
		validate.Within("init_rounds", p.InitRounds, 1, 100),
		validate.Within("max_rounds", p.MaxRounds, 1, maxRoundsEver),
		validate.Within("restarts", p.Restarts, 1, maxRestarts),
		validate.Within("silhouette_sample", p.SilhouetteSample, 0, maxSilhouette),
		p.checkNumbers(), p.checkGiven(), p.Params.Check(),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (p Params) checkNumbers() error {
	switch {
	case p.Init != initGiven && (p.K < 1 || p.K > maxK):
		return protocol.SpecFault("k, the number of clusters, is from 1 to %d, not %d", maxK, p.K)
	case !(p.Oversampling > 0 && p.Oversampling <= 100):
		return protocol.SpecFault("oversampling is above 0 and at most 100, not %v", p.Oversampling)
	case !(p.Tol >= 0 && p.Tol < 1):
		return protocol.SpecFault("tol is in [0, 1), not %v", p.Tol)
	case p.Metric == metricCosine && p.Scale != features.ScaleL2:
		return protocol.SpecFault("metric cosine takes scale none or l2, not %s", p.Scale)
	}
	return nil
}

// checkGiven checks the centers by themselves; their width is checked when the data's is known.
func (p Params) checkGiven() error {
	switch {
	case p.Init != initGiven && p.Centers != nil:
		return protocol.SpecFault("centers need init given")
	case p.Init == initGiven && p.Restarts > 1:
		return protocol.SpecFault(
			"restarts from given centers would all be the same; restarts is 1, not %d", p.Restarts)
	case p.Centers != nil && p.K != len(p.Centers):
		return protocol.SpecFault("k is %d, but there are %d centers", p.K, len(p.Centers))
	}
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
