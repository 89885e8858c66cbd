// Package rank orders things by a value of each. Ties go to the lower number, so every order is total.
package rank

import (
	"cmp"
	"slices"
)

// Least returns the numbers from 0 to n-1, least value first.
func Least[V cmp.Ordered](n int, value func(i int) V) []int {
	return sorted(n, value, func(v, w V) int { return cmp.Compare(v, w) })
}

// Greatest returns the numbers from 0 to n-1, greatest value first.
func Greatest[V cmp.Ordered](n int, value func(i int) V) []int {
	return sorted(n, value, func(v, w V) int { return cmp.Compare(w, v) })
}

func sorted[V cmp.Ordered](n int, value func(i int) V, compare func(v, w V) int) []int {
	order, values := make([]int, n), make([]V, n)
	for i := range order {
		order[i], values[i] = i, value(i)
	}
	// total order: numbers differ
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(compare(values[i], values[j]), cmp.Compare(i, j)) })
	return order
}

// First returns the index of the greatest score; ties go to the lower index.
func First[T float32 | float64](scores []T) int {
	best := 0
	for i, score := range scores {
		if score > scores[best] {
			best = i
		}
	}
	return best
}
