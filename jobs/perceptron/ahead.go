package perceptron

// aheadRows is how many records are scored at once. Beyond four, more of them are scored anew after a mistake than
// memory gains by being read in more places.
const aheadRows = 4

// ahead is what dense records of two classes are scored with before those in front of them are learned from.
type ahead struct {
	rows     [aheadRows][]float32
	products [aheadRows]float32
}

// LearnAll shows the perceptron records in their order: it is Learn of each, to the bit.
func (l *Learner) LearnAll(records []Record) {
	if l.Rule != Signed || l.Sparse {
		for i := range records {
			r := &records[i]
			l.learn(r.Row, int(r.Class), r.Weight, nil)
		}
		return
	}
	for len(records) > 0 {
		n := min(aheadRows, len(records))
		l.learnAhead(records[:n])
		records = records[n:]
	}
}

// learnAhead is learnSigned of some dense records. Their products with the weights are made together, for memory
// gives more to whoever reads in several places, and made again where a mistake changed the weights.
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
		y := sign(int(r.Class))
		mistake := !(y*(a.products[i]+l.weights[l.Width]) > 0)
		if mistake {
			l.retire()
			l.update(0, r.Row, float32(y*weight))
		}
		changed = changed || mistake
		l.step(mistake)
	}
}
