package jobs

import (
	"math"
	"testing"
)

func TestMalformedOffsets(t *testing.T) {
	for name, change := range map[string]func(Arrays){
		"order": func(a Arrays) {
			Put(a, subtractColumns, []int64{2, 1})
			Put(a, subtractOffsets, []float64{1, 1})
		},
		"length": func(a Arrays) {
			Put(a, subtractColumns, []int64{2})
			Put(a, subtractOffsets, []float64{1, 1})
		},
		"NaN": func(a Arrays) {
			Put(a, subtractColumns, []int64{2})
			Put(a, subtractOffsets, []float64{math.NaN()})
		},
		"below": func(a Arrays) {
			Put(a, subtractColumns, []int64{-1})
			Put(a, subtractOffsets, []float64{1})
		},
	} {
		a := Arrays{}
		change(a)
		if _, err := Offsets(a); err == nil {
			t.Errorf("offsets, %s: no fault", name)
		}
	}
}
