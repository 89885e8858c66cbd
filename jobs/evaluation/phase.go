package evaluation

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Name is the phase's name.
const Name = "evaluate"

// Phase judges the model in the state on the test records; it ends the job with that
// very model. A model that gives labels leaves the metrics "evaluation" (a Report),
// "evaluation.confusion" (a Matrix) and, with Costs, "evaluation.cost" (a Cost); one that predicts values
// leaves "evaluation.regression" (a Regression). Weights of records do not count.
type Phase struct {
	// Test says which records to judge on.
	Test jobs.Records
	// Load makes the predictor of a model; it is used by one goroutine.
	Load func(model jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error)
	// Costs of decisions, nil for none.
	Costs Costs
}

// Name is "evaluate".
func (p *Phase) Name() string { return Name }

// Map counts the decisions on one leaf. Only test records reach the predictor. One without a label, or
// whose label is no number where the model predicts numbers, is a fault with its position.
func (p *Phase) Map(ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	predictor, err := p.Load(model, ops)
	if err != nil {
		return nil, nil, err
	}
	judged, chosen, test := newTally(predictor.Answers()), selection{}, p.Test()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		some := chosen.of(block, test)
		if len(some.IDs) == 0 {
			continue
		}
		outcomes, err := predictor.Predict(ctx, some)
		if err != nil {
			return nil, nil, err
		}
		if err := judged.add(some, outcomes); err != nil {
			return nil, nil, err
		}
	}
	return judged.arrays(), nil, nil
}

// Merge adds the counts and sums of two neighbours.
func (p *Phase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	sum, err := readTally(left)
	if err != nil {
		return nil, err
	}
	other, err := readTally(right)
	if err != nil {
		return nil, err
	}
	if err := sum.merge(other); err != nil {
		return nil, err
	}
	return sum.arrays(), nil
}

// Step ends the job with the model it was given.
func (p *Phase) Step(ctx context.Context, model jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	only, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	judged, err := readTally(only)
	if err != nil {
		return jobs.Next{}, err
	}
	metrics, err := judged.metrics(p.Costs)
	return jobs.Next{Done: true, State: model, Metrics: metrics}, err
}

// tally is what is known of the decisions: a confusion matrix, or the errors of values.
type tally struct {
	confusion *Confusion
	errors    *errorSums
}

func newTally(answers jobs.Answers) tally {
	if answers.Labels == nil {
		return tally{errors: &errorSums{}}
	}
	return tally{confusion: NewConfusion()}
}

func (t tally) add(block *dataset.Block, outcomes []jobs.Outcome) error {
	if block.Labels == nil {
		return recordFault(block.IDs[0], "a test record has no label to judge by",
			"Name the column of labels in input.label, or set input.split.test to 0.")
	}
	if len(outcomes) != len(block.IDs) {
		return jobs.Malformed("%d records have %d outcomes", len(block.IDs), len(outcomes))
	}
	for i, o := range outcomes {
		switch {
		case t.errors != nil:
			if err := t.errors.add(block.IDs[i], block.Labels[i], o.Value); err != nil {
				return err
			}
		case o.Rejected:
			t.confusion.AddRejected(string(block.Labels[i]))
		default:
			t.confusion.Add(string(block.Labels[i]), o.Label)
		}
	}
	return nil
}

func (t tally) arrays() jobs.Arrays {
	if t.errors != nil {
		return t.errors.arrays()
	}
	return t.confusion.Arrays()
}

func readTally(a jobs.Arrays) (t tally, err error) {
	if _, ok := a[errorRecords]; ok {
		t.errors, err = readErrorSums(a)
		return t, err
	}
	t.confusion, err = ReadConfusion(a)
	return t, err
}

func (t tally) merge(right tally) error {
	if (t.errors == nil) != (right.errors == nil) {
		return jobs.Malformed("an evaluation of labels cannot be merged with one of values")
	}
	if t.errors != nil {
		*t.errors = t.errors.plus(*right.errors)
		return nil
	}
	t.confusion.Merge(right.confusion)
	return nil
}

func (t tally) metrics(costs Costs) ([]jobs.Metric, error) {
	if t.errors != nil {
		return listMetrics(named{"evaluation.regression", t.errors.report()})
	}
	list := []named{{"evaluation", t.confusion.Report()}, {"evaluation.confusion", t.confusion.matrix()}}
	if costs != nil {
		list = append(list, named{"evaluation.cost", t.confusion.cost(costs)})
	}
	return listMetrics(list...)
}

type named struct {
	name  string
	value any
}

func listMetrics(list ...named) ([]jobs.Metric, error) {
	var metrics []jobs.Metric
	for _, n := range list {
		m, err := jobs.NewMetric(n.name, n.value)
		if err != nil {
			return nil, err
		}
		metrics = append(metrics, m)
	}
	return metrics, nil
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

func recordFault(id dataset.Identity, what, hint string) error {
	return &protocol.Fault{Code: protocol.CodeBadRecord, Class: protocol.ClassInput, Object: id.Object, Offset: id.Offset,
		What: what, Hint: hint}
}
