package verify

import (
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/proof"
	"pgregory.net/rapid"
)

// Worked out by hand: of 4 leaves with one false, 3 drawn miss it with 1/4; with two, always one is met. 459 of very
// many leaves: 1 % of them, because 0.99^459 is 0.0099.
func TestMaxFalse(t *testing.T) {
	for _, c := range []struct{ all, n, want int64 }{
		{4, 3, 2}, {4, 4, 1}, {1, 1, 1}, {100, 99, 1}, {2, 1, 2}, {0, 0, 0}, {5, 0, 0}, {5, 6, 0},
		{10_000_000, 459, 99_827},
	} {
		if got := maxFalse(c.all, c.n); got != c.want {
			t.Errorf("%d of %d leaves: %d, want %d", c.n, c.all, got, c.want)
		}
	}
}

// Against a second method, log-gamma: k is the first that a sample would have met with 99 %.
func TestMaxFalseByBinomials(t *testing.T) {
	choose := func(n, k int64) float64 {
		if k < 0 || k > n {
			return math.Inf(-1)
		}
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	rapid.Check(t, func(rt *rapid.T) {
		all := rapid.Int64Range(1, 5000).Draw(rt, "all")
		n := rapid.Int64Range(1, all).Draw(rt, "n")
		k := maxFalse(all, n)
		missed := func(k int64) float64 { return math.Exp(choose(all-k, n) - choose(all, n)) }
		if k < 1 || k > all || missed(k) > 0.01+1e-9 || k > 1 && missed(k-1) < 0.01-1e-9 {
			rt.Errorf("%d of %d: %d, missed with %g and %g", n, all, k, missed(k), missed(k-1))
		}
	})
}

// A claim is made of what was repeated only, and none where something is false.
func TestClaims(t *testing.T) {
	for name, c := range map[string]struct {
		r    Result
		says []string
	}{
		"all": {Result{Leaves: Count{3, 3}, Merges: Count{2, 2}, Steps: Count{1, 1}}, []string{"All 3 leaves", "follows"}},
		"sample": {Result{Leaves: Count{459, 20000}, Drawn: 459, DrawnOf: 10000, Unbacked: 10000, Steps: Count{1, 2}},
			[]string{"fewer than 98 are", "may be missed: such a sample finds it in 5 of 100", "10000 leaves are of rounds",
				"1 of 2 steps", "The metrics of the report follow from all steps, and were not compared"}},
		"all that were known": {Result{Leaves: Count{5, 9}, Drawn: 5, DrawnOf: 5, Unbacked: 4, Steps: Count{1, 2}},
			[]string{"All 5 leaves of the rounds whose states are known were repeated: none is false. 4 leaves are"}},
		"one leaf": {Result{Leaves: Count{1, 1}, Steps: Count{1, 1}},
			[]string{"The only leaf was repeated: it is not false. All steps were repeated"}},
		"no merges": {Result{Leaves: Count{0, 9}, Steps: Count{1, 2}},
			[]string{"No leaf was repeated. 1 of 2 steps were"}},
		"named": {Result{Leaves: Count{3, 20000}, Drawn: 3, DrawnOf: 20000, Named: true, Steps: Count{1, 2}},
			[]string{"3 of 20000 leaves were drawn, and none is false. The draw was named, not made here. If the one who " +
				"trained did not know it beforehand, with 99 % confidence fewer than 15691 are"}},
		"none": {Result{Leaves: Count{0, 9}, DrawnOf: 9},
			[]string{"Only digests were compared. Nothing was repeated"}},
		"wrong": {Result{Leaves: Count{3, 3}, False: []Finding{{Of: OfOutput}, {Of: OfLeaf}}},
			[]string{"The job is not what its proof says"}},
		"a wrong step": {Result{Leaves: Count{3, 3}, False: []Finding{{Of: OfStep}}},
			[]string{"The job is not what its proof says"}},
		"a wrong report": {Result{Leaves: Count{3, 3}, False: []Finding{{Of: OfOutput}}},
			[]string{"Files beside the model are not what repeating the job gives. The leaves, merges and steps that were"}},
		"a wrong file": {Result{Leaves: Count{0, 3}, False: []Finding{{Of: OfFile}}},
			[]string{"Files beside the model are not those that the job left", "So nothing was repeated."}},
	} {
		v := &verifier{outputs: outputs{ledger: &ledger{result: &c.r}}}
		v.records = append(v.records, nil)
		v.conclude()
		text := strings.Join(c.r.Says, " ")
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q lacks %q", name, text, want)
			}
		}
	}
}

// Worked out by hand: 3 of 4 leaves meet a single false one in 75 of 100 tries.
func TestChance(t *testing.T) {
	for want, r := range map[string]Result{
		"A single false leaf may be missed: such a sample finds it in 75 of":           {Drawn: 3, DrawnOf: 4},
		"A single false leaf may be missed: such a sample finds it in more than 99 of": {Drawn: 999, DrawnOf: 1000},
		"One false leaf in 10,000 may be missed: such a sample finds it in fewer than": {Drawn: 99, DrawnOf: 20_000},
		"One false leaf in 10,000 may be missed: such a sample finds it in 5 of":       {Drawn: 459, DrawnOf: 10_000},
	} {
		if got := r.chance(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a job that began anew tells of before cannot be compared, which the claim says.
func TestClaimOfAJobThatBeganAnew(t *testing.T) {
	for last, want := range map[uint32]bool{2: false, 3: true} {
		r := Result{Leaves: Count{2, 2}, Steps: Count{2, 2}}
		v := &verifier{outputs: outputs{ledger: &ledger{result: &r}}, records: []*proof.Record{nil, nil},
			manifest: &proof.Manifest{Rounds: make([]proof.Round, 2)},
			report:   &origin.Report{Rounds: []origin.ReportRound{{Round: last}}}}
		v.conclude()
		if got := strings.Contains(strings.Join(r.Says, " "), "began anew"); got != want {
			t.Errorf("the last round is %d: %q", last, r.Says)
		}
	}
}

// Where every step was repeated, the report's metrics were compared.
func TestNothingIsSaidOfMetricsThatWereCompared(t *testing.T) {
	v := &verifier{outputs: outputs{ledger: &ledger{result: &Result{Leaves: Count{0, 9}, Steps: Count{2, 2}}}}}
	if says := strings.Join(v.claims(), " "); strings.Contains(says, "metrics") {
		t.Error(says)
	}
}

// What is false in a file that is read after leaves were repeated does not say that nothing was.
func TestAFileThatIsFalseLate(t *testing.T) {
	r := Result{Leaves: Count{2, 3}, False: []Finding{{Of: OfRecord}}}
	if says := r.denial(); strings.Contains(says, "repeated") {
		t.Error(says)
	}
}

// The verdict says whether anything was repeated: a leaf, merge or step is enough.
func TestVerdicts(t *testing.T) {
	for want, r := range map[Verdict]Result{
		DigestsOnly: {Leaves: Count{0, 9}, Merges: Count{0, 8}, Steps: Count{0, 1}, Files: Count{7, 7}},
		Verified:    {Leaves: Count{0, 9}, Merges: Count{1, 8}, Steps: Count{0, 1}},
		Incomplete:  {Leaves: Count{0, 9}, Missing: []Finding{{Of: OfInput}}},
		False:       {Leaves: Count{0, 9}, False: []Finding{{Of: OfLeaf}}},
	} {
		v := &verifier{outputs: outputs{ledger: &ledger{result: &r}}}
		if v.conclude(); r.Verdict != want {
			t.Errorf("%q, want %q", r.Verdict, want)
		}
	}
}
