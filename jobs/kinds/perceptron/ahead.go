package perceptron

const (
	// aheadRows is how many dense records are scored at once. Beyond four, more of them are scored anew after a
	// mistake than memory gains by being read in more places.
	aheadRows = 4
	// soonRows is how far behind a sparse record the one lies that is fetched while it is scored.
	soonRows = 2
)

// ahead is what dense records of two classes are scored with before those in front of them are learned from.
type ahead struct {
	rows     [aheadRows][]float32
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
			l.learnAhead(records[:n])
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
// gives more to a reader of several places at once, and made again where a mistake changed the weights.
func (l *Learner) learnAhead(records []Record) {
	a, w := &l.ahead, l.weights[:l.Width]
	for i := range records {
		a.rows[i] = records[i].Values
	}
	l.ops.DotEach(a.products[:len(records)], a.rows[:len(records)], w)
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
