package kmeans

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// totals is a round's partial: what equation 1.32 divides, the weighted sum of each center's records and their weight,
// and J.
type totals struct {
	sums.Rows
	cost        *sums.Exact // sum of w |x - mu|^2
	fingerprint []uint64
}

// distortion is J of equation 1.29.
func (t *totals) distortion() float64 { return t.cost.Float(0) / 2 }

// Fields lists the totals.
func (t *totals) Fields(f *jobs.Fields) {
	t.Rows.Fields(f, "sums", "weight")
	jobs.Make(f, &t.cost).Fields(f, "cost")
	f.Require(t.cost.Len() == 1, "%d sums of costs", t.cost.Len())
	jobs.List(f, "fingerprint", &t.fingerprint, 4)
}

// plus adds the totals to the right.
func (t *totals) plus(right *totals) (*totals, error) {
	rows, err := t.Plus(&right.Rows)
	if err != nil {
		return nil, err
	}
	cost, err := t.cost.Plus(right.cost)
	if err != nil {
		return nil, err
	}
	words, err := sums.Of(t.fingerprint, right.fingerprint)
	return &totals{*rows, cost, words}, err
}

// summer adds up the totals of a leaf. One goroutine.
type summer struct {
	rows  *sums.Adder
	cost  *sums.Exact
	costs []float64 // of the rows of a chunk
}

// add takes in the rows that were just assigned.
func (s *summer) add(near *assigner, c chunk) {
	s.rows.Dense(c.X, near.index, c.Weights)
	s.addCosts(near, c)
}

// addCosts takes in their distances alone.
func (s *summer) addCosts(near *assigner, c chunk) {
	costs := near.sqDist[:c.X.Rows]
	if c.Weights != nil {
		s.costs = s.costs[:0]
		for i, d := range costs {
			s.costs = append(s.costs, float64(c.Weight(i)*d))
		}
		costs = s.costs
	}
	s.cost.AddAll(0, costs)
}
