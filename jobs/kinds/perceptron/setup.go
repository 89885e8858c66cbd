package perceptron

import "github.com/gram-compute/gram/jobs/learn/evaluation"

// Rule says how scores decide, and which weights a mistake changes; see the package.
type Rule int32

// The rules.
const (
	Signed    Rule = iota // two classes, one row of weights
	ArgMax                // a row of weights for each class
	OneVsRest             // the same, each row a perceptron of two classes
)

var ruleNames = []string{"signed", "argmax", "one_vs_rest"}

// String is the rule's name in a model.
func (r Rule) String() string { return ruleNames[r] }

// Form says which of its weights a perceptron predicts by; see the package.
type Form int32

// The forms.
const (
	Plain Form = iota
	Averaged
	Voted
	Unweighted
)

var formNames = []string{"plain", "averaged", "voted", "unweighted"}

// String is the form's name in a spec and in a model.
func (f Form) String() string { return formNames[f] }

func (f Form) votes() bool { return f == Voted || f == Unweighted }

// Setup is what a Learner does not learn.
type Setup struct {
	Rule           Rule
	Form           Form
	Classes, Width int
	Sparse         bool // rows have an Index
	Bias           bool
	ClassWeights   []float32 // of each class; nil where all are 1
	Distinct       float32   // what LearnDistinct adds to each record as a feature of its own
	MaxVectors     int       // of the forms that vote
	Reject         evaluation.Rejection
}

// rows is the number of weight vectors.
func (s Setup) rows() int {
	if s.Rule == Signed {
		return 1
	}
	return s.Classes
}

// stride is the length of a row of weights: a weight for each column, and the bias.
func (s Setup) stride() int { return s.Width + 1 }

func (s Setup) size() int { return s.rows() * s.stride() }

// at is where the weight of a row for a column stands, or its bias, the column after the last. Dense rows lie one
// after the other; for sparse ones the weights of a column lie side by side, since they are
// needed together.
func (s Setup) at(row, column int) int {
	if s.Sparse {
		return column*s.rows() + row
	}
	return row*s.stride() + column
}

// shape is that of the weights: [rows, stride], for sparse vectors [stride, rows].
func (s Setup) shape() []int {
	if s.Sparse {
		return []int{s.stride(), s.rows()}
	}
	return []int{s.rows(), s.stride()}
}

// rowOf copies a row out of weights.
func (s Setup) rowOf(weights []float32, row int) []float32 {
	w := make([]float32, s.stride())
	for j := range w {
		w[j] = weights[s.at(row, j)]
	}
	return w
}
