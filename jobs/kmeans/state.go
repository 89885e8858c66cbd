package kmeans

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
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
	empty       []int32   // centres that a refill should move, ascending
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

// arrays writes the state.
func (s *state) arrays() jobs.Arrays {
	a, width := jobs.Arrays{}, s.space.Width
	s.space.Put(a)
	jobs.Put(a, "kmeans.at", []int64{int64(s.restart), int64(s.round), int64(s.newest)})
	jobs.Put(a, "kmeans.seeds", s.seeds, len(s.seeds)/width, width)
	jobs.Put(a, "kmeans.candidates", s.candidates, len(s.candidates)/width, width)
	jobs.PutScalar(a, "kmeans.largest", s.largest)
	jobs.Put(a, "kmeans.centers", s.centers, len(s.centers)/width, width)
	jobs.Put(a, "kmeans.empty", s.empty)
	jobs.Put(a, "kmeans.fingerprint", s.fingerprint)
	jobs.Put(a, "kmeans.distortion", []float64{s.distortion, s.best.distortion})
	jobs.Put(a, "kmeans.best", s.best.centers, len(s.best.centers)/width, width)
	jobs.Put(a, "kmeans.best.at", []int64{int64(s.best.restart), int64(s.best.rounds)})
	a.PutText("kmeans.best.stop", s.best.stop)
	return a
}

func readState(a jobs.Arrays) (*state, error) {
	space, err := features.ReadSpace(a)
	if err != nil {
		return nil, err
	}
	r := jobs.ArrayReader{Arrays: a}
	at, bestAt := jobs.ReadArray[int64](&r, "kmeans.at", 3), jobs.ReadArray[int64](&r, "kmeans.best.at", 2)
	distortion := jobs.ReadArray[float64](&r, "kmeans.distortion", 2)
	s := &state{space: space,
		seeds:       jobs.ReadArray[float32](&r, "kmeans.seeds", -1, space.Width),
		candidates:  jobs.ReadArray[float32](&r, "kmeans.candidates", -1, space.Width),
		largest:     jobs.ReadScalar[float64](&r, "kmeans.largest"),
		centers:     jobs.ReadArray[float64](&r, "kmeans.centers", -1, space.Width),
		empty:       jobs.ReadArray[int32](&r, "kmeans.empty"),
		fingerprint: jobs.ReadArray[uint64](&r, "kmeans.fingerprint"),
		best:        run{centers: jobs.ReadArray[float64](&r, "kmeans.best", -1, space.Width), stop: r.Text("kmeans.best.stop")},
	}
	if r.Err != nil {
		return nil, r.Err
	}
	s.restart, s.round, s.newest = int(at[0]), int(at[1]), int(at[2])
	s.distortion, s.best.distortion = distortion[0], distortion[1]
	s.best.restart, s.best.rounds = int(bestAt[0]), int(bestAt[1])
	return s, nil
}

// origin is the float32 point that data are centred by: the column means, or zero where vectors are sparse.
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
