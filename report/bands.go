package report

import (
	"fmt"
	"math"
)

// numberWidth is about what the number of a round takes.
func numberWidth(round uint32) float64 { return 8 + 6.2*float64(len(fmt.Sprint(round))) }

// roundsPerBand is how many rounds share a band, so that on average its number has room: 1, 2 or 5 times a power of
// ten.
func roundsPerBand(t *Timeline) int {
	if len(t.Rounds) == 0 {
		return 1
	}
	x := axis{0, ganttEnd(t), ganttLeft, ganttRight}
	first, last := t.Rounds[0], t.Rounds[len(t.Rounds)-1]
	width := (x.at(last.To) - x.at(first.From)) / float64(len(t.Rounds))
	for i := 0; i < 60; i++ {
		n := []int{1, 2, 5}[i%3] * int(math.Pow10(i/3))
		if float64(n)*width >= 1.1*numberWidth(last.Round) || n >= len(t.Rounds) {
			return n
		}
	}
	return len(t.Rounds)
}

// bandsOf joins rounds to bands.
func bandsOf(rounds []Span, per int) (bands []Span) {
	number := func(r Span) uint32 { return max(r.Round, 1) - 1 }
	for i, r := range rounds {
		if i == 0 || number(r)/uint32(per) != number(rounds[i-1])/uint32(per) {
			bands = append(bands, r)
			continue
		}
		bands[len(bands)-1].To = r.To
	}
	return bands
}

// drawRounds shades every other band of rounds and numbers bands where there is room.
func (c *chart) drawRounds() {
	for i, r := range bandsOf(c.t.Rounds, roundsPerBand(c.t)) {
		from, to := c.x.at(r.From), c.x.at(r.To)
		if i%2 == 0 {
			fmt.Fprintf(c, `<rect x="%s" y="%s" width="%s" height="%s" class="band"/>`+"\n", px(from), px(ganttTop),
				px(to-from), px(c.bottom-ganttTop))
		}
		if to-from >= numberWidth(r.Round) {
			c.text((from+to)/2, ganttTop-9, "middle", "faint small", fmt.Sprint(r.Round))
		}
	}
	if len(c.t.Rounds) > 0 {
		c.text(ganttLeft-10, ganttTop-9, "end", "faint small", "round")
	}
}

// clockSteps are distances of ticks that people count by, in seconds.
var clockSteps = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400}

// clockTicks are times from 0 to the end at even distances, at most nine.
func clockTicks(end float64) (ticks []float64) {
	const most = 8
	step := 0.0
	switch days := end / 86400; {
	case end < 1*most/2:
		return axis{low: 0, high: end}.ticks()
	case days > most:
		step = 86400 * math.Ceil(days/most)
	default:
		for _, step = range clockSteps {
			if end/step <= most {
				break
			}
		}
	}
	for n := 0.0; n*step <= end; n++ {
		ticks = append(ticks, n*step)
	}
	return ticks
}
