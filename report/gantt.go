package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/report/style"
)

// The picture's measures, in pixels.
const (
	ganttWidth  = 960.0
	ganttLeft   = 132.0
	ganttRight  = 948.0
	ganttTop    = 26.0
	rowHeight   = 11.0 // of a slot
	laneGap     = 7.0  // between workers
	maxRows     = 96   // slots; beyond, each worker has one row
	maxDrawn    = 48   // workers
	leastMark   = 0.75 // width
	roundLabels = 26.0 // the least width for a round's number
)

// colors of works; what failed or expired is red, whatever it was.
var workColors = map[Work]string{
	WorkPlan: "#6b6b6b", WorkMap: "#0072b2", WorkMerge: "#009e73", WorkStep: "#e69f00", WorkReport: "#6b6b6b",
	WorkSeveral: "#56b4e9",
}

const troubleColor = "#d55e00"

// lane is where a worker's rows are.
type lane struct {
	worker, slots int
	top           float64
}

// Gantt is the SVG of a timeline, which any of our pages takes: a lane for each worker. Its texts are escaped, and it
// has no style of its own: the sheet of package style has all that it needs.
func Gantt(t *Timeline) template.HTML { return template.HTML(gantt(t)) }

// gantt draws a lane for each worker, with a row for each of its slots.
func gantt(t *Timeline) []byte {
	lanes, hidden, single := lanesOf(t)
	bottom := ganttTop
	for i := range lanes {
		lanes[i].top = bottom
		bottom += float64(lanes[i].slots)*rowHeight + laneGap
	}
	x := axis{0, ganttEnd(t), ganttLeft, ganttRight}
	s := ganttSVG(t, bottom+58)
	drawRounds(s, t, x, bottom)
	for _, v := range x.ticks() {
		s.line(x.at(v), ganttTop, x.at(v), bottom, "grid")
		s.text(x.at(v), bottom+18, "middle", "faint", style.Clock(v))
	}
	drawUnseen(s, t, x, bottom)
	at := make([]int, len(t.Workers)) // of each worker, its lane
	for i := range at {
		at[i] = -1
	}
	for i, l := range lanes {
		at[l.worker] = i
		s.text(ganttLeft-10, l.top+float64(l.slots)*rowHeight/2+4, "end", "ink", laneName(t, l.worker))
	}
	for _, m := range t.Marks {
		if i := at[m.Worker]; i >= 0 {
			drawMark(s, t, m, x, lanes[i], single)
		}
	}
	drawEvents(s, t, x, bottom)
	s.line(ganttLeft, bottom, ganttRight, bottom, "axis")
	ganttLegend(s, t, bottom+44)
	if hidden > 0 {
		s.text(ganttRight, bottom+44, "end", "faint", hiddenText(hidden))
	}
	return s.end()
}

// ganttSVG opens the picture. Its widths are in the sheet: no text becomes too small to read, so that it is scrolled on
// a phone.
func ganttSVG(t *Timeline, height float64) *svg {
	s := &svg{width: ganttWidth, height: height}
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" class="gantt" role="img" aria-label="%s">`+
		"\n", px(ganttWidth), px(height), escape(ganttLabel(t)))
	return s
}

func ganttLabel(t *Timeline) string {
	return fmt.Sprintf("Timeline of %s over %s", protocol.Counted(len(t.Workers), "worker"), style.Clock(ganttEnd(t)))
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

// drawRounds shades every other round and numbers them where there is room.
func drawRounds(s *svg, t *Timeline, x axis, bottom float64) {
	for i, r := range t.Rounds {
		from, to := x.at(r.From), x.at(r.To)
		if i%2 == 0 {
			fmt.Fprintf(s, `<rect x="%s" y="%s" width="%s" height="%s" class="band"/>`+"\n", px(from), px(ganttTop),
				px(to-from), px(bottom-ganttTop))
		}
		if to-from >= roundLabels {
			s.text((from+to)/2, ganttTop-9, "middle", "faint small", fmt.Sprint(r.Round))
		}
	}
	if len(t.Rounds) > 0 {
		s.text(ganttLeft-10, ganttTop-9, "end", "faint small", "round")
	}
}

// drawUnseen hatches the time that another coordinator saw.
func drawUnseen(s *svg, t *Timeline, x axis, bottom float64) {
	if t.Since <= 0 {
		return
	}
	fmt.Fprintf(s, `<defs><pattern id="unseen" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="6" class="grid"/></pattern></defs>`+"\n")
	fmt.Fprintf(s, `<rect x="%s" y="%s" width="%s" height="%s" fill="url(#unseen)"><title>seen by another coordinator</title></rect>`+"\n",
		px(x.at(0)), px(ganttTop), px(x.at(t.Since)-x.at(0)), px(bottom-ganttTop))
}

func drawMark(s *svg, t *Timeline, m Mark, x axis, l lane, single bool) {
	row := float64(min(m.Slot, l.slots-1))
	from, width := x.at(m.From), x.at(m.To)-x.at(m.From)
	color, opacity := workColors[m.Work], ""
	switch {
	case m.Outcome == Failed || m.Outcome == Expired:
		color = troubleColor
	case m.Outcome == InVain:
		opacity = ` fill-opacity=".45"`
	case single:
		opacity = ` fill-opacity=".6"` // rows lie on one another
	}
	class := ""
	if m.Speculative {
		class = ` class="speculative"`
	}
	if width > 3 {
		width -= 0.5 // a hair between neighbors
	}
	fmt.Fprintf(s, `<rect x="%s" y="%s" width="%s" height="%s" rx="1" fill="%s"%s%s><title>%s</title></rect>`+"\n",
		px(from), px(l.top+row*rowHeight+1), px(max(leastMark, width)), px(rowHeight-2), color, opacity, class,
		escape(t.text(m)))
}

// drawEvents puts a tick below the lanes for each event.
func drawEvents(s *svg, t *Timeline, x axis, bottom float64) {
	for _, e := range t.Events {
		at := x.at(min(e.At, x.high))
		fmt.Fprintf(s, `<path d="M%s %s l3.5 7 h-7 z" fill="%s"><title>%s</title></path>`+"\n", px(at),
			px(bottom-laneGap+1), troubleColor, escape(eventText(e)))
	}
}

func eventText(e Event) string {
	return strings.Join(slices.DeleteFunc([]string{style.Clock(e.At), e.What, e.Worker, e.Task},
		func(s string) bool { return s == "" }), ", ")
}

// ganttLegend names the colors that there are.
func ganttLegend(s *svg, t *Timeline, y float64) {
	x := ganttLeft
	entry := func(mark, name string) {
		fmt.Fprintf(s, mark+"\n", px(x), px(y-9))
		s.text(x+17, y, "start", "faint", name)
		x += 38 + 6.4*float64(len(name))
	}
	box := func(fill, more string) string {
		return `<rect x="%s" y="%s" width="11" height="9" rx="1" fill="` + fill + `"` + more + `/>`
	}
	has := func(which func(Mark) bool) bool { return slices.ContainsFunc(t.Marks, which) }
	for work := WorkPlan; work <= WorkSeveral; work++ {
		if has(func(m Mark) bool { return m.Work == work && m.Outcome <= Committed }) {
			entry(box(workColors[work], ""), Works[work])
		}
	}
	if has(func(m Mark) bool { return m.Speculative }) {
		entry(box("#0072b2", ` class="speculative"`), "speculative copy")
	}
	if has(func(m Mark) bool { return m.Outcome == InVain }) {
		entry(box("#0072b2", ` fill-opacity=".45"`), "in vain")
	}
	if has(func(m Mark) bool { return m.Outcome == Failed || m.Outcome == Expired }) {
		entry(box(troubleColor, ""), "failed or expired")
	}
	if len(t.Events) > 0 {
		entry(`<path transform="translate(%s %s)" d="M5.5 0 l4.5 9 h-9 z" fill="`+troubleColor+`"/>`, "event")
	}
}
