package knn

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// predictor decides by the stored base; one goroutine at a time.
type predictor struct {
	*model
	ops    *kernelops.Set
	reader *reader
	voter  *voter
	out    []jobs.Outcome
}

// Load loads a model that holds its base and is of mode classify or regress; any other is a
// *protocol.Fault of CodeSpecInvalid.
func Load(a jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	switch {
	case m.base == nil:
		return nil, protocol.SpecFault(
			"the model does not hold its base: train with params.store_base, or search with spec.queries")
	case m.params.Mode == modeSearch:
		return nil, protocol.SpecFault(
			"the model was made in mode search, which predicts nothing: use classify or regress")
	}
	return &predictor{model: m, ops: ops, reader: m.newReader(0), voter: newVoter(m.params, m.labels.Len())}, nil
}

// Answers are the labels with the share of the votes of each and the distance of the nearest
// neighbor, or values.
func (p *predictor) Answers() jobs.Answers {
	return p.params.answers(p.labels)
}

func (p Params) answers(labels jobs.Strings) jobs.Answers {
	if p.Mode == modeRegress {
		return jobs.Answers{Value: "value"}
	}
	return jobs.Answers{Labels: labels.List(), Value: "share"}
}

// Predict searches the base for each record. A record without a neighbor, by radius, is rejected.
func (p *predictor) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	queries := p.newPoints()
	if _, err := p.reader.add(queries, block, nil); err != nil {
		return nil, err
	}
	if p.dims > 0 {
		queries = p.project(p.ops, queries)
	}
	found := &lists{rule: p.params.rule(), of: p.params.Metric}
	s := &searcher{ops: p.ops, of: found.of, queries: queries, found: found.begin(queries.N)}
	if err := s.search(ctx, p.base); err != nil {
		return nil, err
	}
	s.found.sort()
	p.out = p.out[:0]
	for _, row := range s.found.rows {
		p.out = append(p.out, p.outcome(row))
	}
	return p.out, nil
}

func (p *predictor) outcome(row []neighbor) jobs.Outcome {
	if p.params.Mode == modeRegress {
		value, ok := p.voter.regress(row)
		return jobs.Outcome{Value: value, Rejected: !ok}
	}
	class, share := p.voter.classify(row)
	if class < 0 {
		return jobs.Outcome{Rejected: true, Value: share}
	}
	return jobs.Outcome{Label: string(p.labels.At(class)), Value: share}
}
