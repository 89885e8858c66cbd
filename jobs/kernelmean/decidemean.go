package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
)

// Arrays of a partial of KernelNearestMean.
const (
	decideSums = "decide.sums" // F64 [queries, classes]: weighted kernel values
	decideSelf = "decide.self" // F64 [queries]: k(x, x), of the first leaf
)

// meanDecider decides by the closest mean.
type meanDecider struct{ *meanModel }

func loadMeanDecider(a jobs.Arrays) (decider, error) {
	m, err := readMeanModel(a)
	return meanDecider{m}, err
}

func (d meanDecider) spaceOf() *features.Space { return d.space }

func (meanDecider) numbers() int { return 1 }

func (d meanDecider) scan(q *asked, ops *kernelops.Set) scan {
	classes := len(d.weights)
	return &meanScan{asked: q, sum: newSummer(ops, d.kernel, classes), sums: make([]float64, q.rows.rows()*classes)}
}

type meanScan struct {
	*asked
	sum  summer
	tile kernels.Rows
	sums []float64
}

// add adds the values of rows in their order: where a chunk ends makes no difference.
func (s *meanScan) add(ctx context.Context, chunk *base) error {
	all, queries, classes := chunk.vectors(), s.rows.vectors(), s.sum.classes
	step := tileRows(s.rows.width, queryRows)
	for from := 0; from < queries.Rows; from += step {
		end := min(queries.Rows, from+step)
		if err := s.sum.add(ctx, s.sums[from*classes:end*classes], s.tile.Of(queries, from, end), all, 0, all.Rows); err != nil {
			return err
		}
	}
	return nil
}

// put stores the sums. One beyond all numbers is a fault of CodeBadRecord with the position of its query.
func (s *meanScan) put(a jobs.Arrays, first bool) error {
	for i, v := range s.sums {
		if v-v != 0 {
			return kernels.Beyond(s.ids[i/s.sum.classes], s.sum.kernel.Kernel)
		}
	}
	jobs.Put(a, decideSums, s.sums)
	if !first {
		return nil
	}
	self, queries := make([]float64, s.rows.rows()), s.rows.vectors()
	for i := range self {
		var err error
		if self[i], err = s.sum.self(s.tile.Of(queries, i, i+1)); err != nil {
			return err
		}
		if self[i]-self[i] != 0 {
			return kernels.Beyond(s.ids[i], s.sum.kernel.Kernel)
		}
	}
	jobs.Put(a, decideSelf, self)
	return nil
}

func (meanDecider) merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	return addArrays(left, right, decideSums)
}

func (d meanDecider) outcomes(root jobs.Arrays, n int) ([]jobs.Outcome, jobs.Answers, error) {
	p := &meanPredictor{meanModel: d.meanModel, labels: d.space.Labels.List()}
	classes := len(d.weights)
	sums, err := jobs.Get[float64](root, decideSums, n*classes)
	if err != nil {
		return nil, jobs.Answers{}, err
	}
	self, err := jobs.Get[float64](root, decideSelf, n)
	if err != nil {
		return nil, jobs.Answers{}, err
	}
	outcomes := make([]jobs.Outcome, n)
	for i := range outcomes {
		of, ok := append([]float64(nil), sums[i*classes:(i+1)*classes]...), false
		if outcomes[i], ok = p.outcome(self[i], of); !ok {
			return nil, jobs.Answers{}, jobs.Malformed("the sums of query %d give no distance", i)
		}
	}
	return outcomes, p.Answers(), nil
}
