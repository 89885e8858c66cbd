//go:build unix

package knn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// roadRows are the rows that roads are compared on: those that 8 bits are made for, and those they cannot help with.
func roadRows(r *rand.Rand) map[string]func(i, j int) float64 {
	all := productRows(r)
	all["far"] = func(_, _ int) float64 { return 1e6 + r.NormFloat64() }
	all["nearly far"] = func(_, _ int) float64 { return 1000 + r.NormFloat64() }
	all["1e30"] = func(_, _ int) float64 { return 1e30 * r.NormFloat64() }
	all["equal"] = func(_, j int) float64 { return float64(j) / 3 }
	all["one hot"] = func(i, j int) float64 {
		if i*7919%64 == j {
			return 1
		}
		return 0
	}
	all["far queries"] = func(_, j int) float64 {
		if j == 3 {
			return 7
		}
		return r.NormFloat64()
	}
	return all
}

// BenchmarkRoads searches 40,000 x 64 for 400 queries by float32 and as the sets choose, in turn. It reports medians of
// the processor time, which other processes disturb little, and the median of what the choice lost of each turn, in
// percent: below 0 is a gain. Run it with -benchtime 15x -cpu 1.
func BenchmarkRoads(b *testing.B) {
	const n, queries, width, k = 40_000, 400, 64, 10
	names := []string{}
	for name := range roadRows(nil) {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, of := range []metric{l2, innerProduct, cosine} {
		for _, name := range names {
			b.Run(string(of)+"/"+name, func(b *testing.B) {
				value := roadRows(rand.New(rand.NewPCG(92, 0)))[name]
				base, asked := densePoints(nil, n, width, 0, value), densePoints(nil, queries, width, 0, value)
				for i := 3; name == "far queries" && i < len(asked.Dense); i += width {
					asked.Dense[i] = 1e6
				}
				compareRoads(b, of, rule{k: k}, base, asked)
			})
		}
	}
}

// BenchmarkRoadsBySize does so for normal rows of other sizes.
func BenchmarkRoadsBySize(b *testing.B) {
	for _, size := range [][3]int{{600, 400, 64}, {2000, 400, 64}, {2000, 2000, 64}, {10_000, 400, 64},
		{40_000, 128, 64}, {40_000, 256, 64}, {40_000, 800, 64}, {40_000, 400, 16}, {40_000, 400, 128},
		{10_000, 400, 784}} {
		for _, of := range []metric{l2, innerProduct} {
			b.Run(fmt.Sprintf("%s/%dx%d/%d", of, size[0], size[2], size[1]), func(b *testing.B) {
				r := rand.New(rand.NewPCG(93, 0))
				value := func(_, _ int) float64 { return r.NormFloat64() }
				compareRoads(b, of, rule{k: 10}, densePoints(nil, size[0], size[2], 0, value),
					densePoints(nil, size[1], size[2], 0, value))
			})
		}
	}
}

// BenchmarkRoadsWithin does so for all rows within a distance: one that few are within, half and nearly all.
func BenchmarkRoadsWithin(b *testing.B) {
	const n, queries, width = 40_000, 800, 64
	of := l2
	for name, value := range roadRows(rand.New(rand.NewPCG(94, 0))) {
		base, asked := densePoints(nil, n, width, 0, value), densePoints(nil, queries, width, 0, value)
		keys := []float64{}
		for i := range 64 {
			x := base.Tile(i*600, i*600+1, nil).Row(0)
			for j := range 64 {
				y := base.Tile(j*601, j*601+1, nil).Row(0)
				keys = append(keys, of.distance(of.key(x, y, 0, 0)))
			}
		}
		slices.Sort(keys)
		for _, share := range []float64{0.001, 0.5, 0.99} {
			radius := keys[int(share*float64(len(keys)))]
			b.Run(fmt.Sprintf("%s/%g", name, share), func(b *testing.B) {
				compareRoads(b, of, rule{radius: radius, counts: true}, base, asked)
			})
		}
	}
}

// compareRoads reports what the roads of a search take.
func compareRoads(b *testing.B, of metric, within rule, base, asked *points) {
	roads := [2]func(s *searcher) error{
		func(s *searcher) error { return s.byFloat(b, base) },
		func(s *searcher) error { return s.search(b.Context(), base) },
	}
	run := func(road int) float64 {
		s := &searcher{ops: kernelops.Best(), of: of, queries: asked,
			found: (&lists{rule: within, of: of}).begin(asked.N)}
		begun := processorTime(b)
		if err := roads[road](s); err != nil {
			b.Fatal(err)
		}
		return 1e3 * (processorTime(b) - begun).Seconds()
	}
	var float, chosen, lost []float64
	for turn := 0; b.Loop(); turn++ {
		var took [2]float64
		for i := range took { // either is first in every second turn
			took[(turn+i)%2] = run((turn + i) % 2)
		}
		float, chosen = append(float, took[0]), append(chosen, took[1])
		lost = append(lost, 100*(took[1]/took[0]-1))
	}
	median := func(of []float64) float64 {
		slices.Sort(of)
		return of[len(of)/2]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(float), "float32-ms")
	b.ReportMetric(median(chosen), "chosen-ms")
	b.ReportMetric(median(lost), "lost-%")
}

// processorTime is what this process took of it.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// byFloat is search without 8 bits.
func (s *searcher) byFloat(b *testing.B, base *points) error {
	switch {
	case s.of == l2 && s.found.k == 0:
		return s.tiles(b.Context(), base, rows.QueryRows, rankedRows, func(t tile) error {
			s.limits(t)
			s.packed.PackWithin(s.ops, t.y, t.x, s.most, 0, &s.ws) // for no queries: not as bytes
			return s.listed(t)
		})
	case s.of != l2:
		return s.tiles(b.Context(), base, rows.QueryRows, rows.BaseRows, s.dots)
	}
	return s.tiles(b.Context(), base.ordered(), rows.BaseRows, rankedRows, func(t tile) error {
		k := s.room(t)
		if t.firstX == 0 {
			s.packed.Pack(s.ops, t.y, 0, &s.ws) // for no queries: not as bytes
		}
		s.packed.Search(s.ids, s.dists, k, t.x, s.most, &s.ws)
		for i := range t.x.Rows {
			if err := s.enterAll(t, i, k); err != nil {
				return err
			}
		}
		return nil
	})
}
