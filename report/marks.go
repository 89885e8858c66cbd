package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/report/style"
)

// Measures of what stands beside the marks, in pixels.
const (
	leastMark  = 0.75 // width
	eventWidth = 6.0  // events nearer to each other are drawn as one
)

// colors of works; what failed or expired is red, whatever it was.
var workColors = map[Work]string{
	WorkPlan: "#6b6b6b", WorkMap: "#0072b2", WorkMerge: "#009e73", WorkStep: "#e69f00", WorkReport: "#6b6b6b",
	WorkSeveral: "#56b4e9",
}

const troubleColor = "#d55e00"

func (m Mark) trouble() bool { return m.Outcome == Failed || m.Outcome == Expired }

func (c *chart) drawMark(m Mark, l lane) {
	row := float64(min(m.Slot, l.slots-1))
	from, width := c.x.at(m.From), c.x.at(m.To)-c.x.at(m.From)
	color, opacity := workColors[m.Work], ""
	switch {
	case m.trouble():
		color = troubleColor
	case m.Outcome == InVain:
		opacity = ` fill-opacity=".45"`
	case c.single:
		opacity = ` fill-opacity=".6"` // rows lie on one another
	}
	class := ""
	if m.Speculative {
		class = ` class="speculative"`
	}
	if width > 3 {
		width -= 0.5 // a hair between neighbors
	}
	fmt.Fprintf(c, `<rect x="%s" y="%s" width="%s" height="%s" rx="1" fill="%s"%s%s><title>%s</title></rect>`+"\n",
		px(from), px(l.top+row*rowHeight+1), px(max(leastMark, width)), px(rowHeight-2), color, opacity, class,
		escape(c.t.text(m)))
}

// drawUnseen hatches the time that another coordinator saw.
func (c *chart) drawUnseen() {
	if c.t.Since <= 0 {
		return
	}
	c.WriteString(`<defs><pattern id="unseen" width="6" height="6" patternUnits="userSpaceOnUse" ` +
		`patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="6" class="grid"/></pattern></defs>` + "\n")
	fmt.Fprintf(c, `<rect x="%s" y="%s" width="%s" height="%s" fill="url(#unseen)"><title>seen by another coordinator`+
		`</title></rect>`+"\n", px(c.x.at(0)), px(ganttTop), px(c.x.at(min(c.t.Since, c.x.high))-c.x.at(0)),
		px(c.bottom-ganttTop))
}

// drawEvents puts a sign below the lanes for each event, or for several that are near each other.
func (c *chart) drawEvents() {
	events := slices.Clone(c.t.Events)
	slices.SortStableFunc(events, func(a, b Event) int { // total order: equal ones keep that of the list
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	for len(events) > 0 {
		at, n := c.x.at(min(events[0].At, c.x.high)), 1
		for n < len(events) && c.x.at(min(events[n].At, c.x.high))-at < eventWidth {
			n++
		}
		fmt.Fprintf(c, `<path d="M%s %s l3.5 7 h-7 z" fill="%s"><title>%s</title></path>`+"\n", px(at),
			px(c.bottom-laneGap+1), troubleColor, escape(eventsText(events[:n])))
		events = events[n:]
	}
}

// eventsText names events that are drawn as one: the first of them.
func eventsText(events []Event) string {
	const most = 5
	var lines []string
	for _, e := range events[:min(len(events), most)] {
		lines = append(lines, eventText(e))
	}
	if more := len(events) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "; ")
}

func eventText(e Event) string {
	return strings.Join(slices.DeleteFunc([]string{style.Clock(e.At), e.What, e.Worker, e.Task},
		func(s string) bool { return s == "" }), ", ")
}

// legendEntry is a sign and what it means.
type legendEntry struct {
	sign, name string
	x          float64
	row        int
}

// legendOf names the colors that there are, in rows.
func legendOf(t *Timeline, loads bool) (list []legendEntry, rows int) {
	x, row := ganttLeft, 0
	entry := func(sign, name string) {
		width := 38 + 6.4*float64(len(name))
		if x+width > ganttRight+20 {
			x, row = ganttLeft, row+1
		}
		list = append(list, legendEntry{sign, name, x, row})
		x += width
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
	if !loads && has(func(m Mark) bool { return m.Speculative }) {
		entry(box("#0072b2", ` class="speculative"`), "speculative copy")
	}
	if has(func(m Mark) bool { return m.Outcome == InVain }) {
		entry(box(inVainColor(loads), inVainOpacity(loads)), "in vain")
	}
	if has(Mark.trouble) {
		entry(box(troubleColor, ""), "failed or expired")
	}
	if len(t.Events) > 0 {
		entry(`<path transform="translate(%s %s)" d="M5.5 0 l4.5 9 h-9 z" fill="`+troubleColor+`"/>`, "event")
	}
	return list, row + 1
}

// inVainColor is that of work in vain: the color of maps, made pale, or where colors lie on one another one of its own.
func inVainColor(loads bool) string {
	if loads {
		return "#cc79a7"
	}
	return workColors[WorkMap]
}

func inVainOpacity(loads bool) string {
	if loads {
		return ""
	}
	return ` fill-opacity=".45"`
}

func (c *chart) drawLegend(list []legendEntry, y float64) {
	for _, e := range list {
		at := y + float64(e.row)*legendRow
		fmt.Fprintf(c, e.sign+"\n", px(e.x), px(at-9))
		c.text(e.x+17, at, "start", "faint", e.name)
	}
}
