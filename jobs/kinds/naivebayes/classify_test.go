package naivebayes

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
)

// Four documents. Dictionary, by count and then bytes: buy 3, now 3, cheap, meet,
// see, you 1 each, so n = 6.
//
//	spam: buy 3, now 1, cheap 1          w = 5, 1 document
//	ham:  now 2, meet 1, see 1, you 1    w = 5, 3 documents
var fourDocuments = []jobstest.Record{
	{Label: "spam", Text: "Buy, buy now! Buy cheap."},
	{Label: "ham", Text: "meet now"},
	{Label: "ham", Text: "see you"},
	{Label: "ham", Text: "now"},
}

// question has the bag buy 1, now 2; "unknown" is in no dictionary.
const question = "buy now unknown now"

// modelOf trains on records without test records and returns the model as it is read back.
func modelOf(t testing.TB, params string, records []jobstest.Record) jobs.Arrays {
	t.Helper()
	result, err := train(t, specOf(params, 0), inShards(records, 2))
	if err != nil {
		t.Fatal(err)
	}
	model, err := jobs.Decode(result.Model.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func classifyText(t testing.TB, model jobs.Arrays, text string) jobs.Prediction {
	t.Helper()
	c, err := NewClassifier(model)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Classify(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func posterior(t testing.TB, p jobs.Prediction, label string) float64 {
	t.Helper()
	for _, s := range p.Scores {
		if s.Label == label {
			return s.Posterior
		}
	}
	t.Fatalf("no posterior of %q", label)
	return 0
}

// With alpha 1 the denominators are 5 + 6 = 11, and
//
//	spam: p(buy) p(now)^2 = 4/11 (2/11)^2 = 16/1331
//	ham:  p(buy) p(now)^2 = 1/11 (3/11)^2 =  9/1331.
//
// Learned prior 1/4, 3/4: 16/4 to 27/4, so p(spam|x) = 16/43. Uniform: 16/25. Given
// 1/10, 9/10: 16/97. With alpha 1/2 the denominators are 8: 3.5 1.5^2 = 7.875 to
// 0.5 2.5^2 = 3.125; with the learned prior 7.875/(7.875 + 9.375) = 21/46.
func TestPosteriorByHand(t *testing.T) {
	for params, want := range map[string]float64{
		`{}`:                                   16.0 / 43,
		`{"prior": "uniform"}`:                 16.0 / 25,
		`{"prior": {"spam": 0.1, "ham": 0.9}}`: 16.0 / 97,
		`{"alpha": 0.5}`:                       21.0 / 46,
	} {
		p := classifyText(t, modelOf(t, params, fourDocuments), question)
		if got := posterior(t, p, "spam"); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: p(spam|x) = %v, want %v", params, got, want)
		}
		if got := posterior(t, p, "ham"); math.Abs(got-(1-want)) > 1e-12 {
			t.Errorf("%s: p(ham|x) = %v, want %v", params, got, 1-want)
		}
	}
}

// L(x) = 16/27 = 0.5926, and the best posterior is 27/43 = 0.6279.
func TestDecisionByHand(t *testing.T) {
	for params, want := range map[string]jobs.Prediction{
		`{}`:                                  {Label: "ham"},
		`{"positive": "spam", "ratio": 0.59}`: {Label: "spam"},
		`{"positive": "spam", "ratio": 0.60}`: {Label: "ham"},
		`{"positive": "ham", "ratio": 1.6}`:   {Label: "ham"},
		`{"positive": "ham", "ratio": 1.7}`:   {Label: "spam"},
		`{"reject_below": 0.62}`:              {Label: "ham"},
		`{"reject_below": 0.63}`:              {Rejected: true},
	} {
		got := classifyText(t, modelOf(t, params, fourDocuments), question)
		if got.Label != want.Label || got.Rejected != want.Rejected {
			t.Errorf("%s: %q, rejected %v; want %q, %v", params, got.Label, got.Rejected, want.Label, want.Rejected)
		}
	}
}

func TestUnknownWordsLeaveThePrior(t *testing.T) {
	for _, text := range []string{"", "nothing known here"} {
		p := classifyText(t, modelOf(t, `{}`, fourDocuments), text)
		if got := posterior(t, p, "spam"); math.Abs(got-0.25) > 1e-15 {
			t.Errorf("%q: p(spam|x) = %v, want 1/4", text, got)
		}
	}
}

// Ties go to the label that is first in byte order, best first.
func TestTie(t *testing.T) {
	p := classifyText(t, modelOf(t, `{}`,
		[]jobstest.Record{{Label: "b", Text: "x"}, {Label: "a", Text: "y"}, {Label: "c", Text: "z"}}), "x y z")
	if p.Label != "a" || p.Scores[0].Label != "a" || p.Scores[2].Label != "c" {
		t.Errorf("%+v", p)
	}
	if p.Scores[0].Posterior != p.Scores[2].Posterior {
		t.Errorf("posteriors of a tie differ: %+v", p.Scores)
	}
}

// 22,630 times "buy" and 77,370 times "now": the likelihoods are near e^-154800, far below
// any float64, but L(x) = 1/3 4^22630 (2/3)^77370, here with 300 bits, is near 1.
func TestLongDocument(t *testing.T) {
	const buy, now = 22_630, 77_370
	power := func(num, den int64, n int) *big.Float {
		base := new(big.Float).SetPrec(300).Quo(big.NewFloat(float64(num)).SetPrec(300),
			big.NewFloat(float64(den)).SetPrec(300))
		result := big.NewFloat(1).SetPrec(300)
		for ; n > 0; n >>= 1 {
			if n&1 == 1 {
				result.Mul(result, base)
			}
			base = new(big.Float).SetPrec(300).Mul(base, base)
		}
		return result
	}
	ratio, _ := new(big.Float).Mul(power(1, 3, 1), new(big.Float).Mul(power(4, 1, buy), power(2, 3, now))).Float64()
	want := ratio / (1 + ratio)
	if want < 0.1 || want > 0.9 {
		t.Fatalf("p(spam|x) = %v is not the case this test is for", want)
	}
	p := classifyText(t, modelOf(t, `{}`, fourDocuments), strings.Repeat("buy ", buy)+strings.Repeat("now ", now))
	if got := posterior(t, p, "spam"); math.Abs(got-want) > 1e-9 {
		t.Errorf("p(spam|x) = %v, want %v", got, want)
	}
	extreme := classifyText(t, modelOf(t, `{}`, fourDocuments), strings.Repeat("buy ", 100_000))
	if extreme.Label != "spam" || extreme.Scores[0].Posterior != 1 || extreme.Scores[1].Posterior != 0 {
		t.Errorf("100,000 times buy: %+v", extreme)
	}
}
