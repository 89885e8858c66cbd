package gordan

import (
	"math"
	"math/big"
	"math/bits"
)

// integers returns finite numbers times the least power of two that makes all of them integers.
func integers(list []float64) []*big.Int {
	least := math.MaxInt
	fractions, exponents := make([]int64, len(list)), make([]int, len(list))
	for i, v := range list {
		fraction, exponent := math.Frexp(v)
		fractions[i] = int64(math.Ldexp(fraction, 53)) //lint:checked up to 2^53
		exponents[i] = exponent
		if shift := bits.TrailingZeros64(uint64(fractions[i])); v != 0 {
			fractions[i], exponents[i] = fractions[i]>>shift, exponent+shift
			least = min(least, exponents[i])
		}
	}
	result := make([]*big.Int, len(list))
	for i, f := range fractions {
		result[i] = big.NewInt(f)
		if f != 0 {
			result[i].Lsh(result[i], uint(exponents[i]-least))
		}
	}
	return result
}

// prime is a Mersenne prime.
const prime = 1<<61 - 1

// independent eliminates columns modulo the prime. It returns the unknowns whose values follow from those of the others
// (pivots), and the column that each follows from (chosen). The chosen columns are independent modulo the prime, and so
// over the rationals, too.
func independent(columns [][]*big.Int, unknowns int) (pivots, chosen []int) {
	m, modulus := make([][]uint64, len(columns)), big.NewInt(prime)
	for j, column := range columns {
		m[j] = make([]uint64, unknowns)
		for i, v := range column {
			m[j][i] = new(big.Int).Mod(v, modulus).Uint64()
		}
	}
	used := make([]bool, len(columns))
	for i := range unknowns {
		at := 0
		for at < len(m) && (used[at] || m[at][i] == 0) {
			at++
		}
		if at == len(m) {
			continue
		}
		used[at] = true
		pivots, chosen = append(pivots, i), append(chosen, at)
		inverse := power(m[at][i], prime-2)
		for j := range m {
			if used[j] || m[j][i] == 0 {
				continue
			}
			factor := times(m[j][i], inverse)
			for e := i; e < unknowns; e++ {
				m[j][e] = (m[j][e] + prime - times(factor, m[at][e])) % prime
			}
		}
	}
	return pivots, chosen
}

// times returns x y modulo the prime.
func times(x, y uint64) uint64 {
	high, low := bits.Mul64(x, y)
	return bits.Rem64(high, low, prime)
}

// power returns x^n modulo the prime.
func power(x, n uint64) uint64 {
	result := uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result = times(result, x)
		}
		x = times(x, x)
	}
	return result
}

// follow solves for the pivots: it returns a positive multiple of the vector that equals a except at the pivots, and
// whose product with each chosen column is 0. It eliminates without fractions (Bareiss, "Sylvester's identity and
// multistep integer-preserving Gaussian elimination", Mathematics of Computation 22, 1968).
func follow(columns [][]*big.Int, pivots, chosen []int, a []*big.Int) []*big.Int {
	n := len(pivots)
	pivotal := make([]bool, len(a))
	for _, i := range pivots {
		pivotal[i] = true
	}
	m := make([][]*big.Int, n)
	for r, j := range chosen {
		m[r] = make([]*big.Int, n+1)
		for c, i := range pivots {
			m[r][c] = new(big.Int).Set(columns[j][i])
		}
		m[r][n] = new(big.Int)
		for i, v := range a {
			if !pivotal[i] {
				m[r][n].Sub(m[r][n], new(big.Int).Mul(columns[j][i], v))
			}
		}
	}
	det := eliminate(m)
	solution := make([]*big.Int, len(a))
	for i, v := range a {
		solution[i] = new(big.Int).Mul(v, det)
	}
	for r := n - 1; r >= 0; r-- {
		sum, product := new(big.Int).Mul(det, m[r][n]), new(big.Int)
		for c := r + 1; c < n; c++ {
			sum.Sub(sum, product.Mul(m[r][c], solution[pivots[c]]))
		}
		solution[pivots[r]] = sum.Quo(sum, m[r][r])
	}
	if det.Sign() < 0 {
		for _, v := range solution {
			v.Neg(v)
		}
	}
	return solution
}

// eliminate makes a matrix of n rows triangular and returns the determinant of its first n columns, which is not 0.
func eliminate(m [][]*big.Int) *big.Int {
	before, product := big.NewInt(1), new(big.Int)
	for k := range m {
		at := k
		for m[at][k].Sign() == 0 {
			at++
		}
		m[k], m[at] = m[at], m[k]
		for r := k + 1; r < len(m); r++ {
			for c := k + 1; c < len(m[r]); c++ {
				v := m[r][c]
				v.Mul(v, m[k][k]).Sub(v, product.Mul(m[r][k], m[k][c])).Quo(v, before)
			}
			m[r][k].SetInt64(0)
		}
		before = m[k][k]
	}
	return new(big.Int).Set(before)
}
