package kmeans

import (
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
		Summary: "k-means by Lloyd, soft, mini-batch and bisecting k-means, with five ways to find first centers.",
		New:     New, Describe: describe.Of(readModel, (*model).describe),
		Predict: NewPredictor, Figures: jobs.FiguresOf(readModel, (*model).figures), LeastState: leastState}
}

// leastState is that of the centers, a float32 for each column: as many as the spec tells of.
func leastState(spec protocol.JobSpec) int64 {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return 0
	}
	columns := max(p.LeastWidth(spec.Spec.Input), 1)
	return int64(p.K) * columns * 4 // at most 2^20, 2^31 and 4
}

// job is what all phases of a job know.
type job struct {
	params Params
	seed   uint64
	train  jobs.Records
	whole  bool        // train keeps all records
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
		whole: !spec.Spec.Input.Split.HoldsOut(),
		way:   jobs.WayOf(spec.Spec, jobs.Input)}
	space, err := features.NewBuilder(p.Params, spec, features.ComparesBy("spec.params.scale"))
	if err != nil {
		return nil, err
	}
	phases := jobs.Phases{space.Phase(j.begin)}
	if j.seeds() {
		phases = append(phases, (&seedPhase{j}).phase())
	}
	switch p.Algorithm {
	case algorithmBatch:
		phases = append(phases, (&batchPhase{j}).phase())
	case algorithmBisecting:
		phases = append(phases, (&bisectPhase{j}).phase())
	default:
		phases = append(phases, (&lloydPhase{j}).phase())
		if p.Empty == emptyFarthest {
			phases = append(phases, (&refillPhase{j}).phase())
		}
	}
	if p.Indices {
		phases = append(phases, (&meansPhase{j}).phase())
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

// seeds reports whether a phase of its own finds the first centers.
func (j job) seeds() bool {
	return j.params.Init != initGiven && j.params.Algorithm != algorithmBisecting
}

// mostRounds bounds the rounds of all restarts.
func (j job) mostRounds() int64 { return int64(j.params.MaxRounds) * int64(max(j.params.Restarts, 1)) }

// mostSeedRounds bounds the rounds of all seedings: kmeans++ finds a seed a round from its third round on, and kmeans||
// draws once for its first seed and init_rounds times, and then weighs.
func (j job) mostSeedRounds() int64 {
	each := int64(1)
	switch j.params.Init {
	case initPlusPlus, initFarthest:
		each = int64(j.params.K) + 1
	case initParallel:
		each = int64(j.params.InitRounds) + 2
	}
	return each * int64(max(j.params.Restarts, 1))
}

// firstPhase is the phase that a restart begins with.
func (j job) firstPhase() string {
	if !j.seeds() {
		return j.roundName()
	}
	return j.seedName()
}

// lastPhase is the phase that follows the last restart.
func (j job) lastPhase() string {
	if j.params.Indices {
		return meansName
	}
	return finishName
}

// seedName names the phase that begins: letters only, for metrics and paths.
func (j job) seedName() string {
	return "init." + strings.NewReplacer("kmeans++", "plusplus", "kmeans||", "parallel").Replace(j.params.Init)
}

func (j job) cosine() bool { return j.params.Metric == metricCosine }
