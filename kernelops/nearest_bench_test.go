package kernelops

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkNearest compares, for a record of data about their mean: Nearest, and all distances in float64. far is
// Nearest where pairs of centers are too close for scores.
func BenchmarkNearest(b *testing.B) {
	const rows = 4096
	for _, shape := range [][2]int{{2, 300}, {32, 16}, {32, 256}, {784, 256}} {
		cols, k := shape[0], shape[1]
		r, s := rand.New(rand.NewPCG(7, 0)), Best()
		x, centers, origin := NewMatrix(rows, cols), make([]float64, k*cols), make([]float32, cols)
		for i := range centers {
			centers[i] = 3 * r.NormFloat64()
		}
		for i := range x.Data {
			x.Data[i] = float32(centers[i/cols%k*cols+i%cols] + r.NormFloat64())
		}
		var ws Workspace
		index, sqDist := make([]int32, rows), make([]float64, rows)
		packed, all := s.PackCenters(centers, origin), s.PackCenters(centers, origin)
		all.matrix = nil
		far := append([]float64{}, centers...)
		for i := range far {
			far[i] = centers[i%cols] + 1e-4*centers[i]
		}
		for name, run := range map[string]func(){
			"nearest": func() { s.Nearest(index, sqDist, x, packed, &ws) },
			"float64": func() { s.Nearest(index, sqDist, x, all, &ws) },
		} {
			b.Run(fmt.Sprintf("%dx%d/%s", cols, k, name), func(b *testing.B) {
				for b.Loop() {
					run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			})
		}
		close := s.PackCenters(far, origin)
		b.Run(fmt.Sprintf("%dx%d/far", cols, k), func(b *testing.B) {
			for b.Loop() {
				s.Nearest(index, sqDist, x, close, &ws)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
