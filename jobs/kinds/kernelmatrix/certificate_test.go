package kernelmatrix

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"pgregory.net/rapid"
)

// A tolerance beyond the least eigenvalue never holds, whatever the eigenvalue: such a model has been certified.
func TestVacuousTolerance(t *testing.T) {
	model := mustRun(t, `{"kernel": "rbf", "gamma": 0.1}`, three, 1, kernelops.Generic()).Model
	c, err := Certify(model)
	if err != nil || c.Verdict != Holds || c.TellableBy != "" {
		t.Fatalf("%+v, %v", c, err)
	}
	jobs.PutScalar(model, modelError, 253.9)
	c, err = Certify(model)
	if err != nil || c.Verdict != Untold || !strings.Contains(c.TellableBy, "params.gamma") {
		t.Errorf("%+v, %v", c, err)
	}
	text, err := Kind().Describe(model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text,
		"the matrix   cannot be told to be positive semidefinite or not: set params.psd_sample below 3, raise params.gamma") {
		t.Errorf("%s%v", text, err)
	}
	figures, err := Kind().Figures(model, nil)
	if err != nil || !strings.HasPrefix(figures[0].Table.Rows[0][4], Untold) {
		t.Errorf("%+v, %v", figures, err)
	}
	data, err := json.Marshal(c)
	if err != nil || !strings.Contains(string(data), `"verdict":"cannot be told","tellable_by":"set`) ||
		strings.Contains(string(data), "holds") {
		t.Errorf("%s, %v", data, err)
	}
}

// Rank by hand: the monomials of up to two factors of x, y and 1 are six, those of two factors of x and y three.
func TestRankByHand(t *testing.T) {
	for k, want := range map[kernelops.Kernel]int{
		{}: 2,
		{Kind: kernelops.Polynomial, Scale: 1, Offset: 1, Degree: 2}: 6,
		{Kind: kernelops.Polynomial, Scale: 1, Degree: 2}:            3,
		{Kind: kernelops.Polynomial, Scale: 1, Degree: 1}:            2,
	} {
		if got := rankOf(k, 2); got != want {
			t.Errorf("%+v: rank %d, not %d", k, got, want)
		}
	}
	high := kernelops.Kernel{Kind: kernelops.Polynomial, Scale: 1, Offset: 1, Degree: 64}
	if got := rankOf(high, 1<<20); got <= maxSample {
		t.Errorf("rank %d", got)
	}
}

// What would make it tellable does.
func TestTellable(t *testing.T) {
	rows := iris(t)
	const polynomial = `"kernel": "polynomial", "scale": 0.1, "degree": 2`
	for params, again := range map[string]string{
		`{}`:                   `{"psd_sample": 4}`,
		`{` + polynomial + `}`: `{` + polynomial + `, "psd_sample": 8, "features": {"scale": "standard"}}`,
	} {
		if c, err := Certify(mustRun(t, params, rows, 2, kernelops.Best()).Model); err != nil || c.Verdict != Untold {
			t.Errorf("%s: %+v, %v", params, c, err)
		}
		if c, err := Certify(mustRun(t, again, rows, 2, kernelops.Best()).Model); err != nil || c.Verdict != Holds {
			t.Errorf("%s: %+v, %v", again, c, err)
		}
	}
	equal := append(normal(1, 20, 3, 50, 1), normal(1, 1, 3, 50, 1)...)
	model := mustRun(t, `{"kernel": "rbf", "gamma": 1}`, equal, 1, kernelops.Best()).Model
	if c, err := Certify(model); err != nil || c.Verdict != Untold || !strings.Contains(c.TellableBy, "equal") {
		t.Errorf("%+v, %v", c, err)
	}
	model = mustRun(t, `{"kernel": "rbf", "gamma": 1}`, equal[:20], 1, kernelops.Best()).Model
	if c, err := Certify(model); err != nil || c.Verdict != Holds {
		t.Errorf("%+v, %v", c, err)
	}
}

// The verdicts follow from the least eigenvalue and the tolerance; of a kernel that is an inner product, no matrix
// fails.
func TestVerdicts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := rapid.SampledFrom(kernelCases[:3]).Draw(r, "kernel")
		n, width := rapid.IntRange(1, 20).Draw(r, "rows"), rapid.IntRange(1, 8).Draw(r, "width")
		offset := rapid.SampledFrom([]float64{0, 10, 1e3}).Draw(r, "offset")
		deviation := rapid.SampledFrom([]float64{1e-3, 1, 30}).Draw(r, "deviation")
		rows := normal(rapid.Uint64().Draw(r, "seed"), n, width, offset, deviation)
		result := mustRun(t, "{"+c.params+"}", rows, 2, kernelops.Best())
		found, err := Certify(result.Model)
		if err != nil {
			r.Fatal(err)
		}
		want := Untold
		if found.Least >= found.Tolerance {
			want = Holds
		}
		if found.Verdict != want || (found.TellableBy == "") != (want == Holds) {
			r.Errorf("%s: %+v", c.params, found)
		}
	})
}

// A sparse matrix whose rows lie far from 0 is not centered, and has the values of float64 all the same.
func TestSparseRowsFarAway(t *testing.T) {
	rows := normal(3, 60, 5, 1e5, 1)
	spec := specOf(t, `{"kernel": "rbf", "gamma": 0.2}`, false)
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec,
		jobstest.Shards(jobstest.Deal(jobstest.SparseRecords(5, rows), 2), 7), kernelops.Best(), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := assembled(t, result.Files)
	if e := worst(rows, 0.2, got, 1e-6); !(e <= 1e-5) {
		t.Errorf("relative error %v", e)
	}
	if n := count(t, result, "kernelmatrix.pairs_by_differences"); n != 60*59/2 {
		t.Errorf("%v pairs by differences", n)
	}
}
