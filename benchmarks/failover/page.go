package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gram-compute/gram/benchmarks/pages"
)

// page is what is published of a run.
type page struct {
	pages.Run
	kills  []kill
	writes int
}

// goal is a figure with its bound.
type goal struct {
	name            string
	asked, measured time.Duration
}

func (g goal) met() bool { return g.measured <= g.asked }

func (p *page) goals() []goal {
	return []goal{{"p50", 3 * time.Second, p.quantile(0.5)}, {"p99", 10 * time.Second, p.quantile(0.99)}}
}

// quantile is by nearest rank: the smallest time that at least that share of the kills stayed within.
func (p *page) quantile(share float64) time.Duration {
	var times []time.Duration
	for _, k := range p.kills {
		times = append(times, k.took)
	}
	slices.Sort(times)
	rank := math.Ceil(share * float64(len(times)))
	return times[max(int(rank), 1)-1]
}

func (p *page) markdown() []byte {
	var b bytes.Buffer
	b.WriteString(p.Head("Failover", "make bench-failover", "failover"))
	fmt.Fprintf(&b, "\nThree coordinators as processes on this machine and its one disk. "+
		"The leader was killed (SIGKILL) %d times; one client wrote throughout, %d jobs in all.\n\n", len(p.kills),
		p.writes)
	b.WriteString("| from the kill to the first accepted write | goal | measured | met |\n|---|---:|---:|---|\n")
	for _, g := range p.goals() {
		met := "no"
		if g.met() {
			met = "yes"
		}
		fmt.Fprintf(&b, "| %s | at most %d ms | %d ms | %s |\n",
			g.name, g.asked.Milliseconds(), g.measured.Milliseconds(), met)
	}
	fmt.Fprintf(&b, "| longest | | %d ms | |\n| shortest | | %d ms | |\n",
		p.quantile(1).Milliseconds(), p.quantile(0).Milliseconds())
	b.WriteString("\n## Every kill\n\n" +
		"| kill | leader | first accepted write after | three healthy voters after |\n|---:|---|---:|---:|\n")
	for i, k := range p.kills {
		fmt.Fprintf(&b, "| %d | %s | %d ms | %d ms |\n", i+1, k.leader, k.took.Milliseconds(), k.back.Milliseconds())
	}
	return b.Bytes()
}
