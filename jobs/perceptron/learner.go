package perceptron

import (
	"fmt"

	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

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

// Row is a vector to learn from: Values of columns Index, or of all columns where a Learner is
// not Sparse.
type Row struct {
	Index  []int32
	Values []float32
}

// Learner is a perceptron that learns record by record: Algorithm 3. One goroutine at a time.
type Learner struct {
	Setup
	ops      *kernelops.Set
	weights  []float32 // see at
	sums     []float64 // Averaged: the sum of t times the update of step t, as the weights stand
	steps    int64     // records met; the sums' t counts them from 0
	vectors  []float32 // votes: the weights before each mistake, one after the other
	survived []int64   // votes: steps that each of vectors, and last the weights, came through
	tooMany  bool      // vectors beyond MaxVectors
	mistakes int64     // records that changed the weights
	updates  int64     // rows of weights changed
	scores   []float32
	scratch  []float64
}

// NewLearner returns a perceptron whose weights are zero. Misuse (no class, a width below 1)
// panics.
func NewLearner(s Setup, ops *kernelops.Set) *Learner {
	if s.Classes < 2 || s.Width < 1 || s.Rule == Signed && s.Classes != 2 {
		panic("perceptron: a learner of fewer than two classes or one column")
	}
	l := &Learner{Setup: s, ops: ops, weights: make([]float32, s.size())}
	l.ready()
	return l
}

// ready makes what is not given.
func (l *Learner) ready() {
	l.scores = make([]float32, l.rows())
	if l.Form == Averaged && l.sums == nil {
		l.sums = make([]float64, l.size())
	}
	if l.Form == Averaged && !l.Sparse {
		l.scratch = make([]float64, l.Width)
	}
	if l.Form.votes() && l.survived == nil {
		l.survived = []int64{0}
	}
}

// Learn shows the perceptron one record of a class, as often as weight says: its updates are
// multiplied by weight and by the class's own. It reports whether there was a mistake and so an update. A
// record whose weight is 0 is not met at all.
func (l *Learner) Learn(x Row, class int, weight float32) (mistake bool) {
	return l.learn(x, class, weight, nil)
}

// LearnDistinct is Learn by the rule Signed for a record with a feature of its own, of size Distinct,
// whose weight is extra.
func (l *Learner) LearnDistinct(x Row, class int, weight float32, extra *float32) (mistake bool) {
	return l.learn(x, class, weight, extra)
}

func (l *Learner) learn(x Row, class int, weight float32, extra *float32) (mistake bool) {
	if l.ClassWeights != nil {
		weight = float32(weight * l.ClassWeights[class])
	}
	if weight == 0 {
		return false
	}
	switch l.Rule {
	case Signed:
		mistake = l.learnSigned(x, class, weight, extra)
	case ArgMax:
		mistake = l.learnArgMax(x, class, weight)
	default:
		mistake = l.learnOneVsRest(x, class, weight)
	}
	l.steps++
	if mistake {
		l.mistakes++
	}
	if l.survived != nil {
		l.survived[len(l.survived)-1]++
	}
	return mistake
}

// learnSigned is the loop's body of Algorithm 3: the second class is +1, the first -1.
func (l *Learner) learnSigned(x Row, class int, weight float32, extra *float32) bool {
	y := float32(2*class - 1)
	l.rate(x)
	score := l.scores[0]
	if extra != nil {
		score += float32(l.Distinct * *extra)
	}
	if y*score > 0 {
		return false
	}
	l.retire()
	l.update(0, x, float32(y*weight))
	if extra != nil {
		*extra += float32(float32(y*weight) * l.Distinct)
	}
	return true
}

// learnArgMax moves the true class towards the record, and the best of the others away from it, unless
// the true class scores above it.
func (l *Learner) learnArgMax(x Row, class int, weight float32) bool {
	l.rate(x)
	rival := -1
	for r, score := range l.scores {
		if r != class && (rival < 0 || score > l.scores[rival]) {
			rival = r
		}
	}
	if l.scores[class] > l.scores[rival] {
		return false
	}
	l.retire()
	l.update(class, x, weight)
	l.update(rival, x, -weight)
	return true
}

// learnOneVsRest is Algorithm 3 for each class against all others.
func (l *Learner) learnOneVsRest(x Row, class int, weight float32) (mistake bool) {
	l.rate(x)
	for r, score := range l.scores {
		y := float32(-1)
		if r == class {
			y = 1
		}
		if y*score > 0 {
			continue
		}
		if !mistake {
			l.retire()
		}
		mistake = true
		l.update(r, x, float32(y*weight))
	}
	return mistake
}

// update adds a multiple of a record to a row of weights.
func (l *Learner) update(r int, x Row, a float32) {
	switch {
	case !l.Sparse:
		l.ops.Axpy(l.weights[r*l.stride():r*l.stride()+l.Width], x.Values, a)
	case l.rows() == 1:
		l.ops.SparseAxpy(l.weights[:l.Width], x.Index, x.Values, a)
	default:
		rows, w := l.rows(), l.weights[r:]
		for i, j := range x.Index {
			w[int(j)*rows] += float32(a * x.Values[i])
		}
	}
	if l.Bias {
		l.weights[l.at(r, l.Width)] += a
	}
	l.updates++
	if l.Form == Averaged && l.steps > 0 {
		l.addSum(r, x, float64(float64(l.steps)*float64(a)))
	}
}

// addSum adds t times an update to the sums of a row.
func (l *Learner) addSum(r int, x Row, ta float64) {
	if l.Sparse {
		rows, u, values := l.rows(), l.sums[r:], x.Values[:len(x.Index)]
		for i, j := range x.Index {
			u[int(j)*rows] += float64(ta * float64(values[i]))
		}
	} else {
		for i, v := range x.Values {
			l.scratch[i] = float64(v)
		}
		l.ops.AddScaled(l.sums[r*l.stride():r*l.stride()+l.Width], l.scratch, ta)
	}
	if l.Bias {
		l.sums[l.at(r, l.Width)] += ta
	}
}

// retire keeps the weights for their vote before they change. Weights that came through no step,
// as the first zeros do, have none.
func (l *Learner) retire() {
	if last := len(l.survived) - 1; last >= 0 && l.survived[last] > 0 {
		if l.votes() == l.MaxVectors {
			l.tooMany = true
			return
		}
		l.vectors = append(l.vectors, l.weights...)
		l.survived = append(l.survived, 0)
	}
}

// votes is the number of vectors kept.
func (l *Learner) votes() int { return len(l.vectors) / l.size() }

// fault says what went beyond bounds: vectors beyond MaxVectors, weights beyond float32.
func (l *Learner) fault() error {
	if l.tooMany {
		return &protocol.Fault{Code: protocol.CodeInputLimit, Class: protocol.ClassInput, Offset: -1,
			What: fmt.Sprintf("a perceptron that votes keeps the weights before each mistake; there are more than max_vectors, %d", l.MaxVectors),
			Hint: "Raise params.max_vectors, lower params.epochs, or use form averaged."}
	}
	if !finite(l.weights) || !finite(l.sums) {
		return &protocol.Fault{Code: protocol.CodeInputLimit, Class: protocol.ClassInput, Offset: -1,
			What: "the weights of the perceptron grew beyond float32", Hint: "Scale the features: params.features.scale."}
	}
	return nil
}

func finite[T float32 | float64](v []T) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// rate sets scores to <w, x> + b of every row of weights.
func (l *Learner) rate(x Row) {
	switch {
	case !l.Sparse && l.rows() == 1:
		l.scores[0] = l.ops.Dot(l.weights[:l.Width], x.Values)
	case !l.Sparse:
		l.ops.DotRows(l.scores, kernelops.Matrix{Data: l.weights, Rows: l.rows(), Cols: l.Width, Stride: l.stride()}, x.Values)
	case l.rows() == 1:
		l.scores[0] = l.ops.SparseDot(x.Index, x.Values, l.weights[:l.Width])
	default:
		clear(l.scores)
		rows := len(l.scores)
		for i, j := range x.Index {
			l.ops.Axpy(l.scores, l.weights[int(j)*rows:(int(j)+1)*rows], x.Values[i])
		}
	}
	for r := range l.scores {
		l.scores[r] += l.weights[l.at(r, l.Width)]
	}
}

// deciding returns the weights by which the forms plain and averaged predict: the last ones, or
// the mean of those after each step, w - u/T with u the sums and T the steps.
func (l *Learner) deciding() []float32 {
	if l.Form != Averaged || l.steps == 0 {
		return l.weights
	}
	mean := make([]float32, len(l.weights))
	for i := range mean {
		mean[i] = l.mean(i)
	}
	return mean
}

func (l *Learner) mean(i int) float32 {
	return float32(float64(l.weights[i]) - l.sums[i]/float64(l.steps))
}
