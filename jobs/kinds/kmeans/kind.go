package kmeans

import (
	"math"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "KMeans"

// Kind is k-means as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesModel: true, Params: params.Of[Params](),
		Summary: "k-means by Lloyd, with five ways to find first centers.",
		New:     New, Describe: describe.Of(readModel, (*model).describe),
		Predict: NewPredictor, Figures: jobs.FiguresOf(readModel, (*model).figures), LeastState: leastState}
}

// leastState is that of the centers, a float32 for each column: as many as the input says, or texts are hashed to.
func leastState(spec protocol.JobSpec) int64 {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return 0
	}
	columns := int64(max(spec.Spec.Input.Width, 1))
	if p.Hashing != nil {
		columns = 1 << p.Hashing.Bits
	}
	return int64(p.K) * columns * 4 // at most 2^20, 2^30 and 4
}

// job is what all phases of a job know.
type job struct {
	params Params
	seed   uint64
	train  jobs.Records
	way    dataset.Way // how records are named
}

// New makes the algorithm: phases "features", one that begins unless centers are given, "lloyd", "lloyd.refill" where
// the policy for empty clusters asks for it, and "finish".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	if err := p.checkModel(spec.Spec.Model != ""); err != nil {
		return nil, params.In("spec.params", err)
	}
	j := job{params: p, seed: spec.Spec.Repro.Seed, train: jobs.TrainingRecords(spec),
		way: jobs.WayOf(spec.Spec, jobs.Input)}
	space, err := features.NewBuilder(p.Params, spec, features.ComparesBy("spec.params.scale"))
	if err != nil {
		return nil, err
	}
	phases := jobs.Phases{space.Phase(j.begin)}
	if p.Init != initGiven {
		phases = append(phases, (&seedPhase{j}).phase())
	}
	phases = append(phases, (&lloydPhase{j}).phase())
	if p.Empty == emptyFarthest {
		phases = append(phases, (&refillPhase{j}).phase())
	}
	return append(phases, (&finishPhase{j}).phase()), nil
}

// checkModel holds the ways to give centers against each other.
func (p Params) checkModel(model bool) error {
	switch {
	case model && p.Init != initGiven:
		return protocol.SpecFault("spec.model gives centers to begin from, which needs init given, not %s", p.Init)
	case model && p.Centers != nil:
		return protocol.SpecFault("centers and spec.model both give centers; leave one out")
	case !model && p.Init == initGiven && p.Centers == nil:
		return protocol.SpecFault("init given needs centers, or spec.model")
	case model && p.Scale != features.ScaleNone && p.Scale != features.ScaleL2:
		return protocol.SpecFault(
			"the centers of spec.model lie in that model's scaling; scale is none or l2, not %s", p.Scale)
	}
	return nil
}

// firstPhase is the phase that a restart begins with.
func (j job) firstPhase() string {
	if j.params.Init == initGiven {
		return lloydName
	}
	return j.seedName()
}

// seedName names the phase that begins: letters only, for metrics and paths.
func (j job) seedName() string {
	return "init." + strings.NewReplacer("kmeans++", "plusplus", "kmeans||", "parallel").Replace(j.params.Init)
}

func (j job) cosine() bool { return j.params.Metric == metricCosine }

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
)

// Params of a job of kind KMeans.
type Params struct {
	K                int         `json:"k"`
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
	SilhouetteSample int         `json:"silhouette_sample"`
	features.Params
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return append([]params.Parameter{
		params.Whole("k", &p.K, 0, 1, maxK).Missing("required, but for init given").Says("The number of clusters."),
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
		params.Whole("max_rounds", &p.MaxRounds, 300, 1, maxRoundsEver).Says("Most rounds."),
		params.Number("tol", &p.Tol, 0, "[0, 1)").
			Says("Stops once a round lowers J by no more than this share; 0 stops on unchanged assignments only."),
		params.Choice("empty", &p.Empty, emptyFarthest, emptyFarthest, emptyKeep, emptyDrop, emptyError).
			Says("What becomes of a cluster without records; farthest moves its center to the record farthest " +
				"from its own."),
		params.Whole("restarts", &p.Restarts, 1, 1, maxRestarts).
			Says("Runs from other first centers; the best is kept."),
		params.Flag("assignments", &p.Assignments, false).
			Says("Writes the cluster and the distance of each training record beside the model."),
		params.Whole("silhouette_sample", &p.SilhouetteSample, 0, 0, maxSilhouette).
			Says("Training records to take the silhouette on; 0 for none."),
	}, p.Params.Parameters()...)
}

// Complete scales for cosine, and counts given centers.
func (p *Params) Complete() {
	if p.Metric == metricCosine && p.Scale == features.ScaleNone {
		p.Scale = features.ScaleL2
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
	return p.Params.Check()
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
