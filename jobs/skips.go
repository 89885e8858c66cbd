package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
)

// A partial on its way through the cluster tells how many bad records were skipped
// below its node, in arrays whose names begin with "skipped.". They are absent when
// there are none; phases never see them.
const (
	skippedPrefix  = "skipped."
	skippedCount   = skippedPrefix + "count"   // I64 scalar
	skippedSamples = skippedPrefix + "samples" // U8: JSON list of the first few, in input order
)

// maxSkipSamples bounds how many skipped records are named.
const maxSkipSamples = 10

// skips counts the records skipped below a node.
type skips struct {
	Count   int64
	Samples []dataset.Skip
}

func (s skips) plus(right skips) skips {
	samples := append(s.Samples[:len(s.Samples):len(s.Samples)], right.Samples...)
	return skips{s.Count + right.Count, samples[:min(len(samples), maxSkipSamples)]}
}

// fault says that more records are bad than the spec lets pass.
func (s skips) fault(max int64) error {
	f := &protocol.Fault{Code: protocol.CodeBadRecord, Class: protocol.ClassInput, Offset: -1,
		What: fmt.Sprintf("%d bad records or more; on_bad_record.skip_max is %d", s.Count, max),
		Hint: "Mend the records, or raise input.on_bad_record.skip_max."}
	if len(s.Samples) > 0 {
		first := s.Samples[0]
		f.Object, f.Offset, f.Line, f.Column = first.ID.Object, first.ID.Offset, first.Line, first.Column
		f.What = first.Reason + "; " + f.What
	}
	return f
}

// attach returns partial with the arrays that tell s.
func (s skips) attach(partial Arrays) (Arrays, error) {
	if partial == nil {
		return nil, fmt.Errorf("jobs: a phase returned no partial")
	}
	for name := range partial { //lint:ordered any one reserved name is the same mistake
		if strings.HasPrefix(name, skippedPrefix) {
			return nil, fmt.Errorf("jobs: a phase returned an array named %q; the prefix is reserved", name)
		}
	}
	if s.Count == 0 {
		return partial, nil
	}
	samples, err := json.Marshal(s.Samples)
	if err != nil {
		return nil, fmt.Errorf("jobs: samples of skipped records: %w", err)
	}
	partial = maps.Clone(partial)
	PutScalar(partial, skippedCount, s.Count)
	Put(partial, skippedSamples, samples)
	return partial, nil
}

// detach is the inverse of attach.
func detach(partial Arrays) (Arrays, skips, error) {
	if _, ok := partial[skippedCount]; !ok {
		return partial, skips{}, nil
	}
	var s skips
	count, err := GetScalar[int64](partial, skippedCount)
	if err != nil {
		return nil, skips{}, err
	}
	samples, err := Get[uint8](partial, skippedSamples)
	if err != nil {
		return nil, skips{}, err
	}
	s.Count = count
	if err := json.Unmarshal(samples, &s.Samples); err != nil || count < int64(len(s.Samples)) {
		return nil, skips{}, Malformed("array %q does not list %d skipped records", skippedSamples, count)
	}
	partial = maps.Clone(partial)
	delete(partial, skippedCount)
	delete(partial, skippedSamples)
	return partial, s, nil
}

// plainRoots detaches the roots that a step reads. The trees of a forest may read the same
// records, so the skips of the forest are those of the tree that has most.
type plainRoots struct {
	read func(ctx context.Context, tree int) (Arrays, error)
	most skips
}

func (r *plainRoots) root(ctx context.Context, tree int) (Arrays, error) {
	root, err := r.read(ctx, tree)
	if err != nil {
		return nil, err
	}
	plain, s, err := detach(root)
	if err == nil && s.Count > r.most.Count {
		r.most = s
	}
	return plain, err
}

func (s skips) metrics(phase string) ([]Metric, error) {
	if s.Count == 0 {
		return nil, nil
	}
	count, err := NewMetric(phase+"."+skippedCount, s.Count)
	if err != nil {
		return nil, err
	}
	samples, err := NewMetric(phase+"."+skippedSamples, s.Samples)
	return []Metric{count, samples}, err
}

// skipWatch counts the skips of the last complete pass over a leaf's blocks.
type skipWatch struct {
	max  int64
	last skips
}

// blocks passes a leaf's blocks on. It ends with a BAD_RECORD fault as soon as this
// leaf alone is beyond the bound.
func (w *skipWatch) blocks(next func(context.Context) iter.Seq2[*dataset.Block, error]) func(context.Context) iter.Seq2[*dataset.Block, error] {
	return func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) {
			var pass skips
			for block, err := range next(ctx) {
				if err == nil {
					pass = pass.plus(skips{int64(len(block.Skipped)), block.Skipped})
					if pass.Count > w.max {
						err = pass.fault(w.max)
					}
				}
				if !yield(block, err) || err != nil {
					return
				}
			}
			w.last = pass
		}
	}
}
