package kernelops

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Pilots at 0, 1, 2, ... with their k-th rows at 3 + 2 at lie on a line, and the guess for 10 is 23. With every second
// of them farther by 1 the line goes amid them, and a guess is two deviations of 1/2 above it.
func TestGuessLineByHand(t *testing.T) {
	for _, c := range []struct{ step, want float64 }{{0, 23}, {1, 24.5}} {
		x := NewMatrix(leastPilots, 1)
		b := Base{bytes: byteBase{byteCenter: byteCenter{values: []float64{0}}}}
		var dists []float64
		for i := range x.Rows {
			x.Row(i)[0] = float32(math.Sqrt(float64(i / 4)))
			dists = append(dists, 3+2*float64(i/4)+c.step*float64(i%2))
			b.guesses.pilots = append(b.guesses.pilots, i)
		}
		line, ok := b.line(dists, 1, x)
		if got := line.guess(10); !ok || math.Abs(got-c.want) > 1e-5 {
			t.Errorf("the guess is %v, want %v", got, c.want)
		}
		for i := leastPilots/2 - 1; i < leastPilots; i++ {
			dists[i] = math.Inf(1)
		}
		if _, ok := b.line(dists, 1, x); ok {
			t.Error("a line through too few pilots")
		}
	}
	if guess := (guessLine{base: -5, slope: 1}).guess(2); !math.IsInf(guess, 1) {
		t.Errorf("the guess of a distance below 0 is %v", guess)
	}
}

// Of each 16 queries one is a pilot, all are dealt once, and no place among the 16 is that of most pilots.
func TestPilots(t *testing.T) {
	for _, n := range []int{1, 16, 17, 1600} {
		var g guesses
		g.deal(n)
		all := slices.Sorted(slices.Values(slices.Concat(g.pilots, g.others)))
		for i, at := range all {
			if i != at {
				t.Fatalf("of %d queries number %d is dealt as %d", n, i, at)
			}
		}
		if len(all) != n || len(g.pilots) > (n+pilotShare-1)/pilotShare {
			t.Errorf("%d of %d queries, %d pilots", len(all), n, len(g.pilots))
		}
		places := map[int]int{}
		for _, i := range g.pilots {
			places[i%pilotShare]++
		}
		for place, count := range places {
			if n == 1600 && count > 25 {
				t.Errorf("%d of %d pilots are number %d of their 16", count, len(g.pilots), place)
			}
		}
	}
}

// guessable is hard data for guesses, too: pilots that are unlike the others, two densities, queries and rows that are
// not finite, a base with fewer rows than a query wants.
func guessable(r *rand.Rand) map[string]func(x, y Matrix) {
	all := map[string]func(x, y Matrix){}
	for name, put := range hardForBytes(r) {
		all[name] = func(x, y Matrix) { put(x); put(y) }
	}
	normal := func(m Matrix, scale func(i int) float64) {
		for i := range m.Rows {
			for j := range m.Row(i) {
				m.Row(i)[j] = float32(r.NormFloat64() * scale(i))
			}
		}
	}
	one := func(int) float64 { return 1 }
	all["pilots are near"] = func(x, y Matrix) {
		var g guesses
		g.deal(x.Rows)
		normal(x, func(i int) float64 {
			if slices.Contains(g.pilots, i) {
				return 1e-3
			}
			return 30
		})
		normal(y, one)
	}
	all["two densities"] = func(x, y Matrix) {
		uneven := func(i int) float64 { return 1 + 99*float64(i*7919%5/4) }
		normal(x, uneven)
		normal(y, uneven)
	}
	all["no finite queries"] = func(x, y Matrix) {
		normal(x, one)
		normal(y, one)
		for i := range x.Rows {
			x.Row(i)[i%x.Cols] = float32([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e38}[i%4])
		}
	}
	all["few finite rows"] = func(x, y Matrix) {
		normal(x, one)
		normal(y, one)
		for i := range y.Rows - 3 {
			y.Row(i)[i%y.Cols] = float32(math.NaN())
		}
	}
	return all
}

// TestGuessedSearches compares searches by guesses with all distances.
func TestGuessedSearches(t *testing.T) {
	needBytes(t)
	r := rand.New(rand.NewPCG(92, 0))
	searched := 0
	for name, put := range guessable(r) {
		x := NewMatrix(leastPilots*pilotShare+r.IntN(40), 16+r.IntN(9))
		y := NewMatrix(leastGuessed+r.IntN(70), x.Cols)
		put(x, y)
		k := 1 + r.IntN(16)
		ids, dists := make([]int, x.Rows*k), make([]float64, x.Rows*k)
		Generic().Search(ids, dists, k, x, y, &Workspace{})
		wantIDs, wantDists := slices.Clone(ids), slices.Clone(dists)
		for _, s := range withBytes() {
			var base Base
			ws := Workspace{Threads: 1 + r.IntN(3)}
			base.Pack(s, y, x.Rows, &ws)
			if base.packed = base.bytes.pack(s, y, &ws); !base.packed {
				continue
			}
			if !base.mayGuess(x, nil) || base.mayGuess(x.RowRange(0, leastPilots), nil) ||
				base.mayGuess(x, make([]float64, x.Rows)) {
				t.Fatalf("%s: guesses are for other searches", name)
			}
			base.searchGuessed(ids, dists, k, x, &ws)
			if !slices.Equal(ids, wantIDs) || !slices.Equal(dists, wantDists) {
				t.Fatalf("%s: other lists on %s, %dx%dx%d, k = %d", s.Name, name, x.Rows, y.Rows, x.Cols, k)
			}
			searched++
		}
	}
	if searched < 10*len(withBytes()) {
		t.Errorf("%d searches by guesses", searched)
	}
}
