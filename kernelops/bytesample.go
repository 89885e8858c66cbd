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

// bytesHelp searches a sample of a base for a few queries, some of those of x. It reports whether bytes leave few rows,
// and whether they lose nothing of those of the base.
func bytesHelp(s *Set, y, x Matrix, kind byteKind, ws *Workspace) (helps, exact bool) {
	base := byteBase{byteCenter: byteCenter{byteKind: kind}}
	sample := y.every(max(1, y.Rows/byteTrialRows))
	if !base.pack(s, sample, ws) {
		return false, false
	}
	if x.Rows == 0 {
		x = y
	}
	trials := x.every(max(1, x.Rows/byteTrials))
	most, lows := make([]nearest, trials.Rows), make([]float64, trials.Rows*sample.Rows)
	for i := range lows {
		lows[i] = math.Inf(-1) // it has no bounds
	}
	for i := range most {
		most[i].k = byteTrialNear
	}
	var q byteQueries
	q.take(s.bytes, s.bytes.queries, trials, &base)
	q.scan(s.bytes.tile, 0, panelCount(base.rows), func(i, row int, low, high float64) float64 {
		lows[i*sample.Rows+row] = low
		most[i].offer(high, row)
		return math.Inf(1)
	})
	left := 0
	for i := range most {
		limit := most[i].worst()
		if base.exact && q.known[i].exact {
			limit = math.Nextafter(limit, math.Inf(-1)) // ties are left out, see interest
		}
		for _, low := range lows[i*sample.Rows : (i+1)*sample.Rows] {
			if low <= limit {
				left++
			}
		}
	}
	return left <= trials.Rows*(byteTrialNear+sample.Rows/byteTrialShare), base.exact
}

// every returns a view of one row in n.
func (m Matrix) every(n int) Matrix {
	rows := m.Rows / n
	return Matrix{Data: m.RowRange(0, max(0, rows-1)*n+1).Data, Rows: rows, Cols: m.Cols, Stride: n * m.Stride}
}
