package kernelops

import (
	"math"
	"slices"
)

const (
	// byteTrialRows is how many rows of a base are searched, and byteTrials for how many of them, to see whether
	// bytes help.
	byteTrialRows = 1024
	byteTrials    = 12
	// byteTrialNear is which neighbor's distance is the limit there.
	byteTrialNear = 10
	// byteTrialShare: bytes help if less than one row in that number is left beside those neighbors. It is a far
	// smaller share of a whole base, whose limits are lower. To score a row takes some fifty times what float32
	// takes to leave it out.
	byteTrialShare = 12
)

// bytesHelp searches a sample of a base for a few of its rows.
func bytesHelp(s *Set, y Matrix, kind byteKind, ws *Workspace) bool {
	base := byteBase{byteCenter: byteCenter{byteKind: kind}}
	sample := y.every(max(1, y.Rows/byteTrialRows))
	if !base.pack(s, sample, ws) {
		return false
	}
	trials := sample.every(max(1, sample.Rows/byteTrials))
	lows, highs := make([][]float64, trials.Rows), make([][]float64, trials.Rows)
	var q byteQueries
	q.take(s.bytes, s.bytes.queries, trials, &base)
	q.scan(s.bytes.tile, 0, panelCount(base.rows), func(i, _ int, low, high float64) float64 {
		lows[i], highs[i] = append(lows[i], low), append(highs[i], high)
		return math.Inf(1)
	})
	left := 0
	for i, high := range highs {
		slices.Sort(high)
		if len(high) < byteTrialNear {
			left += sample.Rows // it has no bounds
			continue
		}
		for _, low := range lows[i] {
			if low <= high[byteTrialNear-1] {
				left++
			}
		}
	}
	return left <= trials.Rows*(byteTrialNear+sample.Rows/byteTrialShare)
}

// every returns a view of one row in n.
func (m Matrix) every(n int) Matrix {
	rows := m.Rows / n
	return Matrix{Data: m.RowRange(0, max(0, rows-1)*n+1).Data, Rows: rows, Cols: m.Cols, Stride: n * m.Stride}
}
