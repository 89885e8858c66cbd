package measure

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// ticks are what Linux has counted of all processors since it started, in hundredths of a second.
type ticks struct {
	busy, idle, steal float64 // busy without steal
	known             bool
}

// parseTicks reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq and steal.
func parseTicks(text string) (t ticks) {
	line, _, _ := strings.Cut(text, "\n")
	var v [8]float64
	n, err := fmt.Sscanf(line, "cpu %g %g %g %g %g %g %g %g", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7])
	if err != nil || n < len(v) {
		return ticks{}
	}
	return ticks{busy: v[0] + v[1] + v[2] + v[5] + v[6], idle: v[3] + v[4], steal: v[7], known: true}
}

func readTicks() ticks {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{} // elsewhere than on Linux
	}
	return parseTicks(string(text))
}

// Watch is the state of the machine when something began.
type Watch struct {
	wall  time.Time
	cpu   time.Duration
	ticks ticks
	load  float64
}

// StartWatch begins to watch the machine.
func StartWatch() Watch { return Watch{time.Now(), CPUTime(), readTicks(), readLoad()} }

// Activity is what the machine did while something was measured. What the system does not tell is below 0.
type Activity struct {
	Seconds float64 `json:"seconds"`
	// Others is the share of the processors' time that other processes had, Steal what the hypervisor gave away.
	Others float64 `json:"others"`
	Steal  float64 `json:"steal"`
	Load   float64 `json:"load_before"` // tasks that ran or waited, on average over the minute before
	Cores  int     `json:"cores"`
}

// Activity returns what the machine did since StartWatch.
func (w Watch) Activity() Activity { return w.ActivityBeside(0) }

// ActivityBeside is Activity where other processes belong to what was measured, and had the processors for a time.
func (w Watch) ActivityBeside(ours time.Duration) Activity {
	wall := time.Since(w.wall)
	a := between(w.ticks, readTicks(), CPUTime()-w.cpu+ours)
	a.Seconds, a.Load, a.Cores = wall.Seconds(), w.load, runtime.NumCPU()
	return a
}

// between is the activity from one count to the next, in which this process had the processors for own.
func between(from, to ticks, own time.Duration) Activity {
	a := Activity{Others: -1, Steal: -1}
	busy, steal := to.busy-from.busy, to.steal-from.steal
	all := busy + steal + to.idle - from.idle
	if !from.known || !to.known || all <= 0 {
		return a
	}
	a.Steal = max(0, steal/all)
	a.Others = max(0, (busy-own.Seconds()*ticksPerSecond)/all)
	return a
}

// ticksPerSecond is the unit of /proc/stat, USER_HZ, which is 100 on every platform that Go supports.
const ticksPerSecond = 100

func readLoad() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return -1
	}
	var load float64
	if _, err := fmt.Sscan(string(text), &load); err != nil {
		return -1
	}
	return load
}

// Bounds beyond which figures of a machine are not its own. A tick of a quiet system takes some tenths of a percent.
const (
	mostOthers = 0.05
	mostSteal  = 0.01
	leastShare = 0.97
	mostSpread = 0.10
	mostLoad   = 0.5 // a processor
)

// Warnings says in a sentence each why figures may not be those of a quiet machine. share is the part of the wall
// clock for which the measured thread had a processor. spread is the distance of the quartiles of a figure, as a part
// of its median, and widest names the figure with the greatest.
func (a Activity) Warnings(share, spread float64, widest string) []string {
	var all []string
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if a.Others > mostOthers {
		warn("other processes had %.0f %% of the processors' time", 100*a.Others)
	}
	if a.Steal > mostSteal {
		warn("the hypervisor took %.0f %% of the processors' time (steal)", 100*a.Steal)
	}
	if share < leastShare {
		warn("one thread had a processor for %.0f %% of the time only", 100*share)
	}
	if a.Cores > 0 && a.Load > float64(a.Cores)*mostLoad {
		warn("the load was %.1f before it began, on %d processors", a.Load, a.Cores)
	}
	if spread > mostSpread {
		warn("rounds differ: the quartiles of %q are %.0f %% of its median apart", widest, 100*spread)
	}
	return all
}
