package main

import (
	"fmt"

	"github.com/gram-compute/gram/internal/measure"
)

// figure is how a goal's number is told.
type figure struct {
	format string
	scale  float64
	time   bool // the inverse of the rate that is compared
}

var (
	share      = figure{format: "%.1f %%", scale: 100}
	ratio      = figure{format: "%.2fx", scale: 1}
	speed      = figure{format: "%.2f GFLOP/s", scale: 1}
	perNonzero = figure{format: "%.2f ns", scale: 1, time: true}
)

func (f figure) show(x float64) string {
	if f.time {
		x = 1 / x
	}
	return fmt.Sprintf(f.format, f.scale*x)
}

// asks is a threshold in words.
func (f figure) asks(x float64) string {
	if f.time {
		return "at most " + f.show(x)
	}
	return "at least " + f.show(x)
}

// quartiles are shown the smaller first.
func (f figure) quartiles(s measure.Spread) string {
	if f.time {
		s.Low, s.High = s.High, s.Low
	}
	return f.show(s.Low) + " - " + f.show(s.High)
}
