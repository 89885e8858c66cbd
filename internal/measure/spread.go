package measure

import (
	"fmt"
	"math"
	"slices"
)

// Spread is the middle of several figures, and the quartiles around it.
type Spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"q1"`
	High   float64 `json:"q3"`
}

// SpreadOf is the median and the quartiles, linear between neighbors; NaN of nothing.
func SpreadOf(x []float64) Spread {
	sorted := slices.Sorted(slices.Values(x))
	at := func(q float64) float64 {
		if len(sorted) == 0 {
			return math.NaN()
		}
		whole, part := math.Modf(q * float64(len(sorted)-1))
		i := int(whole)
		if part == 0 {
			return sorted[i]
		}
		return sorted[i] + part*(sorted[i+1]-sorted[i])
	}
	return Spread{Median: at(0.5), Low: at(0.25), High: at(0.75)}
}

// Digits writes three digits that count, or all before the point.
func Digits(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x >= 1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
