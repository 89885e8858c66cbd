package kmeans

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
)

// separated are 25 groups of 60 points in six columns, their centers anywhere from -10 to 10, with a standard deviation
// of 0.6, as scikit-learn's make_blobs(1500, 6, centers=25, cluster_std=.6) draws them.
func separated(seed uint64) (rows [][]float32, centers [][]float64) {
	r := rand.New(rand.NewPCG(seed, 71))
	for range 25 {
		center := make([]float64, 6)
		for j := range center {
			center[j] = 20*r.Float64() - 10
		}
		centers = append(centers, center)
	}
	for i := range 1500 {
		row := make([]float32, 6)
		for j := range row {
			row[j] = float32(centers[i%25][j] + 0.6*r.NormFloat64())
		}
		rows = append(rows, row)
	}
	return rows, centers
}

// Of 15 seeds, the median run finds every one of 25 separated groups: its J is that of Lloyd's algorithm from the
// centers that the groups were made with.
func TestMedianSeedFindsSeparatedGroups(t *testing.T) {
	rows, centers := separated(0)
	found, _ := plain(rows, centers, 20)
	best := found[len(found)-1]
	records := jobstest.Deal(jobstest.DenseRecords(rows), 6)
	for _, init := range []string{initParallel, initPlusPlus} {
		var all []float64
		for seed := range uint64(15) {
			spec := specOf(fmt.Sprintf(`{"k": 25, "init": %q}`, init))
			spec.Spec.Repro.Seed = seed
			result, err := jobstest.Run(t.Context(), algorithmOf(t, spec), spec, jobstest.Shards(records, 64),
				kernelops.Best(), jobstest.Grouping{})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, modelOf(t, result).distortion())
		}
		slices.Sort(all)
		t.Logf("%s: J %.0f, median %.0f, worst %.0f; of the true groups %.0f", init, all[0], all[7], all[14], best)
		if all[7] > best*(1+1e-9) {
			t.Errorf("%s: the median J of 15 seeds is %v, not %v: %v", init, all[7], best, all)
		}
	}
}

// Candidates 0, 1, 10 and 12 on a line, weights 1: from 0, D^2 is 0, 1, 100, 144. With 10 for a center 0+1+0+4 is left,
// with 12 0+1+4+0, with 1 0+0+81+121: 10 and 12 tie, and the first drawn of them wins, whatever beside them was drawn.
func TestReductionByHand(t *testing.T) {
	r := newReduction([]float32{0, 1, 10, 12}, 1, []float64{1, 1, 1, 1})
	r.choose([]int{0})
	if !slices.Equal(r.sqDists, []float64{0, 1, 100, 144}) {
		t.Fatalf("from 0: %v", r.sqDists)
	}
	for _, try := range []struct {
		i    int
		left float64
	}{{1, 202}, {2, 5}, {3, 5}} {
		if got := r.try(try.i); got != try.left {
			t.Errorf("with candidate %d %v is left, want %v", try.i, got, try.left)
		}
	}
	r.choose([]int{1, 3, 2})
	if !slices.Equal(r.centers, []float64{0, 12}) || !slices.Equal(r.sqDists, []float64{0, 1, 4, 0}) ||
		!slices.Equal(r.nearest, []int32{0, 0, 1, 1}) {
		t.Errorf("centers %v, left %v of %v", r.centers, r.sqDists, r.nearest)
	}
}

// Pruning and drawing in parts change nothing: the reduction is the loop over all candidates in which nothing is
// spared.
func TestReductionIsBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 72))
	for run := range 20 {
		n, width, k := 30+rng.IntN(60), 1+rng.IntN(5), 2+rng.IntN(20)
		s, weights := &state{restart: run}, make([]float64, n)
		for i := range n {
			weights[i] = float64(rng.IntN(4))
			for range width {
				s.seeds = append(s.seeds, float32(rng.IntN(40))+float32(run%2)*rng.Float32())
			}
		}
		s.space = &features.Space{Width: width}
		j := job{params: defaults(), seed: uint64(run)}
		j.params.K = k
		got, err := j.reduce(context.Background(), s, weights)
		if err != nil {
			t.Fatal(err)
		}
		if want := plainReduction(j, s, width, weights); !slices.Equal(got, want) {
			t.Fatalf("run %d: %v, want %v", run, got, want)
		}
	}
}

func plainReduction(j job, s *state, width int, weights []float64) []float64 {
	race := sampling.NewRace(j.seed, fmt.Sprintf("kmeans/reduce/%d", s.restart))
	row := func(i int) []float32 { return s.seeds[i*width : (i+1)*width] }
	var centers []float64
	left := slices.Repeat([]float64{1}, len(weights))
	for round := range j.params.K {
		type timed struct {
			at   float64
			i    int
			left []float64
		}
		var all []timed
		for i, w := range weights {
			if t := race.NumberTime(uint64(round)<<32|uint64(i), w*left[i], math.Inf(1)); t < math.Inf(1) {
				all = append(all, timed{at: t, i: i})
			}
		}
		slices.SortStableFunc(all, func(a, b timed) int { return map[bool]int{true: -1, false: 1}[a.at < b.at] })
		if trials := 2 + int(math.Log(float64(j.params.K))); round > 0 {
			all = all[:min(len(all), trials)]
		} else {
			all = all[:1]
		}
		best, least := 0, math.Inf(1)
		for c := range all {
			sum := 0.0
			for i := range weights {
				d := rows.SquaredDistance(row(i), wide(row(all[c].i)))
				if round > 0 {
					d = min(d, left[i])
				}
				all[c].left = append(all[c].left, d)
				sum += weights[i] * d
			}
			if sum < least {
				best, least = c, sum
			}
		}
		left, centers = all[best].left, append(centers, wide(row(all[best].i))...)
	}
	return centers
}

// A potential is the sum of its numbers in any order, to 80 bits below the largest, and compares as they do.
func TestPotentialIsTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 73))
	for range 200 {
		numbers, largest := make([]float64, 1+r.IntN(50)), 0.0
		scale := r.IntN(400) - 200
		for i := range numbers {
			numbers[i] = math.Ldexp(r.Float64(), scale-r.IntN(120))
			largest = max(largest, numbers[i])
		}
		at, exact := newFixedPoint(largest), new(big.Float).SetPrec(500)
		var whole, left, right potential
		for i, v := range numbers {
			exact.Add(exact, big.NewFloat(v))
			whole.join(at.of(v))
			if i%3 == 0 {
				left.join(at.of(v))
			} else {
				right.join(at.of(v))
			}
		}
		right.join(left)
		if whole != right || whole.below(right) {
			t.Fatalf("%v in one order, %v in another", whole, right)
		}
		got := new(big.Float).SetPrec(500).SetInt(new(big.Int).Or(new(big.Int).Lsh(new(big.Int).SetUint64(whole.high),
			64), new(big.Int).SetUint64(whole.low)))
		got.SetMantExp(got, int(at))
		off, _ := exact.Sub(exact, got).Float64()
		if off < 0 || off > math.Ldexp(float64(len(numbers)), int(at)) {
			t.Fatalf("a sum of %d numbers up to %v is off by %v", len(numbers), largest, off)
		}
		more := whole
		if more.join(at.of(largest)); !whole.below(more) || more.below(whole) {
			t.Fatal("more is not above less")
		}
	}
}
