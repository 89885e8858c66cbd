package jobs

import (
	"context"

	"github.com/gram-compute/gram/dataset"
)

// DescribeOptions bounds what Describe prints.
type DescribeOptions struct {
	Classes []string // only these; empty means a few
	Top     int      // words per class
}

// Classifier predicts one text at a time.
type Classifier interface {
	Classify(text string) (Prediction, error)
}

// Predictor predicts the records of a block. Only one goroutine at a time may use it.
type Predictor interface {
	// Answers describes the outcomes.
	Answers() Answers
	// Predict returns one outcome for each record, valid until the next call. A record
	// that the model cannot take is a *protocol.Fault with its position.
	Predict(ctx context.Context, block *dataset.Block) ([]Outcome, error)
}

// LogPredictor is a Predictor of posteriors that can give their logarithms, too: those of unlikely classes are numbers
// where the posteriors themselves underflow to 0.
type LogPredictor interface {
	Predictor
	// GiveLogs lets the outcomes of all blocks from now on have Logs, and Answers say so.
	GiveLogs()
}

// Distancer is a Predictor of clusters, which are points that it can give all distances to.
type Distancer interface {
	Predictor
	// ByDistance returns the predictor whose scores are the distances of a record to the centers of all clusters, in
	// the order of Answers.Labels. The two must not be used at the same time. More clusters than there may be columns
	// are a *protocol.Fault of CodeSpecInvalid.
	ByDistance() (Predictor, error)
}

// Learner predicts a record, is given its label and learns from it, one record at a time. Only one
// goroutine at a time may use it.
type Learner interface {
	// Predict predicts a block of one record, and remembers it for Update.
	Predict(block *dataset.Block) (Outcome, error)
	// Update gives the learner the label of the record last predicted, and reports whether the
	// model changed. A label that the model does not have is a *protocol.Fault of CodeBadRecord.
	Update(label string) (changed bool, err error)
	// Model returns the current model.
	Model() Arrays
}

// Answers describes the outcomes of a model.
type Answers struct {
	Labels []string // every possible Label; nil if Value alone is the answer
	Value  string   // the meaning of Value, such as "distance"; empty if it has none
	Scores []string // a name for each of Scores; nil if there are none
	Scale  Scale    // what Outcome.Scores are, if there is one for each label
	Logs   bool     // outcomes have Logs
	// Clusters reports that Labels name clusters, or inliers and outliers, so no label of a record is one of them.
	Clusters bool
}

// Of returns the answers with scores of that scale.
func (a Answers) Of(scale Scale) Answers {
	a.Scale = scale
	return a
}

// Scale is what the scores of classes are.
type Scale int

// The scales.
const (
	// Unscaled are scores of something else than classes, or no scores.
	Unscaled Scale = iota
	// Margins are the greater, the likelier a class is; how likely it is they do not say.
	Margins
	// Distances are the less, the likelier a class is.
	Distances
	// Probabilities are from 0 to 1, and those of all classes add up to 1.
	Probabilities
	// LogOdds are the logarithms of p/(1-p), with p the probability of a class against all others.
	LogOdds
)

// Outcome is the result of predicting one record.
type Outcome struct {
	Label    string    // of a class or cluster; empty if rejected or if Value is the answer
	Rejected bool      // no class is likely enough
	Value    float64   // regression: the prediction; clustering: the distance to the center
	Scores   []float64 // in the order of Answers.Scores, or of Answers.Labels where there is a scale
	Logs     []float64 // natural logarithms of the posteriors of Answers.Labels, finite; see LogPredictor
}

// Prediction is a decision with its posterior probabilities, best first.
type Prediction struct {
	Label    string       `json:"label"` // empty when rejected
	Rejected bool         `json:"rejected"`
	Scores   []ClassScore `json:"scores"`
}

// ClassScore is one class and its posterior probability.
type ClassScore struct {
	Label     string  `json:"label"`
	Posterior float64 `json:"posterior"`
}
