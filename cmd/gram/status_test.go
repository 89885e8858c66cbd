package main

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol/gramv1"
)

// rowsOf reads a table of two columns: the first, which may have blanks, to the second.
func rowsOf(text string) map[string]string {
	rows := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, "  "); ok {
			rows[name] = strings.TrimSpace(value)
		}
	}
	return rows
}

// A second attempt of a task is a speculative copy, of a job and of the cluster. A backup is a file.
func TestStatusCountsSpeculativeCopies(t *testing.T) {
	copies := &gramv1.SpeculativeCopies{Launched: 5, Won: 3, Wasted: 2}
	job := jobIn("a", succeeded)
	job.Counters = &gramv1.Counters{Committed: 76, SpeculativeCopies: copies}
	b := &backend{get: func(string) (*gramv1.Job, error) { return job, nil },
		status: &gramv1.StatusResponse{SpeculativeCopies: copies}}
	for _, args := range [][]string{{"status", "a"}, {"status"}} {
		c := clientOf(t, b)
		c.want(0, c.run(args...))
		text := c.stdout.String()
		if got := rowsOf(text)["speculative copies"]; got != "5 launched, 3 won, 2 wasted" ||
			strings.Contains(text, "backup") {
			t.Errorf("%q prints %q:\n%s", args, got, text)
		}
	}
	job.Counters.SpeculativeCopies = &gramv1.SpeculativeCopies{}
	c := clientOf(t, b)
	c.want(0, c.run("status", "a"))
	if text := c.stdout.String(); strings.Contains(text, "speculative") {
		t.Errorf("a job without any prints\n%s", text)
	}
}
