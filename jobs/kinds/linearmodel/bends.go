package linearmodel

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// bends is what a leaf of this phase finds.
type bends struct {
	measures
	of     *sums.Exact // [machines x stride]: W of the coefficients
	curves *sums.Exact // [machines x triangle]: what the Hessian has beside 1
	values *sums.Exact // of each machine
}

// Fields lists the tally.
func (t *bends) Fields(f *jobs.Fields) {
	t.measures.Fields(f)
	jobs.Make(f, &t.of).Fields(f, "of")
	jobs.Make(f, &t.curves).Fields(f, "curves")
	jobs.Make(f, &t.values).Fields(f, "values")
}

// plus joins what two neighbors found.
func (t *bends) plus(right *bends) (*bends, error) {
	m, err := t.measures.plus(&right.measures)
	both := &bends{measures: m}
	if err == nil {
		both.of, err = t.of.Plus(right.of)
	}
	if err == nil {
		both.curves, err = t.curves.Plus(right.curves)
	}
	if err == nil {
		both.values, err = t.values.Plus(right.values)
	}
	return both, err
}
