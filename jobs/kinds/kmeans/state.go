package kmeans

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
)

// state is what a job passes from round to round.
type state struct {
	space   *features.Space
	restart int // from 0
	round   int // of seeding, or of Lloyd, from 0

	// seeding
	seeds  []float32 // rows drawn so far
	newest int       // how many of them the last round drew
	// of kmeans++ alone
	candidates []float32 // rows, the best of which becomes a seed
	largest    float64   // no w D^2 is above it

	// Lloyd
	centers     []float64 // rows, in the space's coordinates
	empty       []int32   // centers that a refill should move, ascending
	fingerprint []uint64  // of the assignments of the last round
	distortion  float64   // of the last round
	best        run       // of the restarts that are finished
}

// run is a finished restart.
type run struct {
	centers         []float64 // empty for none
	distortion      float64
	restart, rounds int
	stop            string
}

// Why a run stopped.
const (
	stopUnchanged = "unchanged"
	stopTolerance = "tolerance"
	stopRounds    = "max_rounds"
)

// Fields lists the state.
func (s *state) Fields(f *jobs.Fields) {
	jobs.Make(f, &s.space).Fields(f)
	width, restart, round, newest := s.space.Width, int64(s.restart), int64(s.round), int64(s.newest)
	jobs.Tuple(f, "kmeans.at", &restart, &round, &newest)
	s.restart, s.round, s.newest = int(restart), int(round), int(newest)
	jobs.List(f, "kmeans.seeds", &s.seeds, -1, width)
	jobs.List(f, "kmeans.candidates", &s.candidates, -1, width)
	jobs.Scalar(f, "kmeans.largest", &s.largest)
	jobs.List(f, "kmeans.centers", &s.centers, -1, width)
	jobs.List(f, "kmeans.empty", &s.empty)
	jobs.List(f, "kmeans.fingerprint", &s.fingerprint)
	jobs.Tuple(f, "kmeans.distortion", &s.distortion, &s.best.distortion)
	jobs.List(f, "kmeans.best", &s.best.centers, -1, width)
	restart, round = int64(s.best.restart), int64(s.best.rounds)
	jobs.Tuple(f, "kmeans.best.at", &restart, &round)
	s.best.restart, s.best.rounds = int(restart), int(round)
	f.Text("kmeans.best.stop", &s.best.stop)
}

// origin is the float32 point that data are centered by: the column means, or zero where vectors are sparse.
func origin(space *features.Space) []float32 {
	o := make([]float32, space.Width)
	for j, mean := range space.Mean {
		o[j] = float32(mean)
	}
	return o
}

// unit scales rows to length 1; a row of zeros stays.
func unit(rows []float64, width int) {
	for i := 0; i < len(rows); i += width {
		row, sum := rows[i:i+width], 0.0
		for _, v := range row {
			sum += float64(v * v)
		}
		if norm := math.Sqrt(sum); norm > 0 {
			for j := range row {
				row[j] /= norm
			}
		}
	}
}
