package kernelmean

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// Arrays of a partial of KernelDensityBayes, both F64 [queries, classes]: the sum of the terms of a class, relative to the
// greatest, and the logarithm of that; 0 and -Inf where there are none.
const (
	decideGreatest = "decide.greatest"
	decideTerms    = "decide.terms"
)

// densityDecider decides by posteriors.
type densityDecider struct{ *densityModel }

func loadDensityDecider(a jobs.Arrays) (decider, error) {
	m, err := readDensityModel(a)
	return densityDecider{m}, err
}

func (d densityDecider) spaceOf() *features.Space { return d.space }

func (densityDecider) numbers() int { return 2 }

// logSums are sums of terms.
type logSums struct{ greatest, sum []float64 }

func newLogSums(n int) logSums {
	t := logSums{make([]float64, n), make([]float64, n)}
	for i := range t.greatest {
		t.greatest[i] = math.Inf(-1)
	}
	return t
}

// add adds a sum that comes after what element i has. The one whose greatest term is less is rounded to the other.
func (t logSums) add(i int, greatest, sum float64) {
	switch {
	case !(sum > 0):
	case !(t.sum[i] > 0):
		t.greatest[i], t.sum[i] = greatest, sum
	case greatest > t.greatest[i]:
		t.sum[i] = float64(t.sum[i]*fmath.Exp(t.greatest[i]-greatest)) + sum
		t.greatest[i] = greatest
	default:
		t.sum[i] += float64(sum * fmath.Exp(greatest-t.greatest[i]))
	}
}

func (t logSums) put(a jobs.Arrays) {
	jobs.Put(a, decideGreatest, t.greatest)
	jobs.Put(a, decideTerms, t.sum)
}

func getLogSums(a jobs.Arrays, dims ...int) (t logSums, err error) {
	if t.greatest, err = jobs.Get[float64](a, decideGreatest, dims...); err != nil {
		return logSums{}, err
	}
	t.sum, err = jobs.Get[float64](a, decideTerms, len(t.greatest))
	return t, err
}

func (d densityDecider) scan(q *asked, ops *kernelops.Set) scan {
	own := *d.densityModel
	return &densityScan{asked: q, parzen: parzenOf(&own, ops), terms: newLogSums(q.rows.rows() * len(d.weights))}
}

type densityScan struct {
	*asked
	parzen *parzen
	tile   kernels.Rows
	terms  logSums
}

// add adds the terms of a chunk, class after class.
func (s *densityScan) add(ctx context.Context, chunk *base) error {
	s.parzen.over(chunk.byClass())
	queries := s.rows.vectors()
	step := tileRows(s.rows.width, queryRows)
	for from := 0; from < queries.Rows; from += step {
		x := s.tile.Of(queries, from, min(queries.Rows, from+step))
		if err := s.parzen.addTerms(ctx, s.terms, from*len(s.parzen.weights), x); err != nil {
			return err
		}
	}
	return nil
}

// addTerms adds the terms of each row of x to elements from first on.
func (p *parzen) addTerms(ctx context.Context, t logSums, first int, x kernelops.Matrix) error {
	classes := len(p.weights)
	for y := range classes {
		if p.first[y] == p.first[y+1] {
			continue
		}
		err := p.eachSum(ctx, x, y, func(i int, greatest, sum float64) { t.add(first+i*classes+y, greatest, sum) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *densityScan) put(a jobs.Arrays, _ bool) error {
	s.terms.put(a)
	return nil
}

func (densityDecider) merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := getLogSums(left)
	if err != nil {
		return nil, err
	}
	b, err := getLogSums(right, len(a.greatest))
	if err != nil {
		return nil, err
	}
	sum := newLogSums(len(a.greatest))
	for i := range a.greatest {
		sum.add(i, a.greatest[i], a.sum[i])
		sum.add(i, b.greatest[i], b.sum[i])
	}
	out := jobs.Arrays{}
	sum.put(out)
	return out, nil
}

func (d densityDecider) outcomes(root jobs.Arrays, n int) ([]jobs.Outcome, jobs.Answers, error) {
	classes := len(d.weights)
	t, err := getLogSums(root, n*classes)
	if err != nil {
		return nil, jobs.Answers{}, err
	}
	p := &densityPredictor{parzen: &parzen{densityModel: d.densityModel}, labels: d.space.Labels.List(), relative: make([]float64, classes)}
	constant, outcomes := d.constants(), make([]jobs.Outcome, n)
	for i := range outcomes {
		joint := make([]float64, classes)
		for y := range joint {
			joint[y] = constant[y] + (t.greatest[i*classes+y] + fmath.Log(t.sum[i*classes+y]))
		}
		outcomes[i] = p.outcome(joint)
	}
	return outcomes, p.Answers(), nil
}
