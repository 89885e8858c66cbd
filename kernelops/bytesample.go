package kernelops

import "math"

const (
	// byteTrialRows is how many rows of a base are searched, and byteTrials for how many queries, to see whether bytes
	// help: so few that a search that goes on without bytes loses little.
	byteTrialRows = 512
	byteTrials    = 12
	// byteTrialNear is which neighbor's distance is the limit there.
	byteTrialNear = 5
	// byteTrialShare: bytes help if less than one row in that number is left beside those neighbors. It is a far
	// smaller share of a whole base, whose limits are lower. To score a row takes some fifty times what float32
	// takes to leave it out.
	byteTrialShare = 12
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
	sample := y.every(max(1, y.Rows/byteTrialRows))
	if !base.pack(s, sample, ws) {
		return false, false
	}
	if t.x.Rows == 0 {
		t = byteTrial{x: y, queries: t.queries}
	}
	step := max(1, t.x.Rows/byteTrials)
	trials, left := t.x.every(step), 0
	var q byteQueries
	q.take(s.bytes, s.bytes.queries, trials, &base)
	most, lows := make([]nearest, trials.Rows), make([][]float64, trials.Rows)
	for i := range most {
		most[i].k, lows[i] = byteTrialNear, make([]float64, 0, sample.Rows)
	}
	q.scan(s.bytes.tile, 0, panelCount(base.rows), func(i, row int, low, high float64) float64 {
		most[i].offer(high, row)
		lows[i] = append(lows[i], low)
		return math.Inf(1)
	})
	for i, low := range lows {
		limit, exact := most[i].worst(), base.exact && q.known[i].exact
		switch {
		case len(low) == 0:
			left += sample.Rows // it has no bounds
			continue
		case t.within && exact:
			continue // what is left is not scored
		case t.within:
			limit = t.most[i*step]
		case exact:
			limit = math.Nextafter(limit, math.Inf(-1)) // ties are left out, see interest
		}
		if t.most != nil {
			limit = min(limit, t.most[i*step])
		}
		for _, v := range low {
			if v <= limit {
				left++
			}
		}
	}
	allowed := byteTrialNear + sample.Rows/byteTrialShare
	if t.within {
		allowed = sample.Rows / byteShare // a larger base does not have a smaller share of them
	}
	return left <= trials.Rows*allowed, base.exact
}

// every returns a view of one row in n.
func (m Matrix) every(n int) Matrix {
	rows := m.Rows / n
	if rows == 0 {
		return m.RowRange(0, 0)
	}
	return Matrix{Data: m.RowRange(0, (rows-1)*n+1).Data, Rows: rows, Cols: m.Cols, Stride: n * m.Stride}
}
