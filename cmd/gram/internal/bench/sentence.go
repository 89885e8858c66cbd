package bench

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/protocol"
)

// Finish adds what follows from the figures: how busy the machine was, and the sentence.
func (r *Result) Finish(activity measure.Activity, share float64) {
	r.Busy = Busy{Activity: activity, Share: share}
	for _, row := range r.Rows {
		if s := row.OneCore; s.Median > 0 && (s.High-s.Low)/s.Median > r.Busy.Spread {
			r.Busy.Spread, r.Busy.Widest = (s.High-s.Low)/s.Median, row.Title
		}
	}
	r.Busy.Warnings = activity.Warnings(share, r.Busy.Spread, r.Busy.Widest)
	r.Sentence = r.sentence()
}

// sentence says what this machine does.
func (r *Result) sentence() string {
	does := []string{}
	if product, ok := r.row("products"); ok {
		text := fmt.Sprintf("multiplies matrices at %s GFLOP/s a core", measure.Digits(product.OneCore.Median))
		if product.Share != nil {
			text += fmt.Sprintf(", %.0f %% of its multiply-adds", 100**product.Share)
		}
		does = append(does, text)
	}
	if memory, ok := r.row(read); ok {
		does = append(does, fmt.Sprintf("reads %s GB/s from memory", measure.Digits(memory.OneCore.Median)))
	}
	total := 0.0
	for _, j := range r.Jobs {
		total += j.Seconds.Median
	}
	if total > 0 {
		does = append(does, fmt.Sprintf("trains %s in %s s", protocol.Counted(len(r.Jobs), "small model"),
			measure.Digits(total)))
	}
	if n := len(does); n > 1 {
		does[n-1] = "and " + does[n-1]
	}
	return fmt.Sprintf("%s with %s runs the %s kernels: it %s.", r.Machine.CPU,
		protocol.Counted(r.Machine.Cores, "core"), r.Kernels, strings.Join(does, ", "))
}

func (r *Result) row(id string) (Row, bool) {
	for _, row := range r.Rows {
		if row.ID == id {
			return row, true
		}
	}
	return Row{}, false
}
