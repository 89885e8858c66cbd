package naivebayes

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// scorer is a model with its logarithms: Algorithm 1 after "Normalize counts", kept
// sparse so that memory is linear in the model's bytes. One goroutine at a time.
type scorer struct {
	*model
	ops    *kernelops.Set
	bagger *vocabulary.Bagger
	prior  []float64 // log p(y)
	unseen []float64 // weight of a term that does not occur in class y: log p(w|y) in the multinomial form
	seen   []float64 // weight beside each count of the model
	common []float64 // of each term, added to unseen; nil where the form has none
	row    []float64 // weights of one term, for each class
	scores []float64
	left   *leftOut // nil where records have no missing counts
	// posterior is scratch for the rule of a cost matrix
	posterior []float64
}

func newScorer(m *model, ops *kernelops.Set) (*scorer, error) {
	tokenizer, err := m.params.Text.Tokenizer()
	if err != nil {
		return nil, err
	}
	classes := m.labels.Len()
	s := &scorer{model: m, ops: ops, bagger: vocabulary.NewBagger(tokenizer, m.dictionary), prior: m.logPrior(),
		unseen: make([]float64, classes), seen: make([]float64, len(m.counts.count)),
		row: make([]float64, classes), scores: make([]float64, classes),
		posterior: make([]float64, classes)}
	if m.omission != nil {
		s.newLeftOut()
		s.seen = make([]float64, len(s.counts.count))
	}
	s.weigh()
	return s, nil
}

// logPrior is log p(y) of each class.
func (m *model) logPrior() []float64 {
	documents := make([]float64, len(m.documents))
	for y, n := range m.documents {
		documents[y] = float64(n)
	}
	return m.params.Prior.Log(m.labels, documents)
}

// logTotals is log(w_y + alpha n) of each class.
func (m *model) logTotals() []float64 {
	words := make([]int64, m.labels.Len())
	for i, n := range m.counts.count {
		words[m.counts.class[i]] += n
	}
	logs := make([]float64, len(words))
	for y, n := range words {
		logs[y] = fmath.Log(float64(n) + float64(m.params.Alpha*float64(m.dictionary.Len())))
	}
	return logs
}

// score returns log p(y) + sum over j of x^j log p(w^j|y) for each class, terms in
// ascending order, so that equal bags have equal bits. Valid until the next call.
func (s *scorer) score(text []byte) []float64 { return s.scoreBag(s.bagger.Bag(text)) }

func (s *scorer) scoreBag(bag vocabulary.Bag) []float64 {
	copy(s.scores, s.prior)
	for i, term := range bag.Terms {
		times := float64(bag.Counts[i])
		if s.params.Form == formBernoulli {
			times = 1
		}
		s.ops.AddScaled(s.scores, s.weights(int(term)), times)
	}
	return s.scores
}

// weights fills in the weights of one term.
func (s *scorer) weights(term int) []float64 {
	copy(s.row, s.unseen)
	if s.common != nil {
		for y := range s.row {
			s.row[y] += s.common[term]
		}
	}
	begin, end := s.counts.indptr[term], s.counts.indptr[term+1]
	for i := begin; i < end; i++ {
		s.row[s.counts.class[i]] = s.seen[i]
	}
	return s.row
}

// decide returns the class of a document's scores. With a positive class that is Algorithm 1's
// "if t > 0"; with costs the least expected one; else the largest posterior, unless it is below the threshold.
func (s *scorer) decide(scores []float64) (class int, rejected bool) {
	if s.positive != noPositive {
		other := 1 - s.positive
		if t := scores[s.positive] - scores[other] - fmath.Log(s.params.Ratio); t > 0 {
			return s.positive, false
		}
		return other, false
	}
	if s.rule != nil {
		return s.rule.Decide(posteriors(s.posterior, scores)), false
	}
	best := rank.First(scores)
	if s.params.RejectBelow == 0 {
		return best, false
	}
	return best, fmath.Exp(scores[best]-fmath.LogSumExp(scores)) < s.params.RejectBelow
}

// posteriors sets dst to p(y|x) of each class by Bayes' rule.
func posteriors(dst, scores []float64) []float64 {
	evidence := fmath.LogSumExp(scores) // log p(x)
	for y, score := range scores {
		dst[y] = fmath.Exp(score - evidence)
	}
	return dst
}

// classifier predicts texts; one goroutine at a time.
type classifier struct{ scorer *scorer }

// NewClassifier loads a model. Bytes that training would not have written are a
// *protocol.Fault of CodeCorrupt. The classifier serves one goroutine at a time and runs on
// the kernel set that the environment names, or the best.
func NewClassifier(arrays jobs.Arrays) (jobs.Classifier, error) {
	ops, err := kernelops.Choose("")
	if err != nil {
		return nil, err
	}
	s, err := loadScorer(arrays, ops)
	if err != nil {
		return nil, err
	}
	if s.left != nil {
		return nil, protocol.SpecFault("the model reads dense vectors of counts (features.missing: %s), no texts",
			missingOmit).WithHint("A job of kind Predict reads them.")
	}
	return classifier{s}, nil
}

// Classify returns the decision and the posterior of every class, p(y|x) by Bayes' rule.
// Equal posteriors stand in the order of their scores, then of their labels.
func (c classifier) Classify(text string) (jobs.Prediction, error) {
	scores := c.scorer.score([]byte(text))
	class, rejected := c.scorer.decide(scores)
	prediction := jobs.Prediction{Rejected: rejected}
	if !rejected {
		prediction.Label = string(c.scorer.labels.At(class))
	}
	posterior := posteriors(c.scorer.posterior, scores)
	for _, y := range rank.Greatest(len(scores), func(y int) float64 { return scores[y] }) {
		prediction.Scores = append(prediction.Scores, jobs.ClassScore{
			Label: string(c.scorer.labels.At(y)), Posterior: posterior[y]})
	}
	return prediction, nil
}

// predictor predicts blocks of texts, or of vectors of counts; one goroutine at a time.
type predictor struct {
	classify.Outcomes
	scorer  *scorer
	columns *vocabulary.Columns // nil before the first vector
}

// NewPredictor loads a model to predict blocks of texts, or of vectors of counts. The scores are the posteriors of all
// classes. Errors are those of NewClassifier.
func NewPredictor(arrays jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	return loadPredictor(arrays, ops, true)
}

// loadDecider is NewPredictor without scores, for the evaluation.
func loadDecider(arrays jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	return loadPredictor(arrays, ops, false)
}

func loadPredictor(arrays jobs.Arrays, ops *kernelops.Set, posteriors bool) (jobs.Predictor, error) {
	s, err := loadScorer(arrays, ops)
	if err != nil {
		return nil, err
	}
	return &predictor{scorer: s, Outcomes: classify.NewOutcomes(s.labels.List(), posteriors)}, nil
}

func loadScorer(arrays jobs.Arrays, ops *kernelops.Set) (*scorer, error) {
	m, err := jobs.Load[model](arrays)
	if err != nil {
		return nil, err
	}
	return newScorer(m, ops)
}

// Predict decides every record. One that is neither a text nor a vector of counts is a fault with its position.
func (p *predictor) Predict(_ context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	if left := p.scorer.left; left != nil {
		known, err := left.reader.Read(block)
		if err == nil {
			err = sameWidth(known, p.scorer.omission.width)
		}
		if err != nil {
			return nil, err
		}
		block = known
	}
	if err := vocabulary.CheckDocuments(block); err != nil {
		return nil, err
	}
	p.Begin(len(block.IDs))
	for i := range block.IDs {
		scores, err := p.score(block, i)
		if err != nil {
			return nil, err
		}
		class, rejected := p.scorer.decide(scores)
		var posterior []float64
		if p.Scored() {
			posterior = posteriors(p.scorer.posterior, scores)
		}
		p.Add(class, rejected, posterior)
		p.Log(scores)
	}
	return p.List(), nil
}

func (p *predictor) score(block *dataset.Block, i int) (scores []float64, err error) {
	if block.Texts != nil {
		return p.scorer.scoreBag(p.scorer.bagger.BagIn(block, i)), nil
	}
	if p.columns == nil {
		if p.columns, err = p.scorer.dictionary.Columns(); err != nil {
			return nil, err
		}
	}
	bag, err := p.columns.Bag(block, i)
	if err != nil {
		return nil, err
	}
	scores = p.scorer.scoreBag(bag)
	if left := p.scorer.left; left != nil {
		p.scorer.leaveOut(scores, bag, left.missingTerms(p.columns, i))
	}
	return scores, nil
}
