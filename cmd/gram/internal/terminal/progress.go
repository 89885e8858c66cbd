package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Progress is how far something is.
type Progress struct {
	Name        string
	State       string // one word
	Step        string // what it does now, e.g. "round 2 assign"; empty shows Reason
	Reason      string // why nothing moves
	Done, Total uint64 // leaves, or what Unit says
	Unit        string // of Done and Total; empty for leaves, of which some are leased
	Leased      uint32 // tasks that workers hold
	Since       time.Time
	Until       time.Time // when it ended; zero while it goes on
}

// Printer shows progress: on a terminal one line that is redrawn, elsewhere a line
// at every step, every tenth (but not within a second) and every ten seconds. It is not safe for concurrent use.
type Printer struct {
	W        io.Writer
	Terminal bool
	Columns  func() int
	Now      func() time.Time

	current Progress
	have    bool      // current was set
	drawn   bool      // a line stands on the terminal
	printed Progress  // by the last plain line
	at      time.Time // of the last plain line
}

// Plain lines come at least and at most this often, while only numbers change.
const (
	plainEvery = 10 * time.Second
	plainPause = time.Second
)

// Update takes note of new progress and shows it.
func (p *Printer) Update(progress Progress) {
	p.current, p.have = progress, true
	p.Tick()
}

// Tick shows the present progress again when it is due.
func (p *Printer) Tick() {
	now := p.Now()
	switch {
	case !p.have:
	case p.Terminal:
		// Two columns stay free for the ^C that a terminal echoes.
		fmt.Fprint(p.W, "\r"+Bar(p.current, now, p.Columns()-2)+"\x1b[K")
		p.drawn = true
	case p.due(now):
		fmt.Fprintln(p.W, Line(p.current, now))
		p.printed, p.at = p.current, now
	}
}

func (p *Printer) due(now time.Time) bool {
	a, b, since := p.printed, p.current, now.Sub(p.at)
	return p.at.IsZero() || since >= plainEvery || a.Name != b.Name || a.State != b.State || a.Step != b.Step ||
		tenth(a) != tenth(b) && since >= plainPause
}

func tenth(p Progress) uint64 {
	if p.Total == 0 {
		return 0
	}
	return p.Done * 10 / p.Total
}

// Message prints a line of its own; the bar moves below it.
func (p *Printer) Message(text string) {
	p.Clear()
	fmt.Fprintln(p.W, text)
	if p.Terminal {
		p.Tick()
	}
}

// Clear takes the bar away.
func (p *Printer) Clear() {
	if p.drawn {
		fmt.Fprint(p.W, "\r\x1b[K")
		p.drawn = false
	}
}

// Line is progress as one plain line.
func Line(p Progress, now time.Time) string {
	text := Clean(p.Name) + ": " + Clean(p.what())
	if p.Total > 0 {
		if p.Unit != "" {
			return text + fmt.Sprintf(", %d/%d %s (%d%%), %s", p.Done, p.Total, p.Unit, p.Done*100/p.Total,
				p.elapsed(now))
		}
		text += fmt.Sprintf(", %d/%d leaves (%d%%), %d running", p.Done, p.Total, p.Done*100/p.Total, p.Leased)
	}
	return text + ", " + p.elapsed(now)
}

func (p Progress) elapsed(now time.Time) string {
	if !p.Until.IsZero() {
		now = p.Until
	}
	return Elapsed(now.Sub(p.Since))
}

func (p Progress) what() string {
	text := strings.ToLower(p.State)
	switch {
	case p.Step != "":
		text += " " + p.Step
	case p.Reason != "":
		text += ": " + p.Reason
	}
	return text
}

// Bar is progress in one line of fewer than the given columns.
func Bar(p Progress, now time.Time, columns int) string {
	left := Shorten(Clean(p.Name), max(12, columns/3)) + "  "
	right := "  " + p.elapsed(now)
	if p.Total == 0 {
		return Shorten(left+Clean(p.what()), columns-1-len(right)) + right
	}
	step := p.Step
	if step == "" {
		step = strings.ToLower(p.State)
	}
	left += Clean(step) + " "
	if p.Unit != "" {
		right = fmt.Sprintf(" %d/%d %s", p.Done, p.Total, p.Unit) + right
	} else {
		right = fmt.Sprintf(" %d/%d leaves  %d running", p.Done, p.Total, p.Leased) + right
	}
	room := columns - 1 - TextWidth(left) - len(right) - 2
	if room < 8 {
		return Shorten(left, columns-1-len(right)) + right
	}
	room = min(room, 30)
	full := int(p.Done * uint64(room) / p.Total)
	return left + "[" + strings.Repeat("#", full) + strings.Repeat("-", room-full) + "]" + right
}

// Elapsed writes a duration for people: 0.4s, 12s, 3m05s, 2h07m. Clocks of
// two machines may disagree, so a negative one counts as none.
func Elapsed(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
