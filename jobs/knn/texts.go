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

const textRecords = "texts.records" // I64 scalar, training records

func (p *textsPhase) phase() jobs.Phase {
	return jobs.MapReduce[struct{}, *textCounts]{
		Name: "texts", Partial: func() *textCounts { return new(textCounts) },
		Map: p.count, Merge: (*textCounts).plus, Step: p.labels,
	}.Phase()
}

// textCounts are training records and their labels.
type textCounts struct {
	records int64
	labels  vocabulary.Table
}

// Fields lists the counts.
func (c *textCounts) Fields(f *jobs.Fields) {
	jobs.Scalar(f, textRecords, &c.records)
	vocabulary.TableFields(f, "labels", &c.labels, "records")
}

// plus adds the counts to the right.
func (c *textCounts) plus(right *textCounts) (*textCounts, error) {
	return &textCounts{c.records + right.records, vocabulary.Merge(c.labels, right.labels)}, nil
}

// count counts one leaf.
func (p *textsPhase) count(ctx context.Context, _ struct{}, leaf jobs.Leaf, _ *kernelops.Set) (*textCounts, error) {
	labels, records, train := vocabulary.NewCounter(), int64(0), p.Base()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if err := checkTexts(block); err != nil {
			return nil, err
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
	return &textCounts{records, labels.Table()}, nil
}

// labels keeps the labels.
func (p *textsPhase) labels(_ context.Context, _ struct{}, root *textCounts, _ jobs.Round) (jobs.Next, error) {
	labeled := int64(0)
	for _, n := range root.labels.Columns[0] {
		labeled += n
	}
	switch {
	case root.records == 0:
		return jobs.Next{}, protocol.EmptyFault("no training record").
			WithHint("Check spec.input.uri and spec.input.split.test.")
	case p.params.Mode == modeClassify && labeled < root.records:
		return jobs.Next{}, protocol.EmptyFault("training records without labels").
			WithHint("Name the column of labels in spec.input.label.")
	}
	found := &space{params: p.params, labels: root.labels.Keys, records: root.records}
	return jobs.Next{State: jobs.ArraysOf(found), Metrics: []jobs.Metric{
		jobs.CountMetric("index.records", root.records)}}, nil
}
