package main

import (
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/benchmarks/pages"
)

// The ratio is the median of the pairs' own, for each setting by itself.
func TestPage(t *testing.T) {
	p := page{Run: pages.Run{Before: "1 1 1", After: "2 1 1"}}
	for _, c := range []struct {
		workers       int
		without, with float64
	}{{2, 100, 101}, {2, 50, 51}, {2, 10, 10}, {4, 20, 21}} {
		one := pair{setting: setting{workloads[0], c.workers}}
		one.without.took, one.audit.took = time.Duration(c.without*1e9), time.Duration(c.with*1e9)
		one.audit.Audit.Seconds, one.audit.Audit.AllSeconds = 1, 50
		p.pairs = append(p.pairs, one)
	}
	goals := p.goals()
	if len(goals) != 2 || goals[0].ratio.Median != 1.01 || !goals[0].met() ||
		goals[1].ratio.Median != 1.05 || goals[1].met() {
		t.Errorf("%+v", goals)
	}
	text := string(p.markdown())
	for _, want := range []string{
		"| long rounds, 2 workers | 1.010 (1.005 to 1.015) | at most 1.02 | yes | 2.00 % |",
		"| long rounds, 4 workers | 1.050 (1.050 to 1.050) | at most 1.02 | no |",
		"1 1 1; 2 1 1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}
