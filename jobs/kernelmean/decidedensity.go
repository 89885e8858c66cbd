package kernelmean

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// densityDecider decides by posteriors.
type densityDecider struct{ *densityModel }

func loadDensityDecider(a jobs.Arrays) (densityDecider, error) {
	m, err := readDensityModel(a)
	return densityDecider{m}, err
}

func (d densityDecider) spaceOf() *features.Space { return d.space }

func (densityDecider) numbers() int { return 2 }

// logSums are sums of terms, of each query and class: relative to the greatest, and the logarithm of that; 0 and -Inf
// where there are none.
type logSums struct{ greatest, sum []float64 }

func newLogSums(n int) *logSums {
	t := &logSums{make([]float64, n), make([]float64, n)}
	for i := range t.greatest {
		t.greatest[i] = math.Inf(-1)
	}
	return t
}

// Fields lists the sums.
func (t *logSums) Fields(f *jobs.Fields) {
	jobs.List(f, "decide.greatest", &t.greatest)
	jobs.List(f, "decide.terms", &t.sum, len(t.greatest))
}

// add adds a sum that comes after what element i has. The one whose greatest term is less is rounded to the other.
func (t *logSums) add(i int, greatest, sum float64) {
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

// plus adds the sums to the right.
func (t *logSums) plus(right *logSums) (*logSums, error) {
	if len(t.sum) != len(right.sum) {
		return nil, jobs.Malformed("%d sums meet %d", len(t.sum), len(right.sum))
	}
	all := newLogSums(len(t.greatest))
	for i := range t.greatest {
		all.add(i, t.greatest[i], t.sum[i])
		all.add(i, right.greatest[i], right.sum[i])
	}
	return all, nil
}

func (d densityDecider) scan(q *queries, ops *kernelops.Set) scan[*logSums] {
	own := *d.densityModel
	return &densityScan{queries: q, parzen: parzenOf(&own, ops), terms: newLogSums(q.N * len(d.weights))}
}

type densityScan struct {
	*queries
	parzen *parzen
	tile   []float32
	terms  *logSums
}

// add adds the terms of a chunk, class after class.
func (s *densityScan) add(ctx context.Context, chunk *base) error {
	s.parzen.over(chunk.byClass())
	step := rows.TileRows(s.Width, rows.QueryRows)
	for from := 0; from < s.N; from += step {
		x := s.Tile(from, min(s.N, from+step), &s.tile)
		if err := s.parzen.addTerms(ctx, s.terms, from*len(s.parzen.weights), x); err != nil {
			return err
		}
	}
	return nil
}

// addTerms adds the terms of each row of x to elements from first on.
func (p *parzen) addTerms(ctx context.Context, t *logSums, first int, x kernelops.Matrix) error {
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

func (s *densityScan) sums(bool) (*logSums, error) { return s.terms, nil }

func (d densityDecider) outcomes(t *logSums, n int) ([]jobs.Outcome, jobs.Answers, error) {
	classes := len(d.weights)
	if len(t.sum) != n*classes {
		return nil, jobs.Answers{}, jobs.Malformed("%d sums of %d queries and %d classes", len(t.sum), n, classes)
	}
	p := &densityPredictor{parzen: &parzen{densityModel: d.densityModel}, labels: d.space.Labels.List(),
		relative: make([]float64, classes)}
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
