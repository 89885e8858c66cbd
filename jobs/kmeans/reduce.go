package kmeans

import (
	"context"
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs/sampling"
)

// reduce chooses k of the weighted candidates of kmeans|| by k-means++ (step 8 of its algorithm 2): each in
// proportion to weight times D^2, by the race of their numbers. O(k * candidates * width).
func (j job) reduce(ctx context.Context, s *state, weights []float64) ([]float64, error) {
	width := s.space.Width
	race := sampling.NewRace(j.seed, fmt.Sprintf("kmeans/reduce/%d", s.restart))
	sqDists := make([]float64, len(weights))
	for i := range sqDists {
		sqDists[i] = 1
	}
	var centers []float64
	for round := range j.params.K {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		winner := first(race, uint64(round), weights, sqDists)
		if winner < 0 {
			return nil, j.checkSeeds(round, j.params.K)
		}
		center := wide(s.seeds[winner*width : (winner+1)*width])
		centers = append(centers, center...)
		for i := range sqDists {
			d := sqDist(s.seeds[i*width:(i+1)*width], center)
			if round == 0 || d < sqDists[i] {
				sqDists[i] = d
			}
		}
	}
	return centers, nil
}

// first returns the candidate that wins a round, the lower number at a tie; -1 if none can.
func first(race *sampling.Race, round uint64, weights, sqDists []float64) int {
	winner, best := -1, math.Inf(1)
	for i, w := range weights {
		if t := race.NumberTime(round<<32|uint64(i), float64(w*sqDists[i])); t < best {
			winner, best = i, t
		}
	}
	return winner
}
