package verify

import (
	"fmt"
	"math"
)

// confidence of what is said of a sample.
const confidence = 0.99

// claims say what follows from what was repeated.
func (r *Result) claims() []string {
	var claims []string
	if r.Leaves.Repeated >= r.Leaves.Of && r.Steps.Repeated == r.Steps.Of && r.Merges.Repeated >= r.Merges.Of &&
		r.Leaves.Of > 0 && len(r.Missing) == 0 {
		return []string{"Everything was repeated: the model follows from the input and the spec."}
	}
	if r.Leaves.Of > 0 {
		claims = append(claims, r.leavesClaim())
	}
	rest := r.Merges.Of - r.Merges.Repeated + r.Steps.Of - r.Steps.Repeated
	if rest > 0 {
		claims = append(claims, fmt.Sprintf("%d of %d merges and %d of %d steps were only compared by digest: "+
			"--rounds N repeats some, --all all.", r.Merges.Of-r.Merges.Repeated, r.Merges.Of,
			r.Steps.Of-r.Steps.Repeated, r.Steps.Of))
	}
	if len(r.Missing) > 0 {
		claims = append(claims, fmt.Sprintf("%d things that were to be checked are missing.", len(r.Missing)))
	}
	return claims
}

func (r *Result) leavesClaim() string {
	switch n := r.Drawn.Repeated; {
	case r.Leaves.Repeated == 0:
		return fmt.Sprintf("No leaf was repeated: nothing is known of the %d leaves but their digests.", r.Leaves.Of)
	case n == r.Drawn.Of && n < r.Leaves.Of:
		return fmt.Sprintf("All %d leaves were repeated of the rounds whose state is kept; of the other %d nothing is known "+
			"but their digests.", n, r.Leaves.Of-n)
	case r.Leaves.Repeated >= r.Leaves.Of:
		return fmt.Sprintf("All %d leaves were repeated.", r.Leaves.Of)
	default:
		of := fmt.Sprintf("%d leaves", r.Leaves.Of)
		if r.Drawn.Of < r.Leaves.Of {
			of = fmt.Sprintf("%d leaves of the rounds whose state is kept", r.Drawn.Of)
		}
		return fmt.Sprintf("%d leaves were drawn and repeated: with %g %% confidence less than %.2g %% of the %s are "+
			"false. One false leaf in 10,000 may be missed.", n, 100*confidence, 100*falseShare(n), of)
	}
}

// falseShare is the share of false leaves that n drawn ones would miss with a probability of 1 % at most: (1-p)^n = 0.01.
// Drawing without replacement misses no more.
func falseShare(n int) float64 { return -math.Expm1(math.Log(1-confidence) / float64(n)) }
