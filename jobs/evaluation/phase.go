package evaluation

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// Name is the phase's name.
const Name = "evaluate"

// Decide gives a text a label, or rejects it. The label is valid until the next call.
type Decide func(text []byte) (label []byte, rejected bool)

// Phase judges the model in the state on the test records; it ends the job with that
// very model, and with the metrics "evaluation" (a Report) and "evaluation.confusion".
type Phase struct {
	// Test says which records to judge on.
	Test jobs.Records
	// Load makes the decision function of a model; it is used by one goroutine.
	Load func(model jobs.Arrays, ops *kernelops.Set) (Decide, error)
}

// Name is "evaluate".
func (p *Phase) Name() string { return Name }

// Map counts the decisions on one leaf.
func (p *Phase) Map(ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	decide, err := p.Load(model, ops)
	if err != nil {
		return nil, nil, err
	}
	confusion, test := NewConfusion(), p.Test()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for i, id := range block.IDs {
			if !test(id) {
				continue
			}
			if label, rejected := decide(block.Texts[i]); rejected {
				confusion.AddRejected(string(block.Labels[i]))
			} else {
				confusion.Add(string(block.Labels[i]), string(label))
			}
		}
	}
	return confusion.Arrays(), nil, nil
}

// Merge adds two confusion matrices.
func (p *Phase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	sum, err := ReadConfusion(left)
	if err != nil {
		return nil, err
	}
	other, err := ReadConfusion(right)
	if err != nil {
		return nil, err
	}
	sum.Merge(other)
	return sum.Arrays(), nil
}

// Step ends the job with the model it was given.
func (p *Phase) Step(ctx context.Context, model jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	only, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	confusion, err := ReadConfusion(only)
	if err != nil {
		return jobs.Next{}, err
	}
	report, err := jobs.NewMetric("evaluation", confusion.Report())
	if err != nil {
		return jobs.Next{}, err
	}
	matrix, err := jobs.NewMetric("evaluation.confusion", confusion.matrix())
	if err != nil {
		return jobs.Next{}, err
	}
	return jobs.Next{Done: true, State: model, Metrics: []jobs.Metric{report, matrix}}, nil
}

// Matrix is a confusion matrix as a metric: each cell is [truth, predicted, records],
// labels by number, a predicted of -1 for rejected.
type Matrix struct {
	Labels []string   `json:"labels"`
	Cells  [][3]int64 `json:"cells"`
}

func (c *Confusion) matrix() Matrix {
	labels, cells := c.Cells()
	m := Matrix{Labels: labels, Cells: make([][3]int64, len(cells))}
	for i, cell := range cells {
		m.Cells[i] = [3]int64{int64(cell.Truth), int64(cell.Predicted), cell.Count}
	}
	return m
}
