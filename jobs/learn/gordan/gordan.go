// Package gordan proves, exactly, that no machine separates two classes. By Gordan's theorem ("Über die Auflösung
// linearer Gleichungen mit reellen Coefficienten", Mathematische Annalen 6, 1873), of rows z = y x either some w has
// <w, z> > 0 for all, or some coefficients a >= 0, not all 0, have sum of a z = 0. It looks for such coefficients in
// float64, and proves them in integers.
package gordan

import (
	"maps"
	"math/big"
	"slices"
)

// Row is a record: values at some columns, or at all where Index is nil, the number in the column of the bias, 0 for
// none, and its side, +1 or -1.
type Row struct {
	Index  []int32
	Values []float32
	Bias   float64
	Side   float64
}

// Bounds of the search. What exceeds them is not proved.
const (
	maxBasis = 65      // rows whose coefficients are not 0
	maxCells = 1 << 22 // rows times columns that are not all 0
	maxWork  = 1 << 31 // products
)

// Proves reports whether it found coefficients that prove that no machine separates the rows. False says nothing. It
// takes up to 2^31 products in float64, and O(65^3) of integers of some thousand bits.
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
			return true
		}
		if r.Bias != 0 {
			z[i][column[bias]] = float64(r.Side * r.Bias)
		}
	}
	basis, a := search(z, biased)
	return len(basis) > 0 && exact(z, basis, a)
}

// bias stands for the column of the bias.
const bias = -1

// column is where a value is.
func (r *Row) column(e int) int32 {
	if r.Index == nil {
		return int32(e)
	}
	return r.Index[e]
}

// columnsOf numbers the columns in which some row is not 0, that of the bias first, and reports whether it is there.
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

// exact reports whether coefficients near a, of the rows of a basis, are at least 0 and have sum of a z = 0. The
// columns that are linearly independent modulo a prime tell which rows follow from the others, whose coefficients stay
// those of a; what follows is verified in every column.
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
		return false // their sum is 0 with coefficients of 0 alone
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

// holds reports whether the products of each column with a vector are 0 in sum.
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
