package report

import (
	"fmt"

	"github.com/gram-compute/gram/report/style"
)

// Forecast is when a round would end, as forecast when a quarter of its leaves were committed: with probability 0.5 by
// P50, with 0.9 by P90. Times are seconds since the job's submission.
type Forecast struct {
	Round uint32  `json:"round"`
	At    float64 `json:"at"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	Ended float64 `json:"ended"` // when it did end
}

// ForecastText compares what was forecast with what came; it is empty where nothing was forecast. A round that is over
// in 0.2 seconds is not forecast, nor is the first of all before a task has ended.
func (t *Timeline) ForecastText() string {
	if t == nil || len(t.Forecasts) == 0 {
		return ""
	}
	half, most := 0, 0
	for _, f := range t.Forecasts {
		if f.Ended <= f.P50 {
			half++
		}
		if f.Ended <= f.P90 {
			most++
		}
	}
	last := t.Forecasts[len(t.Forecasts)-1]
	text := fmt.Sprintf("round %d, when a quarter was done: %s (p50) or %s (p90) more; it took %s", last.Round,
		style.Clock(last.P50-last.At), style.Clock(last.P90-last.At), style.Clock(last.Ended-last.At))
	if n := len(t.Forecasts); n > 1 {
		text = fmt.Sprintf("of %d rounds, %d ended by their p50 and %d by their p90; %s", n, half, most, text)
	}
	return text
}
