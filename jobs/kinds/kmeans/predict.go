package kmeans

import (
	"context"
	"strconv"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// predictor finds the nearest center of records.
type predictor struct {
	model    *model
	near     *assigner
	points   *points
	names    []string
	outcomes []jobs.Outcome
}

// NewPredictor loads a model: the label of a record is the number of its cluster, the value its distance to the
// center (for cosine 1 - cosine). Errors are jobs.Malformed.
func NewPredictor(arrays jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	m, err := readModel(arrays)
	if err != nil {
		return nil, err
	}
	p := &predictor{model: m, near: newAssigner(ops, m.centers, origin(m.space)), points: newPoints(m.space)}
	for j := range m.clusters() {
		p.names = append(p.names, strconv.Itoa(j))
	}
	return p, nil
}

// Answers are clusters and distances.
func (p *predictor) Answers() jobs.Answers {
	return jobs.Answers{Labels: p.names, Value: "distance", Clusters: true}
}

// Predict assigns the records of a block.
func (p *predictor) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	p.outcomes = p.outcomes[:0]
	err := p.points.block(ctx, block, nil, func(c chunk) error {
		if err := p.near.assign(c); err != nil {
			return err
		}
		for i, j := range p.near.index {
			p.outcomes = append(p.outcomes, jobs.Outcome{Label: p.names[j],
				Value: distance(p.near.sqDist[i], p.model.cosine())})
		}
		return nil
	})
	return p.outcomes, err
}
