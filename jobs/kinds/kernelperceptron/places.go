package kernelperceptron

import "math"

// add gives record i of a chunk a place, and tells the records after it their kernel values with it.
func (l *learner) add(c chunk, i int) int {
	place := l.live
	if l.budget > 0 && place >= l.budget {
		place = l.vacate(c.of[i])
	} else {
		l.live++
		l.grow()
	}
	copy(l.rows[place*l.space.Width:][:l.space.Width], c.X.Row(i))
	l.held.Put(l.kernel, place, &l.points, i)
	l.of[place], l.class[place] = c.of[i], c.Class[i]
	l.born[place] = int64(l.live) + l.dropped
	l.place[c.of[i]] = place
	copy(l.sums.tile.Row(place), l.gram.Row(i))
	l.sums.marks.copyRow(place, &l.marks, i)
	return place
}

// grow makes room for a support vector behind all others.
func (l *learner) grow() {
	l.rows = append(l.rows, make([]float32, l.space.Width)...)
	l.held.Grow(l.kernel)
	l.number = append(l.number, int32(l.supports()))
	l.of, l.class, l.born = append(l.of, 0), append(l.class, 0), append(l.born, 0)
	l.alpha = append(l.alpha, make([]float64, l.columns())...)
	if l.form == formAveraged {
		l.lag = append(l.lag, make([]float64, l.columns())...)
	}
}

// vacate drops a support vector from f and returns its place, which is for a newcomer. Unless the form is plain, the
// vector retires: to the place of the newcomer, if that was retired, else to one behind all others.
func (l *learner) vacate(newcomer int64) int {
	place := l.leaving()
	l.withdraw(place)
	l.dropped++
	if l.form == formPlain {
		delete(l.place, l.of[place])
		return place
	}
	other, known := l.place[newcomer]
	if !known {
		other = l.supports()
		l.grow()
	}
	l.place[l.of[place]] = other
	l.swap(place, other)
	return place
}

// withdraw takes a step for each class by which a support vector contributes to f and b no more.
func (l *learner) withdraw(place int) {
	columns, before := l.columns(), float64(l.seen-1)
	for y, a := range l.alpha[place*columns:][:columns] {
		if l.bias {
			l.b[y] -= a
		}
		if l.form == formAveraged {
			late := float64(a * before)
			l.lag[place*columns+y] -= late
			if l.bias {
				l.bLag[y] -= late
			}
		}
		if against := l.against(place, y); l.form == formVoted && a != 0 && against >= 0 {
			l.votes.add(l.number[place], against, -math.Abs(a), 0)
		}
	}
	clear(l.alpha[place*columns:][:columns])
}

// against is the class that lost what a support vector's class gained in a column; -1 for the column of its own class.
func (l *learner) against(place, column int) int {
	class := int(l.class[place])
	switch {
	case l.columns() == 1:
		return 1 - class
	case column == class:
		return -1
	}
	return column
}

// swap exchanges what is kept of two support vectors.
func (l *learner) swap(i, j int) {
	swapRows(l.rows, l.space.Width, i, j)
	l.held.Swap(l.kernel, i, j)
	swapRows(l.alpha, l.columns(), i, j)
	if l.form == formAveraged {
		swapRows(l.lag, l.columns(), i, j)
	}
	swapRows(l.of, 1, i, j)
	swapRows(l.class, 1, i, j)
	swapRows(l.born, 1, i, j)
	swapRows(l.number, 1, i, j)
}

func swapRows[T any](rows []T, width, i, j int) {
	for k := range width {
		rows[i*width+k], rows[j*width+k] = rows[j*width+k], rows[i*width+k]
	}
}

// leaving is the place of the support vector that the budget drops: the oldest, or of the smallest the oldest.
func (l *learner) leaving() int {
	columns, best, least := l.columns(), 0, math.Inf(1)
	for i, born := range l.born[:l.live] {
		size := 0.0
		if l.drop == dropSmallest {
			for _, a := range l.alpha[i*columns:][:columns] {
				size += float64(a * a)
			}
		}
		if size < least || size == least && born < l.born[best] {
			best, least = i, size
		}
	}
	return best
}
