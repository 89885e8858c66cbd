package report

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/report/style"
)

// Measures of a picture that shows how busy workers were.
const (
	mostColumns  = 204  // of time: four pixels each
	mostCells    = 2000 // columns times lanes
	leastTrouble = 2.0  // pixels: what failed is seen, however short it was
	leastLoad    = 0.4  // pixels: less is not drawn
)

// The parts of a column from its foot up: works in the order of their numbers, then these.
const (
	partInVain = int(WorkSeveral) + 1 + iota
	partTrouble
	parts
)

func partOf(m Mark) int {
	switch {
	case m.Work < WorkPlan || m.Work > WorkSeveral: // of a newer release
		return int(WorkSeveral)
	case m.trouble():
		return partTrouble
	case m.Outcome == InVain:
		return partInVain
	}
	return int(m.Work)
}

func partColor(part int) string {
	switch part {
	case partInVain:
		return inVainColor(true)
	case partTrouble:
		return troubleColor
	}
	return workColors[Work(part)]
}

// loadHeight is that of a lane of the given number.
func loadHeight(lanes int) float64 {
	switch {
	case lanes <= 4:
		return 44
	case lanes <= 12:
		return 28
	}
	return 16
}

// columnsOf is into how many columns the time of a picture with a number of lanes is divided.
func columnsOf(lanes int) int { return max(48, min(mostColumns, mostCells/max(1, lanes))) }

// load is how busy a worker was: of each part and column, the share of its slots at work.
type load struct {
	share   [parts][]float64
	seconds [parts]float64
	tasks   int
	slots   int
}

// loadsOf divides the marks of the lanes among columns of equal time. A slot that is at work all the time of a column
// counts for one slot's share.
func (c *chart) loadsOf(columns int) []load {
	loads := make([]load, len(c.lanes))
	for i, l := range c.lanes {
		loads[i].slots = max(l.slots, c.t.Workers[l.worker].Slots, 1)
		for part := range parts {
			loads[i].share[part] = make([]float64, columns)
		}
	}
	if c.single { // the lanes have lost how many slots there are
		for _, m := range c.t.Marks {
			if i := c.of[m.Worker]; i >= 0 {
				loads[i].slots = max(loads[i].slots, m.Slot+1)
			}
		}
	}
	width := c.x.high / float64(columns)
	for _, m := range c.t.Marks {
		i := c.of[m.Worker]
		if i < 0 {
			continue
		}
		l, part := &loads[i], partOf(m)
		l.tasks, l.seconds[part] = l.tasks+m.Tasks, l.seconds[part]+m.To-m.From
		for b := max(0, min(int(m.From/width), columns-1)); b < columns && float64(b)*width < m.To; b++ {
			overlap := min(m.To, float64(b+1)*width) - max(m.From, float64(b)*width)
			l.share[part][b] += max(0, overlap) / (width * float64(l.slots))
		}
	}
	return loads
}

// drawLoads draws the columns of each lane.
func (c *chart) drawLoads() {
	columns := columnsOf(len(c.lanes))
	for i, l := range c.loadsOf(columns) {
		lane := c.lanes[i]
		fmt.Fprintf(c, "<g><title>%s</title>\n", escape(c.loadText(l, lane.worker)))
		fmt.Fprintf(c, `<rect x="%s" y="%s" width="%s" height="%s" fill-opacity="0"/>`+"\n", px(ganttLeft),
			px(lane.top), px(ganttRight-ganttLeft), px(lane.height))
		c.line(ganttLeft, lane.top+lane.height, ganttRight, lane.top+lane.height, "grid")
		foot := make([]float64, columns) // where the next part of a column begins, in pixels above the lane's foot
		for part := range parts {
			if d := c.barsOf(l.share[part], foot, lane, part == partTrouble); d != "" {
				fmt.Fprintf(c, `<path d="%s" fill="%s"/>`+"\n", d, partColor(part))
			}
		}
		c.WriteString("</g>\n")
	}
}

// barsOf is the path of a part in all columns of a lane, upon what is there. Neighbors that are alike are one bar.
func (c *chart) barsOf(share, foot []float64, l lane, seen bool) string {
	var d strings.Builder
	step := (ganttRight - ganttLeft) / float64(len(share))
	run, at, height := 0, 0.0, 0.0
	flush := func(end int) {
		if run > 0 {
			fmt.Fprintf(&d, "M%s %sh%sv-%sh-%sz", px(ganttLeft+float64(end-run)*step), px(l.top+l.height-at),
				px(float64(run)*step), px(height), px(float64(run)*step))
		}
		run = 0
	}
	for b, s := range share {
		h := s * l.height
		if seen && s > 0 {
			h = max(h, leastTrouble)
		}
		if h < leastLoad {
			flush(b)
			continue
		}
		h = min(h, l.height)
		from := min(foot[b], l.height-h)
		foot[b] = from + h
		if run == 0 || px(from) != px(at) || px(h) != px(height) {
			flush(b)
			at, height = from, h
		}
		run++
	}
	flush(len(share))
	return d.String()
}

// loadText says how busy a worker was, for a pointer that rests on its lane.
func (c *chart) loadText(l load, worker int) string {
	names := append(append([]string{}, Works...), "in vain", "failed or expired")
	total, list := 0.0, []string{}
	for part, seconds := range l.seconds {
		if total += seconds; seconds > 0 {
			list = append(list, fmt.Sprintf("%s %s", names[part], style.Clock(seconds)))
		}
	}
	return fmt.Sprintf("%s: %d tasks, its slots busy %.0f %% of the time: %s", c.t.Workers[worker].Name, l.tasks,
		100*total/(c.x.high*float64(l.slots)), strings.Join(list, ", "))
}

// Caption says how to read the picture, and what it does not show.
func (t *Timeline) Caption() string {
	c := layOut(t)
	var list []string
	if c.loads {
		list = append(list, fmt.Sprintf("How busy each worker was since %s. There are more than %d marks or %d rounds, "+
			"so a column covers %s: its height is the share of the worker's slots at work.",
			readable(t.Begins), maxDetailed, maxDetailedRounds,
			style.Clock(c.x.high/float64(columnsOf(len(c.lanes))))))
	} else {
		list = append(list, fmt.Sprintf("Who was at work on what since %s: a row for each task a worker takes at a time.",
			readable(t.Begins)))
	}
	if n := roundsPerBand(t); n > 1 {
		list = append(list, fmt.Sprintf("A band is %d rounds, numbered by its first.", n))
	}
	if len(t.Rounds) > 0 && t.Rounds[0].Round > 1 {
		list = append(list, fmt.Sprintf("Rounds before %d are not told apart.", t.Rounds[0].Round))
	}
	if t.Since > 0 {
		list = append(list, fmt.Sprintf("What was before %s, another coordinator saw.", style.Clock(t.Since)))
	}
	if t.Grain > 0 {
		list = append(list, fmt.Sprintf("Tasks in a row with pauses below %s are one mark.", style.Clock(t.Grain)))
	}
	if t.MarksLost > 0 {
		are := "marks are"
		if t.MarksLost == 1 {
			are = "mark is"
		}
		list = append(list, fmt.Sprintf("%d more %s not shown.", t.MarksLost, are))
	}
	return strings.Join(list, " ")
}
