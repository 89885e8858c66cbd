package kmeans

import (
	"context"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/protocol"
)

// spacePhase finds the space of the training records and prepares the state for the first restart.
type spacePhase struct {
	jobs.Phase
	job
}

// maxCenterValues bounds k * width, maxWidth the zeros that sparse rows are filled up with.
const (
	maxCenterValues = 1 << 27
	maxWidth        = 1 << 20
)

// Step checks k against the records, and given centres against the space. More clusters
// than training records are a fault of CodeInputEmpty.
func (p *spacePhase) Step(ctx context.Context, model jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	next, err := p.Phase.Step(ctx, model, round)
	if err != nil {
		return jobs.Next{}, err
	}
	space, err := features.ReadSpace(next.State)
	if err != nil {
		return jobs.Next{}, err
	}
	s := &state{space: space}
	if p.params.Init == initGiven {
		if s.centers, err = p.given(model, space); err != nil {
			return jobs.Next{}, err
		}
	}
	if err := checkSize(space, max(p.params.K, len(s.centers)/space.Width)); err != nil {
		return jobs.Next{}, err
	}
	next.State = jobs.ArraysOf(s)
	return next, nil
}

func checkSize(space *features.Space, k int) error {
	switch {
	case space.Width > maxWidth || k > maxCenterValues/space.Width:
		return protocol.InputFault(protocol.CodeInputLimit,
			"centers of that width do not fit: k-means takes up to 2^20 columns, and 2^27 numbers in all centers").
			WithHint("Make the vectors narrower (for text: max_features, min_df), or k smaller.")
	case int64(k) > space.Records:
		return protocol.EmptyFault("k is %d, but there are only %d training records", k, space.Records).
			WithHint("Choose k of at most the number of records.")
	}
	return nil
}

// given returns the centres of the parameters or of a model.
func (p *spacePhase) given(model jobs.Arrays, space *features.Space) ([]float64, error) {
	var centers []float64
	if p.params.Centers != nil {
		if n := len(p.params.Centers[0]); n != space.Width {
			return nil, protocol.SpecFault(
				"spec.params: the centers have %d numbers each; the records have %d", n, space.Width)
		}
		centers = slices.Concat(p.params.Centers...)
	} else {
		m, err := readModel(model)
		if err != nil {
			return nil, err
		}
		if err := p.checkFit(m, space); err != nil {
			return nil, err
		}
		centers = slices.Clone(m.centers)
	}
	if p.cosine() {
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

// checkFit refuses a model whose centres do not lie in this job's space.
func (p *spacePhase) checkFit(m *model, space *features.Space) error {
	k := len(m.centers) / m.space.Width
	switch {
	case p.params.K != 0 && p.params.K != k:
		return protocol.SpecFault("spec.params: k is %d, but the model of spec.model has %d centers", p.params.K, k)
	case m.space.Width != space.Width || m.space.Scale() != space.Scale():
		return protocol.SpecFault("the model of spec.model has %d columns with scale %s; this job has %d with scale %s",
			m.space.Width, m.space.Scale(), space.Width, space.Scale())
	case space.Texts():
		return protocol.SpecFault("centers of texts lie in their model's columns; begin anew, without spec.model")
	}
	return nil
}
