package knn

import (
	"iter"
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/protocol"
)

// space is what the base says about records: vectors, or texts.
type space struct {
	params  Params
	vectors *features.Space // nil where the metric compares texts
	labels  jobs.Strings    // in mode classify
	class   map[string]int32
	records int64 // of the base
}

// Fields lists what the state or model says about records.
func (s *space) Fields(f *jobs.Fields) {
	if s.params.Metric == edit {
		vocabulary.LabelFields(f, &s.labels)
		jobs.Scalar(f, textRecords, &s.records)
	} else {
		rows.ReadSpace(f, &s.vectors, "a search spreads rows out and takes")
	}
	if !f.Reading() {
		return
	}
	if s.vectors != nil {
		s.labels, s.records = s.vectors.Labels, s.vectors.Records
	}
	f.Require(s.params.Metric != haversine || s.onSphere(), "places that are not of two columns")
	labels := s.labels.Len()
	f.Require(s.records >= 1 && (s.params.Mode != modeClassify || labels >= 1 && labels <= math.MaxInt32),
		"a base of %d records and %d labels", s.records, labels)
	s.class = make(map[string]int32, labels)
	for y := range labels {
		s.class[string(s.labels.At(y))] = int32(y)
	}
}

// form is how rows of the space are kept.
func (s *space) form() form {
	of := form{targets: s.params.Mode != modeSearch}
	switch {
	case s.vectors == nil:
		of.rows = rows.Texts
		return of
	case s.params.Metric == hamming:
		of.rows = rows.Bits
	default:
		of.rows = rows.FormOf(s.vectors)
	}
	of.width = s.vectors.Width
	return of
}

// newPoints returns no rows of the space.
func (s *space) newPoints() *points {
	of := s.form()
	return &points{Rows: rows.New(of.rows, of.width)}
}

// target is what a record of the base votes for: its class or its value.
func (s *space) target(block *dataset.Block, i int) (float64, error) {
	if block.Labels == nil {
		return 0, block.IDs[i].Fault("the record has no label")
	}
	label := block.Labels[i]
	if s.params.Mode == modeRegress {
		return evaluation.Number(block.IDs[i], label)
	}
	y, ok := s.class[string(label)]
	if !ok {
		return 0, jobs.Malformed("a training record has the label %q, which the first phase did not see", label)
	}
	return float64(y), nil
}

const textRecords = "texts.records" // I64 scalar, training records

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
func (c textCounts) plus(right textCounts) textCounts {
	return textCounts{c.records + right.records, vocabulary.Merge(c.labels, right.labels)}
}

// countTexts counts texts and their labels, as package features does with vectors.
func (p *plan) countTexts(blocks iter.Seq2[*dataset.Block, error]) (c textCounts, err error) {
	labels, train := vocabulary.NewCounter(), p.Base()
	for block, err := range blocks {
		if err == nil {
			err = checkTexts(block)
		}
		if err != nil {
			return c, err
		}
		for i := range block.IDs {
			if !train(block, i) {
				continue
			}
			c.records++
			if p.params.Mode == modeClassify && block.Labels != nil {
				labels.Add(block.Labels[i])
			}
		}
	}
	c.labels = labels.Table()
	return c, nil
}

// describe tells a space about all texts.
func (c textCounts) describe(s *space) ([]jobs.Metric, error) {
	labeled := sums.Total(c.labels.Columns[0])
	switch {
	case c.records == 0:
		return nil, protocol.EmptyFault("no training record").
			WithHint("Check spec.input.uri and spec.input.split.test.")
	case s.params.Mode == modeClassify && labeled < c.records:
		return nil, protocol.EmptyFault("training records without labels").
			WithHint("Name the column of labels in spec.input.label.")
	}
	s.labels, s.records = c.labels.Keys, c.records
	return []jobs.Metric{jobs.CountMetric("index.records", c.records)}, nil
}

func checkTexts(block *dataset.Block) error {
	if len(block.IDs) > 0 && (block.Texts == nil || block.Dense.Width > 0 || block.Sparse.Width > 0) {
		return block.IDs[0].Fault("the records are not texts, as metric edit needs")
	}
	return nil
}
