package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// watcher looks at a process and its descendants while they run: a tool may start others, which count too.
type watcher struct {
	root int
	end  chan struct{}
	done chan struct{}
	peak map[int]int64   // the greatest resident set of each process, as the kernel keeps it
	cpu  map[int]float64 // seconds of each
}

// The watcher must not disturb what it watches: known processes are looked at often, others looked for now and then.
// The kernel keeps peaks, so only what a process does after the last look is missed.
const (
	watchEvery  = 50 * time.Millisecond
	searchEvery = 10 // looks
)

func watch(pid int) *watcher {
	w := &watcher{root: pid, end: make(chan struct{}), done: make(chan struct{}), peak: map[int]int64{},
		cpu: map[int]float64{}}
	go func() {
		defer close(w.done)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for looks := 0; ; looks++ {
			if looks%searchEvery == 0 {
				w.search()
			}
			w.look()
			select {
			case <-tick.C:
			case <-w.end:
				return
			}
		}
	}()
	return w
}

// stop returns the sum of the peaks of all processes and of their times. Of the first process the kernel's last word
// counts.
func (w *watcher) stop(state *os.ProcessState) (peak int64, cpu float64) {
	close(w.end)
	<-w.done
	if state != nil {
		w.cpu[w.root] = max(w.cpu[w.root], (state.UserTime() + state.SystemTime()).Seconds())
		w.peak[w.root] = max(w.peak[w.root], peakOf(state))
	}
	for _, pid := range slices.Sorted(maps.Keys(w.cpu)) {
		peak += w.peak[pid]
		cpu += w.cpu[pid]
	}
	return peak, cpu
}

// look notes what the known processes have used.
func (w *watcher) look() {
	for pid := range w.cpu {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			continue // it has ended
		}
		if _, _, seconds, ok := parseStat(string(text)); ok {
			w.cpu[pid] = max(w.cpu[pid], seconds)
			w.peak[pid] = max(w.peak[pid], highWater(pid))
		}
	}
}

// search finds processes in /proc; elsewhere than on Linux there are none.
func (w *watcher) search() {
	parents := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		if pid, parent, _, ok := parseStat(string(text)); ok {
			parents[pid] = parent
		}
	}
	for pid := range parents {
		if _, known := w.cpu[pid]; !known && w.ours(pid, parents) {
			w.cpu[pid] = 0
		}
	}
}

// ours reports whether a process is the first or descends from it. One that was ours stays so when its parent has
// ended.
func (w *watcher) ours(pid int, parents map[int]int) bool {
	for at, steps := pid, 0; at > 1 && steps < 64; at, steps = parents[at], steps+1 {
		if _, known := w.cpu[at]; known || at == w.root {
			return true
		}
	}
	return false
}

// parseStat reads /proc/PID/stat: the name in parentheses may hold anything.
func parseStat(text string) (pid, parent int, seconds float64, ok bool) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return 0, 0, 0, false
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) < 13 {
		return 0, 0, 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(text[:open]))
	parent, err2 := strconv.Atoi(fields[1])
	user, err3 := strconv.ParseFloat(fields[11], 64)
	system, err4 := strconv.ParseFloat(fields[12], 64)
	ok = err == nil && err2 == nil && err3 == nil && err4 == nil
	return pid, parent, (user + system) / 100, ok // USER_HZ
}

// highWater is the greatest resident set of a process so far.
func highWater(pid int) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
