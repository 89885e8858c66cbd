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

// A running job has the ETA of its round, in status and explain, for people and programs.
func TestStatusAndExplainForecast(t *testing.T) {
	job := jobIn("a", gramv1.JobState_JOB_STATE_RUNNING)
	job.Progress = &gramv1.Progress{Round: 2, Phase: "lloyd", Leaves: 8, LeavesDone: 2}
	b := &backend{get: func(string) (*gramv1.Job, error) { return job, nil }}
	run := func(args ...string) string {
		c := clientOf(t, b)
		c.want(0, c.run(args...))
		return c.stdout.String()
	}
	if text := run("status", "a"); strings.Contains(text, "ETA") {
		t.Errorf("a job without one prints\n%s", text)
	}
	job.Eta = &gramv1.Eta{}
	if text := rowsOf(run("status", "a"))["ETA"]; text != "unknown yet: no task has ended" {
		t.Errorf("ETA is %q", text)
	}
	job.Eta = &gramv1.Eta{TimesKnown: 3, P50Ms: 80_000, P90Ms: 125_000, Bounded: true, RoundsLeft: 298}
	const want = "1m20s (p50), 2m05s (p90) for this round; at most 298 rounds follow"
	if text := rowsOf(run("status", "a"))["ETA"]; text != want {
		t.Errorf("ETA is %q", text)
	}
	if text := run("explain", "a"); !strings.Contains(text, "\nETA  "+want+"\n") {
		t.Errorf("explain prints\n%s", text)
	}
	for _, verb := range []string{"status", "explain"} {
		text := run(verb, "a", "-o", "json")
		for _, field := range []string{`"times_known": 3`, `"p50_seconds": 80`, `"p90_seconds": 125`,
			`"rounds_left_at_most": 298`} {
			if !strings.Contains(text, field) {
				t.Errorf("%s prints no %s\n%s", verb, field, text)
			}
		}
	}
}
