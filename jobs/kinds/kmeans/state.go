package kmeans

import (
	"cmp"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/protocol"
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
	growth      *growth   // of algorithm bisecting, until its tree is in best; nil of others
	counts      []int64   // of algorithm minibatch: records that moved each center; nil at first
	best        run       // of the restarts that are finished

	means []float64 // of the records of each cluster of best, between phases means and finish; nil elsewhere
}

// run is a finished restart.
type run struct {
	centers         []float64 // empty for none
	distortion      float64
	restart, rounds int
	stop            string
	tree            *tree // of algorithm bisecting; nil of others
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
	if f.Has("kmeans.best.tree.children", s.best.tree != nil) {
		jobs.Make(f, &s.best.tree).Fields(f, "kmeans.best.tree", len(s.best.centers)/width, width)
	}
	if f.Has("bisecting.id", s.growth != nil) {
		jobs.Make(f, &s.growth).Fields(f, width)
	}
	jobs.Optional(f, "kmeans.counts", &s.counts, len(s.centers)/width)
	jobs.Optional(f, "kmeans.means", &s.means, len(s.best.centers)/width, width)
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

// maxCenterValues bounds k * width, maxWidth the zeros that sparse rows are filled up with.
const (
	maxCenterValues = 1 << 27
	maxWidth        = 1 << 20
)

// begin prepares the state for the first restart. It checks k against the records, and given centers against the space.
// More clusters than training records are a fault of CodeInputEmpty.
func (j job) begin(model jobs.Arrays, space *features.Space) (jobs.Next, error) {
	s := &state{space: space}
	if j.params.Init == initGiven {
		var err error
		if s.centers, err = j.given(model, space); err != nil {
			return jobs.Next{}, err
		}
	}
	p := j.params
	p.K = max(p.K, len(s.centers)/space.Width) // spec.model may give it
	if err := cmp.Or(p.checkAlgorithm(), p.checkSizes(), checkSize(space, p.K)); err != nil {
		return jobs.Next{}, err
	}
	if j.params.Algorithm == algorithmBisecting {
		s.growth = newGrowth(space.Width)
	}
	if j.params.BatchSize != nil && *j.params.BatchSize > maxBatchCells/space.Width {
		return jobs.Next{}, protocol.InputFault(protocol.CodeInputLimit,
			"a batch of %d records of %d columns does not fit: it has up to 2^24 numbers", *j.params.BatchSize,
			space.Width).WithHint("Make batch_size smaller.")
	}
	return jobs.Next{Phase: j.firstPhase(), State: jobs.ArraysOf(s)}, nil
}

func checkSize(space *features.Space, k int) error {
	switch {
	case space.Width > maxWidth || k > maxCenterValues/space.Width:
		return protocol.InputFault(protocol.CodeInputLimit,
			"centers of that width do not fit: k-means takes up to 2^20 columns, and 2^27 numbers in all centers").
			WithHint("Make the vectors narrower (for text: max_features, min_df), or k smaller.")
	case int64(k) > space.Records:
		return protocol.EmptyFault("k is %d, more than the %s", k, protocol.Counted(space.Records, "training record")).
			WithHint("Choose k of at most the number of records.")
	}
	return nil
}

// given returns the centers of the parameters or of a model.
func (j job) given(model jobs.Arrays, space *features.Space) ([]float64, error) {
	var centers []float64
	if j.params.Centers != nil {
		if n := len(j.params.Centers[0]); n != space.Width {
			return nil, protocol.SpecFault(
				"spec.params: the centers have %d numbers each; the records have %d", n, space.Width)
		}
		centers = slices.Concat(j.params.Centers...)
	} else {
		m, err := readModel(model)
		if err != nil {
			return nil, err
		}
		if err := j.checkFit(m, space); err != nil {
			return nil, err
		}
		centers = slices.Clone(m.centers)
	}
	if j.cosine() {
		unit(centers, space.Width)
		for i := 0; i < len(centers); i += space.Width {
			if zero(centers[i : i+space.Width]) {
				return nil, protocol.SpecFault(
					"spec.params: center %d is all zeros, which has no direction", i/space.Width)
			}
		}
	}
	return centers, nil
}

// checkFit refuses a model whose centers do not lie in this job's space.
func (j job) checkFit(m *model, space *features.Space) error {
	k := len(m.centers) / m.space.Width
	switch {
	case j.params.K != 0 && j.params.K != k:
		return protocol.SpecFault("spec.params: k is %d, but the model of spec.model has %d centers", j.params.K, k)
	case m.space.Width != space.Width || m.space.Scale() != space.Scale():
		return protocol.SpecFault("the model of spec.model has %d columns with scale %s; this job has %d with scale %s",
			m.space.Width, m.space.Scale(), space.Width, space.Scale())
	case !m.space.SameCategories(space):
		return protocol.SpecFault("the categories of the model of spec.model have other columns than this job's").
			WithHint("Train on records of the same categories, or begin anew, without spec.model.")
	case space.Texts():
		return protocol.SpecFault("centers of texts lie in their model's columns; begin anew, without spec.model")
	}
	return nil
}
