package perceptron

import "github.com/gram-compute/gram/kernelops"

// Row is a vector to learn from: Values of columns Index, or of all columns where a Learner is
// not Sparse.
type Row struct {
	Index  []int32
	Values []float32
}

// Record is a row, its class, and how much it weighs.
type Record struct {
	Row
	Class   int32
	Weight  float32
	ordinal int64 // in its data set
}

// Learner is a perceptron that learns record by record: Algorithm 3. One goroutine at a time.
type Learner struct {
	Setup
	ops      *kernelops.Set
	weights  []float32 // see at
	sums     []float64 // Averaged: the sum of t times the update of step t, as the weights stand
	steps    int64     // records met; the sums' t counts them from 0
	vectors  []float32 // votes: the weights before each mistake, in their order
	survived []int64   // votes: steps that each of vectors, and last the weights, came through
	dropped  dropped   // votes: vectors beyond MaxVectors
	mistakes int64     // records that changed the weights
	updates  int64     // rows of weights changed
	touched  []bool    // of each weight: an update reached it; nil unless asked for
	scores   []float32
	scratch  []float64
	ahead    ahead
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
	weight = l.weigh(class, weight)
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
	l.step(mistake)
	return mistake
}

// weigh is a record's weight times that of its class.
func (l *Learner) weigh(class int, weight float32) float32 {
	if l.ClassWeights != nil {
		return float32(weight * l.ClassWeights[class])
	}
	return weight
}

// step counts a record that was met.
func (l *Learner) step(mistake bool) {
	l.steps++
	if mistake {
		l.mistakes++
	}
	if l.survived != nil {
		l.survived[len(l.survived)-1]++
	}
}

// learnSigned is the loop's body of Algorithm 3: the second class is +1, the first -1.
func (l *Learner) learnSigned(x Row, class int, weight float32, extra *float32) bool {
	y := sign(class)
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

// sign is y: +1 for the second class, -1 for the first.
func sign(class int) float32 { return float32(2*class - 1) }

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

const (
	// aheadRows is how many dense records are scored at once. Beyond four, more of them are scored anew after a
	// mistake than memory gains by being read in more places.
	aheadRows = 4
	// soonRows is how far behind a sparse record the one lies that is fetched while it is scored.
	soonRows = 2
)

// ahead is what dense records of two classes are scored with before those in front of them are learned from.
type ahead struct {
	rows     [2 * aheadRows][]float32 // and those that follow them
	products [aheadRows]float32
}

// LearnAll shows the perceptron records in their order: it is Learn of each, to the bit.
func (l *Learner) LearnAll(records []Record) {
	switch {
	case l.Rule != Signed:
		for i := range records {
			r := &records[i]
			l.learn(r.Row, int(r.Class), r.Weight, nil)
		}
	case l.Sparse:
		l.learnSparse(records)
	default:
		for len(records) > 0 {
			n := min(aheadRows, len(records))
			l.learnAhead(records[:n], records[n:])
			records = records[n:]
		}
	}
}

// learnSparse is learnSigned of sparse records, which may come from anywhere: each is fetched while those before it
// are scored.
func (l *Learner) learnSparse(records []Record) {
	w := l.weights[:l.Width]
	for i := range records {
		r, soon := &records[i], &Row{}
		if i+soonRows < len(records) {
			soon = &records[i+soonRows].Row
		}
		if weight := l.weigh(int(r.Class), r.Weight); weight != 0 {
			l.judge(r, weight, l.ops.SparseDotBefore(r.Index, r.Values, w, soon.Index, soon.Values))
		}
	}
}

// learnAhead is learnSigned of some dense records. Their products with the weights are made together, for memory
// gives more to a reader of several places at once, and made again where a mistake changed the weights. The first of
// those behind them are fetched meanwhile.
func (l *Learner) learnAhead(records, behind []Record) {
	a, w := &l.ahead, l.weights[:l.Width]
	for i := range records {
		a.rows[i] = records[i].Values
	}
	soon := a.rows[aheadRows:]
	soon = soon[:min(len(soon), len(behind))]
	for i := range soon {
		soon[i] = behind[i].Values
	}
	l.ops.DotEach(a.products[:len(records)], a.rows[:len(records)], w, soon)
	changed := false
	for i := range records {
		r := &records[i]
		weight := l.weigh(int(r.Class), r.Weight)
		if weight == 0 {
			continue
		}
		if changed {
			a.products[i] = l.ops.Dot(w, r.Values)
		}
		changed = l.judge(r, weight, a.products[i]) || changed
	}
}

// judge learns from a record of two classes that weighs more than 0, by its product with the weights.
func (l *Learner) judge(r *Record, weight, product float32) (mistake bool) {
	y := sign(int(r.Class))
	if mistake = !(y*(product+l.weights[l.Width]) > 0); mistake {
		l.retire()
		l.update(0, r.Row, float32(y*weight))
	}
	l.step(mistake)
	return mistake
}
