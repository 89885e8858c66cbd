// Package gordan proves, exactly, that no machine separates two classes. By Gordan's theorem ("Über die Auflösung
// linearer Gleichungen mit reellen Coefficienten", Mathematische Annalen 6, 1873), rows z = y x have either some w with
// <w, z> > 0 for all of them, or some coefficients a >= 0, not all 0, with sum of a z = 0. The package looks for such
// coefficients in float64, and proves them in integers.
package gordan

import (
	"maps"
	"math/big"
	"slices"
)

// Row is a record: its values, at the columns of Index or at all if Index is nil; the number in the column of the bias,
// 0 without a bias; and its side, +1 or -1.
type Row struct {
	Index  []int32
	Values []float32
	Bias   float64
	Side   float64
}

// Bounds of the search. Beyond them, Proves returns false.
const (
	maxBasis = 65      // rows whose coefficients are above 0
	maxCells = 1 << 22 // rows times columns, without columns that are 0 in each row
	maxWork  = 1 << 31 // products of float64
)

// Proves reports whether it found coefficients that prove that no machine separates the rows. If it returns false, the
// rows may be separable or not. It takes up to 2^31 products in float64, and O(65^3) of integers of some thousand bits.
func Proves(rows []Row) bool {
	column, biased := columnsOf(rows)
	if len(rows) == 0 || len(column)*len(rows) > maxCells {
		return false
	}
	z := make([][]float64, len(rows))
	for i, r := range rows {
		z[i] = make([]float64, len(column))
		nonzero := r.Bias != 0
		for e, v := range r.Values {
			if v == 0 {
				continue
			}
			at := &z[i][column[r.column(e)]]
			if *at != 0 {
				return false // a sum of two values may not be a float64
			}
			*at, nonzero = float64(r.Side*float64(v)), true
		}
		if !nonzero {
			return true // a row of zeros: no <w, z> is above 0
		}
		if r.Bias != 0 {
			z[i][column[bias]] = float64(r.Side * r.Bias)
		}
	}
	basis, a := search(z, biased)
	return len(basis) > 0 && exact(z, basis, a)
}

// bias is the key of the column of the bias.
const bias = -1

// column returns the column of value number e.
func (r *Row) column(e int) int32 {
	if r.Index == nil {
		return int32(e)
	}
	return r.Index[e]
}

// columnsOf numbers the columns in which some row is not 0. That of the bias is the first; biased reports whether it is
// among them.
func columnsOf(rows []Row) (number map[int32]int, biased bool) {
	number = map[int32]int{}
	for _, r := range rows {
		for e, v := range r.Values {
			if v != 0 {
				number[r.column(e)] = 0
			}
		}
		if r.Bias != 0 {
			number[bias], biased = 0, true
		}
	}
	for i, j := range slices.Sorted(maps.Keys(number)) {
		number[j] = i
	}
	return number, biased
}

// exact reports whether it found coefficients of the rows of a basis, near a, that are at least 0, not all 0, and have
// sum of a z = 0 exactly. Columns that are linearly independent modulo a prime determine the coefficients of as many
// rows from those of the other rows, which stay those of a. The result is verified in every column.
func exact(z [][]float64, basis []int, a []float64) bool {
	columns := make([][]*big.Int, len(z[0]))
	for j := range columns {
		column := make([]float64, len(basis))
		for i, row := range basis {
			column[i] = z[row][j]
		}
		columns[j] = integers(column)
	}
	pivots, chosen := independent(columns, len(basis))
	if len(pivots) == len(basis) {
		return false // the rows are independent: only coefficients of 0 have the sum 0
	}
	solution := follow(columns, pivots, chosen, integers(a))
	positive := false
	for _, v := range solution {
		if v.Sign() < 0 {
			return false
		}
		positive = positive || v.Sign() > 0
	}
	return positive && holds(columns, solution)
}

// holds reports whether the product of each column with the solution is 0.
func holds(columns [][]*big.Int, solution []*big.Int) bool {
	product := new(big.Int)
	for _, column := range columns {
		sum := new(big.Int)
		for i, v := range column {
			sum.Add(sum, product.Mul(v, solution[i]))
		}
		if sum.Sign() != 0 {
			return false
		}
	}
	return true
}
