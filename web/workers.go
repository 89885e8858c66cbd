package web

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report/style"
)

// workersOfPage is how many workers a page lists.
const workersOfPage = 100

// workerRow is a worker in the table.
type workerRow struct {
	Name, Quarantine, Kernels, Build string
	Tasks, Slots                     uint32
	Memory                           string // that it plans with; empty where it has not told
	// Seen is how long the worker has been silent, where it has missed a heartbeat. A time that moves with each
	// heartbeat would move the whole table.
	Seen string
}

// late is when a worker has missed a heartbeat: they come every ten seconds.
const late = 15 * time.Second

func workerRowOf(w *pb.WorkerStatus) workerRow {
	row := workerRow{Name: w.GetName(), Quarantine: w.GetQuarantine(), Kernels: w.GetKernels(), Build: w.GetBuild(),
		Tasks: w.GetTasks(), Slots: w.GetSlots(), Seen: "just now"}
	if w.GetMemoryBytes() != 0 {
		row.Memory = size(w.GetMemoryBytes())
	}
	if silent := time.Since(time.UnixMilli(w.GetLastSeenUnixMs())); silent >= late {
		row.Seen = style.Clock(silent.Truncate(time.Second).Seconds()) + " ago"
	}
	return row
}

// fleetRow is the workers with one kernel set.
type fleetRow struct {
	Kernels               string
	Workers, Shunned      int // shunned ones are leased nothing
	Tasks, Slots          uint32
	Idle, Working, AtFull int // workers with no task, with some, with as many as slots
	Builds                int
}

// inTrouble orders workers: those that are leased nothing first, then by name. It is a total order: ids differ.
func inTrouble(a, b *pb.WorkerStatus) int {
	rank := func(w *pb.WorkerStatus) int {
		if w.GetQuarantine() != "" {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), compareNames(a.GetName(), b.GetName()),
		strings.Compare(a.GetWorkerId(), b.GetWorkerId()))
}

// compareNames orders names with a number at their end by that: w9 before w10.
func compareNames(a, b string) int {
	cut := func(s string) (string, string) {
		word := strings.TrimRight(s, "0123456789")
		return word, strings.TrimLeft(s[len(word):], "0")
	}
	wordA, numberA := cut(a)
	wordB, numberB := cut(b)
	return cmp.Or(strings.Compare(wordA, wordB), cmp.Compare(len(numberA), len(numberB)),
		strings.Compare(numberA, numberB), strings.Compare(a, b))
}

// fleet counts workers by kernel set, those with the most in trouble first.
func fleet(workers []*pb.WorkerStatus) []fleetRow {
	sets, builds := map[string]*fleetRow{}, map[[2]string]bool{}
	for _, w := range workers {
		set := sets[w.GetKernels()]
		if set == nil {
			set = &fleetRow{Kernels: w.GetKernels()}
			sets[w.GetKernels()] = set
		}
		set.Workers, set.Tasks, set.Slots = set.Workers+1, set.Tasks+w.GetTasks(), set.Slots+w.GetSlots()
		switch {
		case w.GetQuarantine() != "":
			set.Shunned++
		case w.GetTasks() == 0:
			set.Idle++
		case w.GetTasks() >= w.GetSlots():
			set.AtFull++
		default:
			set.Working++
		}
		if build := [2]string{w.GetKernels(), w.GetBuild()}; !builds[build] {
			builds[build] = true
			set.Builds++
		}
	}
	rows := slices.Collect(maps.Values(sets))
	slices.SortFunc(rows, func(a, b *fleetRow) int { // total order: kernel sets differ
		return cmp.Or(cmp.Compare(b.Shunned, a.Shunned), strings.Compare(a.Kernels, b.Kernels))
	})
	var all []fleetRow
	for _, row := range rows {
		all = append(all, *row)
	}
	return all
}
