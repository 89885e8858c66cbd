package kernelops

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkBounds runs the first rounds of k-means on rows of normal numbers: assignment alone, by bounds. With -v it
// prints each round.
func BenchmarkBounds(b *testing.B) {
	const rounds = 20
	for _, shape := range [][3]int{{100_000, 32, 256}, {50_000, 64, 100}, {10_000, 784, 10}} {
		r, s := rand.New(rand.NewPCG(1, 2)), Best()
		x := NewMatrix(shape[0], shape[1])
		for i := range x.Data {
			x.Data[i] = float32(r.NormFloat64())
		}
		b.Run(fmt.Sprint(shape), func(b *testing.B) {
			for b.Loop() {
				benchmarkBounds(b, s, x, shape[2], rounds)
			}
		})
	}
}

// benchmarkBounds reports the mean nanoseconds a row of a round, and those of Nearest.
func benchmarkBounds(b *testing.B, s *Set, x Matrix, k, rounds int) {
	origin := meanOf(x)
	var centers []float64
	for _, v := range x.Data[:k*x.Cols] {
		centers = append(centers, float64(v))
	}
	var ws Workspace
	index, sqDist := make([]int32, x.Rows), make([]float64, x.Rows)
	c := s.PackCenters(centers, origin)
	began := time.Now()
	s.Nearest(index, sqDist, x, c, &ws)
	plain := time.Since(began)
	bounds, all := NewBounds(s, c, x.Rows, NewByteRows(s, x, origin)), time.Duration(0)
	for round := range rounds {
		centers = lloyd(centers, index, x)
		began, moves := time.Now(), 0
		bounds.Move(s.PackCenters(centers, origin))
		for from := 0; from < x.Rows; from += 1024 {
			to := min(from+1024, x.Rows)
			m, _ := bounds.Nearest(index[from:to], sqDist[from:to], x.RowRange(from, to), from, &ws)
			moves += len(m)
		}
		d := time.Since(began)
		all += d
		b.Logf("round %d: %.1f ns a row, %.3f of the distances, %.3f moved", round+2, perRow(d, x),
			bounds.Share(), float64(moves)/float64(x.Rows))
	}
	b.ReportMetric(perRow(plain, x), "plain-ns/row")
	b.ReportMetric(perRow(all, x)/float64(rounds), "bounds-ns/row")
}

func perRow(d time.Duration, x Matrix) float64 { return float64(d.Nanoseconds()) / float64(x.Rows) }
