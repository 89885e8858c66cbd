package knn

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/vocabulary"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// textsPhase counts texts and their labels, as package features does with vectors.
type textsPhase struct{ *plan }

const (
	textRecords  = "texts.records" // I64 scalar, training records
	textLabels   = "labels"
	labelRecords = "records"
)

func (p *textsPhase) Name() string { return "texts" }

// Map counts one leaf.
func (p *textsPhase) Map(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	labels, records, train := vocabulary.NewCounter(), int64(0), p.train()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if err := checkTexts(block); err != nil {
			return nil, nil, err
		}
		for i, id := range block.IDs {
			if !train(id) {
				continue
			}
			records++
			if p.params.Mode == modeClassify && block.Labels != nil {
				labels.Add(block.Labels[i])
			}
		}
	}
	return textCounts(labels.Table(), records), nil, nil
}

func textCounts(labels vocabulary.Table, records int64) jobs.Arrays {
	a := jobs.Arrays{}
	labels.Put(a, textLabels, labelRecords)
	jobs.PutScalar(a, textRecords, records)
	return a
}

func readTextCounts(a jobs.Arrays) (vocabulary.Table, int64, error) {
	records, err := jobs.GetScalar[int64](a, textRecords)
	if err != nil {
		return vocabulary.Table{}, 0, err
	}
	labels, err := vocabulary.GetTable(a, textLabels, labelRecords)
	return labels, records, err
}

// Merge adds two neighbors.
func (p *textsPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, m, err := readTextCounts(left)
	if err != nil {
		return nil, err
	}
	b, n, err := readTextCounts(right)
	if err != nil {
		return nil, err
	}
	return textCounts(vocabulary.Merge(a, b), m+n), nil
}

// Step keeps the labels.
func (p *textsPhase) Step(ctx context.Context, _ jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	labels, records, err := readTextCounts(root)
	if err != nil {
		return jobs.Next{}, err
	}
	labelled := int64(0)
	for _, n := range labels.Columns[0] {
		labelled += n
	}
	switch {
	case records == 0:
		return jobs.Next{}, protocol.EmptyFault("no training record").
			WithHint("Check spec.input.uri and spec.input.split.test.")
	case p.params.Mode == modeClassify && labelled < records:
		return jobs.Next{}, protocol.EmptyFault("training records without labels").
			WithHint("Name the column of labels in spec.input.label.")
	}
	state := jobs.Arrays{}
	vocabulary.PutLabels(state, labels.Keys)
	jobs.PutScalar(state, textRecords, records)
	return jobs.Next{State: state, Metrics: []jobs.Metric{jobs.CountMetric("index.records", records)}}, nil
}
