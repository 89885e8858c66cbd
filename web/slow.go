package web

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/report"
)

// slow is where the time of the workers goes, as far as the leader's timeline tells. What a task does inside, such as
// reading or computing, no timeline has.
type slow struct {
	Parts   []part
	Bound   string     // what the job is bound by; "" where that is not clear
	Running []slowTask // at work, the longest first
	Ended   []slowTask // that took longest
	Grain   float64    // seconds: shorter pauses between tasks count as work
}

// part is a share of the time of the workers' slots since each began at the job.
type part struct {
	Name    string
	Seconds float64
	Percent float64
}

// slowTask is a task that takes, or took, long.
type slowTask struct {
	What, Worker string
	Seconds      float64
}

// mostSlow is how many slow tasks are named.
const mostSlow = 3

// The parts of the workers' time, in their order.
const (
	partLeaves = iota
	partMerges
	partSteps
	partOther
	partVain
	partIdle
)

var partNames = []string{"leaves", "merges", "steps", "plan, report and joined tasks",
	"in vain, failed or expired", "not at this job"}

// Slow is where the time goes; nil while nothing is known.
func (k *shown) Slow() *slow {
	t := k.timeline()
	if t == nil || len(t.Marks) == 0 {
		return nil
	}
	running := len(k.Course.GetRunning())
	return slowOf(t, running, k.Job.GetProgress().GetLeaves())
}

// slowOf reads a timeline whose last marks, running in number, are of tasks at work.
func slowOf(t *report.Timeline, running int, leaves uint64) *slow {
	end := 0.0
	for _, m := range t.Marks {
		end = max(end, m.To)
	}
	busy, slots, capacity := make([]float64, len(partNames)), 0, 0.0
	first, widest := make(map[int]float64), make(map[int]int)
	for _, m := range t.Marks {
		busy[partOf(m)] += m.To - m.From
		if at, seen := first[m.Worker]; !seen || m.From < at {
			first[m.Worker] = m.From
		}
		if widest[m.Worker] = max(widest[m.Worker], m.Slot+1); t.Workers[m.Worker].Slots > 0 {
			widest[m.Worker] = t.Workers[m.Worker].Slots // a lease that waits to be reported holds no slot
		}
	}
	for w := range t.Workers {
		slots += widest[w]
		capacity += float64(widest[w]) * (end - first[w])
	}
	s, atWork := &slow{Grain: t.Grain}, 0.0
	for _, seconds := range busy[:partIdle] {
		atWork += seconds
	}
	capacity = max(capacity, atWork)
	busy[partIdle] = capacity - atWork
	for i, seconds := range busy {
		if seconds > 0 && capacity > 0 {
			s.Parts = append(s.Parts, part{partNames[i], seconds, 100 * seconds / capacity})
		}
	}
	s.Bound = boundBy(busy, capacity, end, slots, leaves)
	ended := t.Marks[:len(t.Marks)-running]
	s.Running, s.Ended = slowest(t, t.Marks[len(ended):]), slowest(t, ended)
	return s
}

// partOf is the part of the time that a mark is of.
func partOf(m report.Mark) int {
	switch {
	case m.Outcome > report.Committed:
		return partVain
	case m.Work == report.WorkMap:
		return partLeaves
	case m.Work == report.WorkMerge:
		return partMerges
	case m.Work == report.WorkStep:
		return partSteps
	}
	return partOther
}

// boundBy says what takes most of the time, where that is beyond doubt.
func boundBy(busy []float64, capacity, elapsed float64, slots int, leaves uint64) string {
	if capacity <= 0 || elapsed <= 0 {
		return ""
	}
	idle := busy[partIdle] / capacity
	switch steps := busy[partSteps] / elapsed; {
	case busy[partVain] > capacity/4:
		return fmt.Sprintf("%.0f %% of the workers' time went into tasks that failed, expired or came second.",
			100*busy[partVain]/capacity)
	case steps > 0.3 && idle > 0.3:
		return fmt.Sprintf("Steps took %.0f %% of the time: one worker makes a step while the others wait for the "+
			"next round.", 100*steps)
	case idle > 0.5 && leaves > 0 && leaves < uint64(slots):
		return fmt.Sprintf("The round has %s for %s: some workers have nothing to do.",
			plural(leaves, "leaf", "leaves"), plural(slots, "slot", "slots"))
	case busy[partLeaves] > 0.7*capacity:
		return fmt.Sprintf("Leaves take %.0f %% of the workers' time: it is bound by what they read and compute. More "+
			"workers share it.", 100*busy[partLeaves]/capacity)
	}
	return ""
}

func plural[N ~int | ~uint64](n N, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + more
}

// slowest are the marks of single tasks that took longest.
func slowest(t *report.Timeline, marks []report.Mark) (list []slowTask) {
	single := slices.DeleteFunc(slices.Clone(marks), func(m report.Mark) bool { return m.Tasks != 1 })
	slices.SortStableFunc(single, func(a, b report.Mark) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	for _, m := range single[:min(len(single), mostSlow)] {
		list = append(list,
			slowTask{What: markName(m), Worker: t.Workers[m.Worker].Name, Seconds: m.To - m.From})
	}
	return list
}

// markName is what a single task is, in words.
func markName(m report.Mark) string {
	name := "a task"
	if int(m.Work) < len(report.Works) {
		name = report.Works[m.Work]
	}
	if m.Work == report.WorkMap {
		name = "leaves"
	}
	if m.Round > 0 && m.Work != report.WorkPlan {
		name = fmt.Sprintf("%s of round %d", name, m.Round)
	}
	if m.Speculative {
		name = "speculative copy: " + name
	}
	return name
}
