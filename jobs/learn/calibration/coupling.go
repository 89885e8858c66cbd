package calibration

import "math"

// Pairs has the probability of each class against each other: P[i*N+j] is that of i where it is i or j.
type Pairs struct {
	N    int
	P    []float64 // [N x N]; the diagonal does not count
	q, w []float64
}

// NewPairs makes room for n classes.
func NewPairs(n int) *Pairs {
	return &Pairs{N: n, P: make([]float64, n*n), q: make([]float64, n*n), w: make([]float64, n)}
}

// surest keeps probabilities of pairs away from 0 and 1.
const surest = 1 - 1e-7

// Set sets the probabilities of a pair, which are kept away from 0 and 1.
func (p *Pairs) Set(first, second int, ofFirst, ofSecond float64) {
	p.P[first*p.N+second] = min(max(ofFirst, 1-surest), surest)
	p.P[second*p.N+first] = min(max(ofSecond, 1-surest), surest)
}

// Couple sets dst to the probabilities of the classes that agree best with those of the pairs: they minimize the sum of
// (P_ji p_i - P_ij p_j)^2 over all pairs, and add up to 1 (Wu, Lin and Weng, "Probability estimates for multi-class
// classification by pairwise coupling", JMLR 5, 2004, the second method and algorithm 2). O(N^2) for each sweep.
func (p *Pairs) Couple(dst []float64) {
	n, q, product := p.N, p.q, p.w
	for t := range n {
		dst[t], q[t*n+t] = 1/float64(n), 0
		for j := range n {
			if r := p.P[j*n+t]; j != t {
				q[t*n+t] += float64(r * r)
				q[t*n+j] = -float64(r * p.P[t*n+j])
			}
		}
	}
	tol := 1e-8 / float64(n)
	for range max(1000, n) {
		total := 0.0
		for t := range n {
			product[t] = 0
			for j, v := range dst {
				product[t] += float64(q[t*n+j] * v)
			}
			total += float64(dst[t] * product[t])
		}
		worst := 0.0
		for _, v := range product {
			worst = max(worst, math.Abs(v-total))
		}
		if worst < tol {
			break
		}
		for t := range n {
			total = p.descend(dst, t, total)
		}
	}
	sum := 0.0
	for _, v := range dst {
		sum += v
	}
	for t := range dst {
		dst[t] /= sum
	}
}

// descend makes the probability of a class the best while the others stay in proportion, and returns p'Qp.
func (p *Pairs) descend(dst []float64, t int, total float64) float64 {
	n, own := p.N, p.q[t*p.N+t]
	d := (total - p.w[t]) / own
	dst[t] += d
	more := 1 + d
	total = (total + float64(d*(float64(d*own)+float64(2*p.w[t])))) / more / more
	for j := range n {
		p.w[j] = (p.w[j] + float64(d*p.q[t*n+j])) / more
		dst[j] /= more
	}
	return total
}
