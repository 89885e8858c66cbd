package kernelops

import "math"

const (
	// byteTrialRows is how many rows of a base are searched, and byteTrials for how many queries, to see whether bytes
	// help: so few that a search that goes on without bytes loses little.
	byteTrialRows = 512
	byteTrials    = 12
	// byteTrialNear is which neighbor's distance is the limit there.
	byteTrialNear = 5
	// byteTrialShare: bytes help if at most one row in that number is left beside those neighbors. It is a far
	// smaller share of a whole base, whose limits are lower. To score a row takes some fifty times what float32
	// takes to leave it out.
	byteTrialShare = 12
	// byteTrialTied is how many rows of the sample may have the bounds of the nearest one, to the bit: a larger base
	// has as large a share of them, however low its limits are.
	byteTrialTied = 5
)

// byteTrial is what a sample of a base is searched for.
type byteTrial struct {
	x       Matrix    // some of the queries
	most    []float64 // of each, the distance beyond which no row is of interest; nil where none is known
	within  bool      // all rows within those are listed; else the nearest are
	queries int       // in all
}

// helps searches the sample. It reports whether bytes leave few rows, and whether they lose nothing of those of the
// base.
func (t byteTrial) helps(s *Set, y Matrix, kind byteKind, ws *Workspace) (helps, exact bool) {
	base := byteBase{byteCenter: byteCenter{byteKind: kind}}
	sample := y.sample(byteTrialRows)
	if !base.pack(s, sample, ws) {
		return false, false
	}
	if t.x.Rows == 0 {
		t = byteTrial{x: y, queries: t.queries}
	}
	trials := t.x.sample(byteTrials)
	var q byteQueries
	q.take(s.bytes, s.bytes.queries, trials, &base)
	found := make([]trialRows, trials.Rows)
	for i := range found {
		found[i] = trialRows{most: nearest{k: byteTrialNear}, lows: make([]float64, 0, sample.Rows)}
	}
	q.scan(s.bytes.tile, 0, panelCount(base.rows), func(i, row int, low, high float64) float64 {
		if high < found[i].most.least() {
			found[i].first = low
		}
		found[i].most.offer(high, row)
		found[i].lows = append(found[i].lows, low)
		return math.Inf(1)
	})
	left, tied := 0, 0
	for i := range found {
		f, most := &found[i], math.Inf(1)
		if t.most != nil {
			most = t.most[sampled(i, trials.Rows, t.x.Rows)]
		}
		switch f.exact = base.exact && q.known[i].exact; {
		case len(f.lows) == 0:
			left += sample.Rows // it has no bounds
		case t.within && f.exact: // what is left is not scored
		default:
			near, equal := f.left(most, t.within)
			left, tied = left+near, tied+equal
		}
	}
	if t.within { // a larger base does not have a smaller share of them
		return left <= trials.Rows*(sample.Rows/byteShare), base.exact
	}
	allowed := byteTrialNear + sample.Rows/byteTrialShare
	return left <= trials.Rows*allowed && tied <= trials.Rows*byteTrialTied, base.exact
}

// trialRows are what a query is compared with in a trial.
type trialRows struct {
	most  nearest   // by the upper bounds
	first float64   // the lower bound of the nearest
	lows  []float64 // the lower bounds
	exact bool      // both are the distance
}

// left counts the rows that bytes leave, and those of them with the bounds of the nearest one. None of interest is
// farther than most: all of these are, or the nearest.
func (t *trialRows) left(most float64, all bool) (near, tied int) {
	limit := t.most.worst()
	switch {
	case all:
		limit = most
	case t.exact:
		limit = math.Nextafter(limit, math.Inf(-1)) // ties are left out, see interest
	}
	limit = min(limit, most)
	for _, v := range t.lows {
		if v <= limit {
			near++
			if v == t.first && !t.exact {
				tied++
			}
		}
	}
	return near, tied
}

// sample returns a copy of n rows, or all rows if they are fewer.
func (m Matrix) sample(n int) Matrix {
	if m.Rows <= n {
		return m
	}
	some := NewMatrix(n, m.Cols)
	for i := range n {
		copy(some.Row(i), m.Row(sampled(i, n, m.Rows)))
	}
	return some
}

// sampled is row i of n that are chosen among rows, in order: one in each of n groups, at a place as if drawn. So rows
// that are alike every few rows are chosen as often as others.
func sampled(i, n, rows int) int {
	from, end := i*rows/n, (i+1)*rows/n
	return from + int(uint64(uint32(i+1)*0x9e3779b1)*uint64(end-from)>>32)
}
