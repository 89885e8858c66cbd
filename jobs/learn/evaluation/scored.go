package evaluation

import (
	"cmp"
	"fmt"
	"math/big"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// Scoring says how scores are judged: spec.evaluation of a job. A nil one judges none.
type Scoring struct {
	protocol.Evaluation
	seed  uint64
	keeps int // different scores in all rankings at a time; 0 means maxScored
}

// ScoringOf is that of a spec with its defaults; nil where it has no spec.evaluation.
func ScoringOf(spec protocol.JobSpec) *Scoring {
	if spec.Spec.Evaluation == nil {
		return nil
	}
	return &Scoring{Evaluation: *spec.Spec.Evaluation, seed: spec.Spec.Repro.Seed}
}

// Keeping returns a copy that keeps n different scores at a time, at least one of each ranking. No figure depends on
// it.
func (s Scoring) Keeping(n int) *Scoring {
	s.keeps = n
	return &s
}

// Unscored is the fault of a spec.evaluation of what has no classes.
func Unscored(what string) error {
	return protocol.SpecFault("spec.evaluation judges the scores of classes, which %s does not have", what).
		WithHint("Leave it out; what is predicted on test records is judged without it.")
}

// CheckValues refuses what is about scores of classes where values are predicted, and a spec.evaluation that asks for
// nothing else; nil is fine.
func (s *Scoring) CheckValues() error {
	switch {
	case s == nil:
	case s.Bootstrap == 0:
		return protocol.SpecFault("spec.evaluation judges the scores of classes, and values have none").
			WithHint("Set evaluation.bootstrap for intervals of the errors, or leave spec.evaluation out: errors are always told.")
	case s.Positive != "" || s.Bins != protocol.DefaultBins || s.Errors == nil || *s.Errors != protocol.DefaultErrors:
		return protocol.SpecFault("spec.evaluation: positive, bins and errors are for the scores of classes, and values " +
			"have none").WithHint("Leave them out; bootstrap and confidence give intervals of the errors.")
	}
	return nil
}

// maxTop bounds the k of top-k accuracies.
const maxTop = 10

// The sums of a scored tally; the weights of records by the rank of their true class follow.
const (
	sumWeight  = iota // of all records
	sumUnknown        // of those whose label the model does not have
	sumCorrect        // of those that were decided right
	sumLogLoss
	sumBrier
	sumRank    // first of maxTop
	scoredSums = sumRank + maxTop
)

// The sums of a bin.
const (
	binWeight = iota
	binPredicted
	binTrue
	binSums
)

// scoredTally is what is known of the scores of records: exact sums, and the rankings of classes and of the confidence
// of decisions. It depends neither on shards nor on the order of records.
type scoredTally struct {
	scoring *Scoring // nil in a tally that was read
	rater   *rater   // as well
	draws   *replicates

	labels   jobs.Strings
	scale    jobs.Scale
	positive int // of two classes
	records  int64
	weighted bool // some weight is not 1
	bins     int  // 0 where scores are no probabilities

	sums        *sums.Exact // scoredSums
	calibration *sums.Exact // ranked classes x bins x binSums
	totals      *sums.Exact // rankings x 2: weights of negative and of positive records
	rankings    []*Ranking  // of the ranked classes; the last one is of the confidence, errors being positive
	bootstrap   *sums.Exact // replicates x replicateSums
}

// ranked classes of a model.
func rankedClasses(classes int) int {
	switch {
	case classes > maxRankedClasses:
		return 0
	case classes > 2:
		return classes
	}
	return 1
}

// maxScored bounds the different scores in all rankings of a tally.
const maxScored = 1 << 19

func newScoredTally(answers jobs.Answers, s *Scoring) (*scoredTally, error) {
	rater, err := newRater(answers, s.Positive)
	if err != nil {
		return nil, err
	}
	t := &scoredTally{scoring: s, rater: rater, labels: jobs.StringsOf(rater.labels...), scale: rater.scale,
		positive: rater.positive, sums: sums.NewExact(scoredSums)}
	if rater.probable() {
		t.bins = s.Bins
	}
	classes := rankedClasses(len(rater.labels))
	t.calibration = sums.NewExact(classes * t.bins * binSums)
	t.totals = sums.NewExact(2 * (classes + 1))
	t.rankings = s.rankings(make([]place, classes+1))
	t.bootstrap = sums.NewExact(s.Bootstrap * replicateSums)
	if s.Bootstrap > 0 {
		t.draws = newReplicates(s.seed, s.Bootstrap)
	}
	return t, nil
}

// rankings below places, which share the different scores that are kept.
func (s *Scoring) rankings(below []place) []*Ranking {
	list := make([]*Ranking, len(below))
	for i := range list {
		list[i] = NewRankingInParts(max(1, cmp.Or(s.keeps, maxScored)/len(list)), below[i])
	}
	return list
}

// add judges the scores of a record; number is what MistakeDraws draws for its identity.
func (t *scoredTally) add(
	id dataset.Identity, number uint64, label []byte, o jobs.Outcome, weight float32,
) error {
	v, err := t.rater.rate(id, label, o)
	if err != nil {
		return err
	}
	t.records++
	t.weighted = t.weighted || weight != 1
	w, wrong := float64(weight), v.truth != v.decided
	t.sums.Add(sumWeight, w)
	if v.truth < 0 {
		t.sums.Add(sumUnknown, w)
	} else if r := rankOf(v.values, v.truth); r < maxTop {
		t.sums.Add(sumRank+r, w)
	}
	if !wrong {
		t.sums.Add(sumCorrect, w)
	}
	logLoss, brier := 0.0, 0.0
	if t.bins > 0 {
		logLoss, brier = losses(v.values, v.truth)
		t.sums.Add(sumLogLoss, float64(w*logLoss))
		t.sums.Add(sumBrier, float64(w*brier))
		t.calibrate(v, w)
	}
	eachRank(v, t.rater.positive, func(ranking int, score float64, positive bool) {
		side := 0
		if positive {
			side = 1
		}
		t.totals.Add(2*ranking+side, w)
		t.rankings[ranking].AddWeighted(score, positive, weight)
	})
	if t.draws != nil {
		t.draws.add(t.bootstrap, number, [replicateSums]float64{w, boolWeight(!wrong, w), float64(w * logLoss),
			float64(w * brier)})
	}
	return nil
}

func boolWeight(counts bool, w float64) float64 {
	if counts {
		return w
	}
	return 0
}

// eachRank calls add for every ranking of a record, the confidence last.
func eachRank(v rated, positive int, add func(ranking int, score float64, positive bool)) {
	if len(v.ranks) == 1 {
		add(0, v.ranks[0], v.truth == positive)
	} else {
		for y, score := range v.ranks {
			add(y, score, v.truth == y)
		}
	}
	add(len(v.ranks), v.confidence, v.truth != v.decided)
}

// rankOf is how many classes have a higher value, of equal ones those that come first.
func rankOf(values []float64, class int) int {
	r := 0
	for y, v := range values {
		if v > values[class] || v == values[class] && y < class {
			r++
		}
	}
	return r
}

// losses are the log loss and the Brier score of the probabilities of a record, whose true class is -1 if the model
// does not have it. The probability of the log loss is kept between 2^-52 and 1 - 2^-52, and the Brier score of two
// classes is halved, as scikit-learn does both.
func losses(p []float64, truth int) (logLoss, brier float64) {
	const least = 0x1p-52
	of := 0.0
	for y, v := range p {
		e := v
		if y == truth {
			e, of = 1-v, v
		}
		brier += float64(e * e)
	}
	if len(p) == 2 {
		brier /= 2
	}
	return -fmath.Log(min(max(of, least), 1-least)), brier
}

// calibrate counts a record in a bin of each ranked class.
func (t *scoredTally) calibrate(v rated, w float64) {
	for i, p := range v.ranks {
		truth := v.truth == i
		if len(v.ranks) == 1 {
			truth = v.truth == t.rater.positive
		}
		at := (i*t.bins + binOf(p, t.bins)) * binSums
		t.calibration.Add(at+binWeight, w)
		t.calibration.Add(at+binPredicted, float64(w*p))
		t.calibration.Add(at+binTrue, boolWeight(truth, w))
	}
}

// edgeOf is the lower edge of a bin, rounded as numpy.linspace does.
func edgeOf(bin, bins int) float64 { return float64(float64(bin) * (1 / float64(bins))) }

// binOf is the bin of a probability: each has its upper edge, and the first one 0.
func binOf(p float64, bins int) int {
	bin := max(0, min(bins-1, int(float64(p*float64(bins))))) //lint:checked a bin
	for bin > 0 && !(p > edgeOf(bin, bins)) {
		bin--
	}
	for bin < bins-1 && p > edgeOf(bin+1, bins) {
		bin++
	}
	return bin
}

// Fields lists the tally under names that begin with "scores.".
func (t *scoredTally) Fields(f *jobs.Fields) {
	f.Strings("scores.labels", &t.labels)
	classes := t.labels.Len()
	jobs.Enum(f, "scores.scale", &t.scale, jobs.Margins, jobs.LogOdds)
	f.Int("scores.positive", &t.positive, 0, 1)
	f.Int("scores.bins", &t.bins, 0, protocol.MaxBins)
	jobs.Scalar(f, "scores.records", &t.records)
	jobs.Flag[int32](f, "scores.weighted", &t.weighted)
	f.Require(classes >= 2 && t.records >= 0, "scores of %d classes", classes)
	n := rankedClasses(classes)
	for _, list := range []struct {
		name string
		at   **sums.Exact
		n    int
	}{{"sums", &t.sums, scoredSums}, {"calibration", &t.calibration, n * t.bins * binSums},
		{"totals", &t.totals, 2 * (n + 1)}} {
		jobs.Make(f, list.at).Fields(f, "scores."+list.name)
		f.Require((*list.at).Len() == list.n, "%d sums of scores", (*list.at).Len())
	}
	jobs.Make(f, &t.bootstrap).Fields(f, "scores.bootstrap")
	f.Require(t.bootstrap.Len()%replicateSums == 0, "%d sums of replicates", t.bootstrap.Len())
	rankingsFields(f, &t.rankings, n+1)
}

func rankingsFields(f *jobs.Fields, list *[]*Ranking, n int) {
	if f.Reading() {
		*list = make([]*Ranking, n)
	}
	for i := range *list {
		r := jobs.Make(f, &(*list)[i])
		r.Fields(f, fmt.Sprintf("scores.ranking.%d", i))
		f.Require(r.parts, "a ranking of scores that is not in parts")
	}
}

// plus adds the tally to the right.
func (t *scoredTally) plus(right *scoredTally) (err error) {
	if t.labels.Len() != right.labels.Len() || t.scale != right.scale || t.bins != right.bins ||
		t.positive != right.positive {
		return jobs.Malformed("scores of %d classes and of %d", t.labels.Len(), right.labels.Len())
	}
	t.records += right.records
	t.weighted = t.weighted || right.weighted
	for _, pair := range [][2]**sums.Exact{{&t.sums, &right.sums}, {&t.calibration, &right.calibration},
		{&t.totals, &right.totals}, {&t.bootstrap, &right.bootstrap}} {
		if *pair[0], err = (*pair[0]).Plus(*pair[1]); err != nil {
			return err
		}
	}
	for i, r := range t.rankings {
		r.Plus(right.rankings[i])
	}
	return nil
}

// maxCurveClasses bounds the classes whose curves and intervals are kept.
const maxCurveClasses = 16

// sweeps go through the rankings; most is the share of errors that a threshold is looked for.
func (t *scoredTally) sweeps(most float64) []*sweep {
	list := make([]*sweep, len(t.rankings))
	total := func(i int) *big.Int { return massOfSum(t.totals, i) }
	risk := len(list) - 1
	for i := range list[:risk] {
		list[i] = newSweep(total(2*i), total(2*i+1), curveSteps)
		if risk > maxCurveClasses {
			list[i].steps = 0
		} else if n := t.bootstrap.Len() / replicateSums; n > 0 {
			list[i].replicates = newResampled(n)
		}
	}
	list[risk] = newRiskSweep(total(2*risk), total(2*risk+1), curveSteps, most)
	if t.labels.Len() == 2 {
		list[0].spread = newSpread()
	} else {
		list[risk].spread = newSpread()
	}
	return list
}

// curveSteps is the number of steps of a curve along each axis.
const curveSteps = 100

// mean is a sum by the weight of all records, 0 without any.
func (t *scoredTally) mean(i int) float64 {
	if w := t.sums.Float(sumWeight); w > 0 {
		return bounded(t.sums.Float(i) / w)
	}
	return 0
}
