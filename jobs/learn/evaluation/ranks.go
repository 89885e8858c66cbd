package evaluation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// RanksName names the phase that goes on through the rankings of scores.
const RanksName = "ranks"

// ranksPrefix begins the names of what the phase adds to a state.
const ranksPrefix = "evaluation.ranks."

// Ranks ranks test records by their scores. A round keeps the highest scores that were not ranked yet, as many as fit
// into memory. Where a tally holds all of them, Ranks needs no further round; else each one predicts the test records
// again, by the model that is its state.
type Ranks struct {
	Load    Load
	From    jobs.Source
	Of      jobs.Records
	Scoring *Scoring
	// Unlabeled reports that records without a label are not judged, rather than refused.
	Unlabeled bool
	// Finish says what follows, as if there had been no rankings.
	Finish func(ctx context.Context, next jobs.Next, round jobs.Round) (jobs.Next, error)
}

// Phase returns the phase "ranks".
func (p *Ranks) Phase() jobs.Phase {
	return jobs.MapReduce[jobs.Arrays, *ranking]{
		Name: RanksName, State: jobs.Itself, Partial: func() *ranking { return new(ranking) },
		Map: p.rank, Merge: (*ranking).plus, Step: p.step, Gathers: p.Scoring.gathers, Rounds: jobs.Unbounded,
	}.Phase()
}

// Gathers is what a leaf keeps of the scores, in bytes.
func (s *Scoring) Gathers() int64 {
	if s == nil {
		return 0
	}
	return 2 * 32 * maxScored
}

func (s *Scoring) gathers(jobs.Leaf, func(jobs.Source, int) int64) int64 { return s.Gathers() }

// ranksState is what is known of the rankings between two rounds.
type ranksState struct {
	classes jobs.Strings // that are ranked
	sweeps  []*sweep     // of the classes, and of the confidence
	below   []place
	done    []uint8 // 1 for a ranking that has ended
}

// Fields lists the state.
func (s *ranksState) Fields(f *jobs.Fields) {
	f.Strings(ranksPrefix+"classes", &s.classes)
	n := s.classes.Len() + 1
	jobs.List(f, ranksPrefix+"done", &s.done, n)
	if f.Reading() {
		s.sweeps, s.below = make([]*sweep, n), make([]place, n)
	}
	for i := range s.sweeps {
		name := fmt.Sprint(ranksPrefix, i)
		jobs.Make(f, &s.sweeps[i]).fields(f, name)
		s.below[i].fields(f, name+".below")
	}
}

// ranking is the partial of a leaf.
type ranking struct{ list []*Ranking }

// Fields lists the rankings.
func (r *ranking) Fields(f *jobs.Fields) {
	n := len(r.list)
	f.Int("scores.rankings", &n, 1, maxRankedClasses+1)
	rankingsFields(f, &r.list, n)
}

func (r *ranking) plus(right *ranking) (*ranking, error) {
	if len(r.list) != len(right.list) {
		return nil, jobs.Malformed("%d rankings and %d", len(r.list), len(right.list))
	}
	for i, one := range r.list {
		one.Plus(right.list[i])
	}
	return r, nil
}

// Begin goes on from the first round, that of the tally; next has the model for its state. A tally without scores has
// nothing to rank.
func (p *Ranks) Begin(ctx context.Context, next jobs.Next, t *Tally, round jobs.Round) (jobs.Next, error) {
	if t.scores == nil {
		return p.Finish(ctx, next, round)
	}
	s, err := p.begin(t)
	if err != nil {
		return jobs.Next{}, err
	}
	return p.advance(ctx, next, s, t.scores.rankings, round)
}

func (p *Ranks) begin(t *Tally) (*ranksState, error) {
	if p.Scoring == nil {
		return nil, jobs.Malformed("scores that no spec.evaluation asks for")
	}
	n := len(t.scores.rankings)
	return &ranksState{jobs.StringsOf(t.scores.rankedLabels()...), t.scores.sweeps(*p.Scoring.Errors), make([]place, n),
		make([]uint8, n)}, nil
}

// advance takes in the rankings of a round.
func (p *Ranks) advance(
	ctx context.Context, next jobs.Next, s *ranksState, rankings []*Ranking, round jobs.Round,
) (jobs.Next, error) {
	if more := s.take(rankings, p.Scoring); more {
		next.State = maps.Clone(next.State)
		jobs.Add(next.State, s)
		next.Phase, next.Trees = RanksName, treesOver(p.From, round.Plan)
		return next, nil
	}
	metrics, err := s.metrics(p.Scoring)
	if err != nil {
		return jobs.Next{}, err
	}
	next.Metrics = append(next.Metrics, metrics...)
	return p.Finish(ctx, next, round)
}

// take goes on through the rankings, and reports whether there are lower scores.
func (s *ranksState) take(rankings []*Ranking, scoring *Scoring) (more bool) {
	for i, r := range rankings {
		if s.done[i] != 0 {
			continue
		}
		if boot := s.sweeps[i].replicates; boot != nil {
			boot.key = resampleKey(scoring.seed, i)
		}
		s.sweeps[i].take(r)
		below, cut := r.Below()
		if s.below[i] = below; cut {
			more = true
			continue
		}
		s.sweeps[i].end()
		s.done[i] = 1
	}
	return more
}

// rank ranks the test records of a leaf below what was ranked before.
func (p *Ranks) rank(
	ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, ops *kernelops.Set,
) (*ranking, error) {
	s, err := jobs.Read(state, new(ranksState))
	if err != nil {
		return nil, err
	}
	predictor, err := p.Load(withoutRanks(state), ops)
	if err != nil {
		return nil, err
	}
	rater, err := newRater(predictor.Answers(), p.Scoring.Positive)
	if err != nil {
		return nil, err
	}
	if want := rankedClasses(len(rater.labels)); want != s.classes.Len() {
		return nil, jobs.Malformed("rankings of %d classes, not %d", s.classes.Len(), want)
	}
	r := &ranking{p.Scoring.rankings(s.below)}
	chosen, keep := Selection{}, p.Of()
	for block, err := range leaf.Read(ctx, p.From, leaf.Index) {
		if err != nil {
			return nil, err
		}
		some := chosen.Of(block, keep)
		if len(some.IDs) == 0 || some.Labels == nil {
			continue
		}
		outcomes, err := predictor.Predict(ctx, some)
		if err != nil {
			return nil, err
		}
		if err := p.add(r, s.done, rater, some, outcomes); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (p *Ranks) add(r *ranking, done []uint8, rater *rater, block *dataset.Block, outcomes []jobs.Outcome) error {
	for i, o := range outcomes {
		if p.Unlabeled && len(block.Labels[i]) == 0 {
			continue
		}
		v, err := rater.rate(block.IDs[i], block.Labels[i], o)
		if err != nil {
			return err
		}
		eachRank(v, rater.positive, func(ranking int, score float64, positive bool) {
			if done[ranking] == 0 {
				r.list[ranking].AddWeighted(score, positive, weightOf(block, i))
			}
		})
	}
	return nil
}

// weightOf is the weight of record i of a block.
func weightOf(block *dataset.Block, i int) float32 {
	if block.Weights == nil {
		return 1
	}
	return block.Weights[i]
}

// step goes on to lower scores, or ends.
func (p *Ranks) step(ctx context.Context, state jobs.Arrays, r *ranking, round jobs.Round) (jobs.Next, error) {
	s, err := jobs.Read(state, new(ranksState))
	if err != nil {
		return jobs.Next{}, err
	}
	if len(r.list) != len(s.sweeps) {
		return jobs.Next{}, jobs.Malformed("%d rankings and %d", len(r.list), len(s.sweeps))
	}
	return p.advance(ctx, jobs.Next{State: withoutRanks(state)}, s, r.list, round)
}

// RankMetrics are the figures of rankings where one round decides all records. Where these have more different scores
// than a tally holds, it is a *protocol.Fault of CodeSpecInvalid.
func (t *Tally) RankMetrics(scoring *Scoring) ([]jobs.Metric, error) {
	if t.scores == nil {
		return nil, nil
	}
	s, err := (&Ranks{Scoring: scoring}).begin(t)
	if err != nil {
		return nil, err
	}
	if s.take(t.scores.rankings, scoring) {
		return nil, protocol.SpecFault("spec.evaluation: the test records have more than %d different scores of a class or of "+
			"decisions, and this kind ranks them in one round", maxScored/len(s.sweeps)).
			WithHint("Leave spec.evaluation out, and judge the model in a job of kind Predict.")
	}
	return s.metrics(scoring)
}

// treesOver is a tree over the shards of a data set; nil means that of spec.input.
func treesOver(from jobs.Source, plan jobs.Plan) []int {
	if from == jobs.Queries && plan.QueryShards > 0 {
		return []int{plan.QueryShards}
	}
	return nil
}

func withoutRanks(state jobs.Arrays) jobs.Arrays {
	state = maps.Clone(state)
	maps.DeleteFunc(state, func(name string, _ jobs.Array) bool { return strings.HasPrefix(name, ranksPrefix) })
	return state
}

// rankedLabels are the classes that are ranked.
func (t *scoredTally) rankedLabels() []string {
	labels := t.labels.List()
	switch n := rankedClasses(len(labels)); {
	case n == 1:
		return labels[t.positive : t.positive+1]
	case n == 0:
		return nil
	}
	return slices.Clip(labels)
}
