package kmeans

import (
	"context"
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sampling"
)

// reduce chooses k of the weighted candidates of kmeans|| by greedy k-means++ (step 8 of its algorithm 2): trials of
// them are drawn in proportion to weight times D^2, by the race of their numbers, and the one that leaves the least sum
// of weight times D^2 becomes a center. O(k * trials * (k * width + candidates)), and a few distances more.
func (j job) reduce(ctx context.Context, s *state, weights []float64) ([]float64, error) {
	r := newReduction(s.seeds, s.space.Width, weights)
	race := sampling.NewRace(j.seed, fmt.Sprintf("kmeans/reduce/%d", s.restart))
	for round := range j.params.K {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		trials := j.trials()
		if round == 0 {
			trials = 1
		}
		drawn := r.draw(race, uint64(round), trials)
		if len(drawn) == 0 {
			return nil, j.checkSeeds(round, j.params.K)
		}
		r.choose(drawn)
	}
	return r.centers, nil
}

// reduction is how far the choice is.
type reduction struct {
	rows    []float32 // the candidates
	width   int
	weights []float64
	sqDists []float64 // of each candidate to its nearest center; 1 while there is none
	nearest []int32   // that center
	centers []float64

	tried, best []float64 // sqDists with a trial, and with the best so far
	gaps        []float64 // squared distances of a trial to the centers
}

func newReduction(rows []float32, width int, weights []float64) *reduction {
	n := len(weights)
	r := &reduction{rows: rows, width: width, weights: weights, sqDists: make([]float64, n), nearest: make([]int32, n),
		tried: make([]float64, n), best: make([]float64, n)}
	for i := range r.sqDists {
		r.sqDists[i] = 1
	}
	return r
}

func (r *reduction) row(i int) []float32 { return r.rows[i*r.width : (i+1)*r.width] }

// draw returns the first candidates of a round, the lower number at a tie; none if none can be drawn.
func (r *reduction) draw(race *sampling.Race, round uint64, trials int) []int {
	var drawn []int
	times := make([]float64, 0, trials)
	for i, w := range r.weights {
		limit := math.Inf(1)
		if len(drawn) == trials {
			limit = times[trials-1]
		}
		t := race.NumberTime(round<<32|uint64(i), float64(w*r.sqDists[i]), limit)
		if !(t < limit) {
			continue
		}
		if len(drawn) < trials {
			drawn, times = append(drawn, 0), append(times, 0)
		}
		at := len(drawn) - 1
		for ; at > 0 && t < times[at-1]; at-- {
			drawn[at], times[at] = drawn[at-1], times[at-1]
		}
		drawn[at], times[at] = i, t
	}
	return drawn
}

// choose makes that of the drawn candidates a center which leaves the least potential, the first at a tie.
func (r *reduction) choose(drawn []int) {
	winner, least := -1, math.Inf(1)
	for _, i := range drawn {
		if sum := r.try(i); winner < 0 || sum < least {
			winner, least = i, sum
			r.best, r.tried = r.tried, r.best
		}
	}
	number, first := int32(len(r.centers)/r.width), len(r.centers) == 0
	for i, d := range r.best {
		if first || d < r.sqDists[i] {
			r.sqDists[i], r.nearest[i] = d, number
		}
	}
	r.centers = append(r.centers, wide(r.row(winner))...)
}

// try sets r.tried to the squared distances with candidate i for a center, and returns their weighted sum. The
// candidates that i does not reach keep theirs.
func (r *reduction) try(i int) float64 {
	trial, first := wide(r.row(i)), len(r.centers) == 0
	r.gaps = r.gaps[:0]
	for c := 0; c < len(r.centers); c += r.width {
		r.gaps = append(r.gaps, rows.SquaredDistance(r.row(i), r.centers[c:c+r.width]))
	}
	sum := 0.0
	for other, d := range r.sqDists {
		if first || reaches(r.gaps[r.nearest[other]], d) {
			if near := rows.SquaredDistance(r.row(other), trial); first || near < d {
				d = near
			}
		}
		r.tried[other] = d
		sum += float64(r.weights[other] * d)
	}
	return sum
}
