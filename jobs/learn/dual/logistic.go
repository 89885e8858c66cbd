package dual

import (
	"math"

	"github.com/gram-compute/gram/kernelops/fmath"
)

// The logistic loss is log(1 + exp(s)) where y <w, x> is short of the target 0 by s. Its dual loses the entropy
// a log(a/c) + (c-a) log((c-a)/c), whose slope at the ends of 0 <= a <= c is infinite. (Yu, Huang and Lin, "Dual
// coordinate descent methods for logistic regression and maximum entropy models", Machine Learning 85, 2011, (3).)

// softplus returns log(1 + exp(s)). The factor e/((1+e) - 1) corrects the rounding of 1 + e (Goldberg, "What every
// computer scientist should know about floating-point arithmetic", 1991, theorem 4). The largest error met for 60,000
// arguments was 2.7 ulp; callers assume 4.
func softplus(s float64) float64 {
	e := fmath.Exp(-math.Abs(s))
	log := e
	if sum := 1 + e; sum != 1 {
		log = float64(fmath.Log(sum)*e) / (sum - 1)
	}
	return max(0, s) + log
}

// sigmoid returns 1/(1 + exp(-s)), and 1 minus it, without cancellation.
func sigmoid(s float64) (of, rest float64) {
	e := fmath.Exp(-math.Abs(s))
	near, far := 1/(1+e), e/(1+e)
	if s < 0 {
		return far, near
	}
	return near, far
}

// entropy is the negative of what the dual loses: both of its terms are at least 0.
func entropy(alpha, cost float64) float64 {
	return surprise(alpha, cost) + surprise(cost-alpha, cost)
}

// surprise is -a log(a/c), and 0 for a = 0.
func surprise(alpha, cost float64) float64 {
	if alpha <= 0 {
		return 0
	}
	return -float64(alpha * fmath.Log(alpha/cost))
}

// addEntropy adds the entropy of a record. A logarithm that is off by 4 ulp is so by 8 units, its argument by 2,
// and that by 1 of each a and c-a: in all less than the 9 units of Size that Certify allows for.
func (s *Standing) addEntropy(alpha, cost float64) {
	of := entropy(alpha, cost)
	s.Linear += of
	s.Size += float64(2*of) + cost
}

// nearLogistic is Near for the logistic loss, which needs no pull.
func nearLogistic(short, cost float64) (alpha, value, bend float64) {
	of, rest := sigmoid(short)
	return min(cost, float64(cost*of)), float64(cost * softplus(short)), float64(float64(cost*of) * rest)
}

// violationLogistic is how far a coefficient is from the one at which the slope of the dual is 0, as a part of the
// cost: slopes are infinite at the bounds.
func violationLogistic(alpha, short, cost float64) float64 {
	of, _ := sigmoid(short)
	return math.Abs(alpha/cost - of)
}

// ascendLogistic is Ascend for the logistic loss. Where the slope of the dual is 0, the coefficient is c/(1 + exp(-u)),
// and u + square (alpha(u) - alpha) = short. The left side rises with a slope of at least 1. It takes Newton's steps,
// and bisects the interval that is known to contain u if a step leaves it, or is more than half of the step before.
func ascendLogistic(alpha, short, square, cost float64) float64 {
	low, high := short-float64(square*(cost-alpha)), short+float64(square*alpha)
	u, before := min(max(short, low), high), high-low
	for range 200 {
		of, rest := sigmoid(u)
		off := u + float64(square*(float64(cost*of)-alpha)) - short
		if off > 0 {
			high = u
		} else {
			low = u
		}
		next := u - off/(1+float64(square*float64(float64(cost*of)*rest)))
		if !(next > low && next < high) || math.Abs(next-u) > before/2 {
			next = low + (high-low)/2
		}
		if math.Abs(next-u) <= 0x1p-44*(1+math.Abs(u)) {
			break
		}
		u, before = next, math.Abs(next-u)
	}
	of, _ := sigmoid(u)
	return min(cost, float64(cost*of))
}

// steps are the steps along a course that are tried with the logistic loss.
var steps = [...]float64{0x1p-5, 0x1p-3, 0.25, 0.5, 0.75, 1, 1.5, 2}

// addEntropy adds by how much the entropy of a coefficient rises at each step.
func (c *Course) addEntropy(alpha, change, cost float64) {
	before := entropy(alpha, cost)
	for i, step := range steps {
		c.Grid[i] += entropy(alpha+float64(step*change), cost) - before
	}
}

// best returns the step within the room at which the dual is greatest. cross is <w, moves>, square is |moves|^2.
func (c Course) best(cross, square float64) (best float64) {
	most := 0.0
	for i, step := range steps {
		rise := c.Grid[i] - float64(step*cross) - float64(float64(step*step)*square)/2
		if step*(1-0x1p-49) > c.Room || !(rise > most) {
			continue
		}
		best, most = min(step, c.Room), rise
	}
	return best
}
