// Package style is how pages look: the sheet of a report and of the live pages, and how both write times.
package style

import (
	_ "embed"
	"fmt"
	"math"
	"time"
)

// CSS is the sheet: how pages are set, and how pictures are drawn.
var CSS = pages + figures

//go:embed style.css
var pages string

//go:embed figures.css
var figures string

// Clock writes a time since the beginning: 0, 250 ms, 1.5 s, 2 m 05 s, 3 h 12 m.
func Clock(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case seconds <= 0:
		return "0"
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", seconds*1000)
	case d < time.Minute:
		return fmt.Sprintf("%.4g s", seconds)
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(math.Mod(d.Seconds(), 60)))
	default:
		return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(math.Mod(d.Minutes(), 60)))
	}
}
