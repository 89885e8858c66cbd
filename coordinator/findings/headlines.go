package findings

import (
	"slices"
	"strings"

	"github.com/gram-compute/gram/compare"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/jobs"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// maxHeadlines is how many numbers of a model a list shows.
const maxHeadlines = 5

// headlines are the numbers by which people tell models apart, those of the evaluation on held-out records first.
var headlines = []string{
	"evaluation.accuracy", "evaluation.macro.f1", "evaluation.ranking.macro_auc", "evaluation.scores.log_loss",
	"evaluation.regression.r2", "evaluation.regression.mean_squared_error", "evaluation.regression.mean_absolute_error",
	"evaluation.novelty.auc", "evaluation.novelty.precision_at_top",
	"kmeans.distortion", "kmeans.silhouette", "kmeans.ari", "kmeans.rounds", "kmeans.free_energy",
	"perceptron.training_mistakes", "perceptron.margin", "perceptron.epochs", "train.mistakes", "train.supports",
	"train.epochs", "svm.gap", "svm.supports", "svm.rounds", "linear.gap", "linear.rounds",
	"vocabulary.terms_kept", "features.width", "counts.records", "means.records", "base.records", "index.records",
	"graph.edges", "kernelmatrix.rows",
}

// Headlines are at most five numbers of what was found, in the order in which all models have them. Where nothing is
// known of the kind, they are the first that were found.
func Headlines(metrics []jobs.Metric) []*pb.Headline {
	var known, others []*pb.Headline
	compare.Scalars(metrics, func(s compare.Scalar) {
		if _, _, of := compare.Numbered(s.Name); of != "" || s.Word != "" || strings.HasPrefix(s.Name, "restart.") {
			return
		}
		h := &pb.Headline{Name: s.Name, Value: s.Number}
		for _, list := range [][]*pb.Headline{known, others} {
			if at := slices.IndexFunc(list, func(o *pb.Headline) bool { return o.GetName() == s.Name }); at >= 0 {
				list[at] = h // the last round that found it counts
				return
			}
		}
		if slices.Contains(headlines, s.Name) {
			known = append(known, h)
		} else if len(others) < maxHeadlines {
			others = append(others, h)
		}
	})
	if len(known) == 0 {
		return others
	}
	slices.SortStableFunc(known, func(a, b *pb.Headline) int {
		return slices.Index(headlines, a.GetName()) - slices.Index(headlines, b.GetName())
	})
	return known[:min(len(known), maxHeadlines)]
}

// lastRounds is of how many rounds a list reads what they found: evaluations and models are made by the last ones.
const lastRounds = 2

// Last are the last rounds of a job that found something.
func Last(job *state.Job) []Wanted {
	var wanted []Wanted
	for _, round := range slices.Backward(job.Rounds.Since()) {
		if !round.Metrics.IsZero() && len(wanted) < lastRounds {
			wanted = append(wanted, Wanted{Job: job.ID, Round: round})
		}
	}
	slices.Reverse(wanted)
	return wanted
}
