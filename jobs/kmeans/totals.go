package kmeans

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// totals is a round's partial: what equation 1.32 divides, and J.
type totals struct {
	width       int
	sums        []float64 // k rows: the weighted sum of each centre's records
	weight      []float64 // of each centre's records
	cost        float64   // sum of w |x - mu|^2
	fingerprint []uint64
}

func newTotals(k, width int) *totals {
	return &totals{width: width, sums: make([]float64, k*width), weight: make([]float64, k)}
}

// distortion is J of equation 1.29.
func (t *totals) distortion() float64 { return t.cost / 2 }

// add takes in the rows that were just assigned, in order.
func (t *totals) add(ops *kernelops.Set, near *assigner, c chunk) {
	if c.weights == nil {
		ops.AccumulateRows(t.sums, c.x, near.index)
	}
	for i, j := range near.index {
		w := c.weight(i)
		t.weight[j] += w
		t.cost += float64(w * near.sqDist[i])
		if c.weights != nil {
			t.addRow(int(j), c.x.Row(i), w)
		}
	}
}

func (t *totals) addRow(j int, row []float32, w float64) {
	sums := t.sums[j*t.width : (j+1)*t.width]
	for i, v := range row {
		sums[i] += float64(w * float64(v))
	}
}

// Fields lists the totals.
func (t *totals) Fields(f *jobs.Fields) {
	jobs.List(f, "weight", &t.weight)
	f.Dim("sums", 1, &t.width)
	jobs.List(f, "sums", &t.sums, len(t.weight), t.width)
	jobs.Scalar(f, "cost", &t.cost)
	jobs.List(f, "fingerprint", &t.fingerprint, 4)
}

// plus adds the totals to the right.
func (t *totals) plus(right *totals) (_ *totals, err error) {
	if t.sums, err = sum(t.sums, right.sums); err != nil {
		return nil, err
	}
	if t.weight, err = sum(t.weight, right.weight); err != nil {
		return nil, err
	}
	t.cost += right.cost
	words := make([]uint64, len(t.fingerprint))
	for i, w := range t.fingerprint {
		words[i] = w + right.fingerprint[i]
	}
	t.fingerprint = words
	return t, nil
}
