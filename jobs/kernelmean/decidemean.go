package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/jobs/rows"
	"github.com/gram-compute/gram/kernelops"
)

// meanDecider decides by the closest mean.
type meanDecider struct{ *meanModel }

func loadMeanDecider(a jobs.Arrays) (meanDecider, error) {
	m, err := readMeanModel(a)
	return meanDecider{m}, err
}

func (d meanDecider) spaceOf() *features.Space { return d.space }

func (meanDecider) numbers() int { return 1 }

// meanSums are those of a leaf.
type meanSums struct {
	values []float64 // [queries, classes]: weighted kernel values
	self   []float64 // [queries]: k(x, x), of the first leaf; nil of others
}

// Fields lists the sums.
func (s *meanSums) Fields(f *jobs.Fields) {
	jobs.List(f, "decide.sums", &s.values)
	jobs.Optional(f, "decide.self", &s.self)
}

// plus adds the sums to the right.
func (s *meanSums) plus(right *meanSums) (_ *meanSums, err error) {
	s.values, err = added(s.values, right.values)
	return s, err
}

func (d meanDecider) scan(q *queries, ops *kernelops.Set) scan[*meanSums] {
	classes := len(d.weights)
	return &meanScan{queries: q, sum: newSummer(ops, d.kernel, classes), values: make([]float64, q.N*classes)}
}

type meanScan struct {
	*queries
	sum    summer
	tile   []float32
	values []float64
}

// add adds the values of rows in their order: where a chunk ends makes no difference.
func (s *meanScan) add(ctx context.Context, chunk *base) error {
	classes, step := s.sum.classes, rows.TileRows(s.Width, rows.QueryRows)
	for from := 0; from < s.N; from += step {
		end := min(s.N, from+step)
		x := s.Tile(from, end, &s.tile)
		if err := s.sum.add(ctx, s.values[from*classes:end*classes], x, chunk, 0, chunk.N); err != nil {
			return err
		}
	}
	return nil
}

// sums refuses one beyond all numbers with a fault of CodeBadRecord with the position of its query.
func (s *meanScan) sums(first bool) (*meanSums, error) {
	for i, v := range s.values {
		if v-v != 0 {
			return nil, kernels.Beyond(s.ids[i/s.sum.classes], s.sum.kernel.Kernel)
		}
	}
	sums := &meanSums{values: s.values}
	if !first {
		return sums, nil
	}
	sums.self = make([]float64, s.N)
	for i := range sums.self {
		var err error
		if sums.self[i], err = s.sum.self(s.Tile(i, i+1, &s.tile)); err != nil {
			return nil, err
		}
		if sums.self[i]-sums.self[i] != 0 {
			return nil, kernels.Beyond(s.ids[i], s.sum.kernel.Kernel)
		}
	}
	return sums, nil
}

func (d meanDecider) outcomes(found *meanSums, n int) ([]jobs.Outcome, jobs.Answers, error) {
	p := &meanPredictor{meanModel: d.meanModel, labels: d.space.Labels.List()}
	classes := len(d.weights)
	if len(found.values) != n*classes || len(found.self) != n {
		return nil, jobs.Answers{}, jobs.Malformed("%d sums and %d values of %d queries", len(found.values), len(found.self), n)
	}
	outcomes := make([]jobs.Outcome, n)
	for i := range outcomes {
		of, ok := append([]float64(nil), found.values[i*classes:(i+1)*classes]...), false
		if outcomes[i], ok = p.outcome(found.self[i], of); !ok {
			return nil, jobs.Answers{}, jobs.Malformed("the sums of query %d give no distance", i)
		}
	}
	return outcomes, p.Answers(), nil
}
