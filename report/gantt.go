package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/report/style"
)

// The picture's measures, in pixels.
const (
	ganttWidth = 960.0
	ganttLeft  = 132.0
	ganttRight = 948.0
	ganttTop   = 26.0
	rowHeight  = 11.0 // of a slot
	laneGap    = 7.0  // between workers
)

// Bounds of what is drawn.
const (
	maxRows  = 96 // slots; beyond, each worker has one row
	maxDrawn = 48 // workers

	// Beyond these numbers of marks and rounds, the picture shows how busy workers were: see load.go.
	maxDetailed, maxDetailedRounds = 300, 60
)

// lane is where a worker's rows are.
type lane struct {
	worker, slots int
	top, height   float64
}

// chart is a timeline as it is drawn.
type chart struct {
	*svg
	t      *Timeline
	x      axis
	bottom float64 // of the lanes
	lanes  []lane
	of     []int // of each worker, its lane; -1 is not drawn
	hidden int   // workers that are not drawn
	loads  bool  // columns show how busy workers were, in place of marks
	single bool  // a worker has one row for all its slots
}

// Gantt is the SVG of a timeline, which any of our pages takes: a lane for each worker. Its texts are escaped, and it
// has no style of its own: the sheet of package style has all that it needs. The timeline's Caption says how to read
// it.
func Gantt(t *Timeline) template.HTML { return template.HTML(gantt(t)) }

// gantt draws a lane for each worker: with a row for each of its slots and a mark for each task or, where there are
// too many, with columns of time that show how busy it was.
func gantt(t *Timeline) []byte {
	c := layOut(t)
	legend, rows := legendOf(t, c.loads)
	height := c.bottom + 26 + float64(rows)*legendRow
	if c.hidden > 0 {
		height += legendRow
	}
	c.open(height)
	c.drawRounds()
	for _, v := range clockTicks(c.x.high) {
		c.line(c.x.at(v), ganttTop, c.x.at(v), c.bottom, "grid")
		c.text(c.x.at(v), c.bottom+18, "middle", "faint", style.Clock(v))
	}
	c.drawUnseen()
	for _, l := range c.lanes {
		c.text(ganttLeft-10, l.top+l.height/2+4, "end", "ink", laneName(t, l.worker))
	}
	if c.loads {
		c.drawLoads()
	} else {
		for _, m := range t.Marks {
			if i := c.of[m.Worker]; i >= 0 {
				c.drawMark(m, c.lanes[i])
			}
		}
	}
	c.drawEvents()
	c.line(ganttLeft, c.bottom, ganttRight, c.bottom, "axis")
	c.drawLegend(legend, c.bottom+44)
	if c.hidden > 0 {
		c.text(ganttLeft, height-8, "start", "faint", hiddenText(c.hidden))
	}
	return c.end()
}

// layOut gives lanes to the workers.
func layOut(t *Timeline) *chart {
	c := &chart{svg: &svg{}, t: t, x: axis{0, ganttEnd(t), ganttLeft, ganttRight}, bottom: ganttTop,
		of: make([]int, len(t.Workers))}
	c.lanes, c.hidden, c.single = lanesOf(t)
	for i := range c.of {
		c.of[i] = -1
	}
	for i, l := range c.lanes {
		c.of[l.worker] = i
	}
	c.loads = t.detailed(c.of) > maxDetailed || len(t.Rounds) > maxDetailedRounds
	for i := range c.lanes {
		l := &c.lanes[i]
		l.top, l.height = c.bottom, float64(l.slots)*rowHeight
		if c.loads {
			l.height = loadHeight(len(c.lanes))
		}
		c.bottom += l.height + laneGap
	}
	return c
}

// detailed counts the marks of the workers that are drawn.
func (t *Timeline) detailed(lanes []int) (marks int) {
	for _, m := range t.Marks {
		if lanes[m.Worker] >= 0 {
			marks++
		}
	}
	return marks
}

// open begins the picture. Its widths are in the sheet: no text becomes too small to read, so that it is scrolled on a
// phone.
func (c *chart) open(height float64) {
	c.width, c.height = ganttWidth, height
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" class="gantt" role="img" aria-label="%s">`+
		"\n", px(ganttWidth), px(height), escape(fmt.Sprintf("Timeline of %s over %s",
		protocol.Counted(len(c.t.Workers), "worker"), style.Clock(c.x.high))))
}

func hiddenText(workers int) string {
	if workers == 1 {
		return "1 worker with less to do is not drawn"
	}
	return fmt.Sprintf("%d workers with less to do are not drawn", workers)
}

// lanesOf are the workers that are drawn: those most at work, in order of their appearance. single
// means that there are too many slots for a row each: a worker has one row.
func lanesOf(t *Timeline) (lanes []lane, hidden int, single bool) {
	slots, work := make([]int, len(t.Workers)), make([]float64, len(t.Workers))
	for _, m := range t.Marks {
		slots[m.Worker] = max(slots[m.Worker], m.Slot+1)
		work[m.Worker] += m.To - m.From
	}
	rows := 0
	for w := range t.Workers {
		if slots[w] > 0 {
			lanes = append(lanes, lane{worker: w, slots: slots[w]})
			rows += slots[w]
		}
	}
	// total order: workers differ
	slices.SortFunc(lanes, func(a, b lane) int {
		return cmp.Or(cmp.Compare(work[b.worker], work[a.worker]), cmp.Compare(a.worker, b.worker))
	})
	hidden = max(0, len(lanes)-maxDrawn)
	lanes = lanes[:len(lanes)-hidden]
	// total order: workers differ
	slices.SortFunc(lanes, func(a, b lane) int { return cmp.Compare(a.worker, b.worker) })
	if single = rows > maxRows; single {
		for i := range lanes {
			lanes[i].slots = 1
		}
	}
	return lanes, hidden, single
}

func ganttEnd(t *Timeline) float64 {
	end := 0.001
	for _, m := range t.Marks {
		end = max(end, m.To)
	}
	for _, r := range t.Rounds {
		end = max(end, r.To)
	}
	for _, e := range t.Events {
		end = max(end, e.At)
	}
	return end
}

// laneName tells workers of one name apart.
func laneName(t *Timeline, worker int) string {
	same, before := 0, 0
	for i, w := range t.Workers {
		if w.Name == t.Workers[worker].Name {
			same++
			if i <= worker {
				before++
			}
		}
	}
	if same > 1 {
		return fmt.Sprintf("%s #%d", shorten(t.Workers[worker].Name, 12), before)
	}
	return shorten(t.Workers[worker].Name, 16)
}
