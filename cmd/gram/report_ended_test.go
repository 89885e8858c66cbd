package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report"
)

// failedJob is a job that a bad record ended, and its report.
func failedJob(t *testing.T) (*gramv1.Job, *gramv1.ReportResponse) {
	t.Helper()
	job := jobIn("spam-7", failed)
	job.SubmittedUnixMs, job.FinishedUnixMs = 1000, 2500
	job.Failure = &gramv1.Failure{Code: "BAD_RECORD", Class: gramv1.FailureClass_FAILURE_CLASS_INPUT,
		Message: "BAD_RECORD: a.csv, line 7: \x1b[2J is not a number", Task: "round 1, tree 0, node 0/5", Worker: "w1"}
	page, data, err := report.Ended(job, nil, jobs.Kind{})
	if err != nil {
		t.Fatal(err)
	}
	return job, &gramv1.ReportResponse{Page: page, Data: data}
}

// A job that failed has a report: from its cluster, and from the store without it.
func TestReportOfAFailedJob(t *testing.T) {
	job, left := failedJob(t)
	c := clientOf(t, &backend{get: func(string) (*gramv1.Job, error) { return job, nil },
		report: func(string) (*gramv1.ReportResponse, error) { return left, nil }})
	for name, data := range map[string][]byte{"report.html": left.GetPage(), "report.json": left.GetData()} {
		path := filepath.Join(c.app.dir, "store", filepath.FromSlash(protocol.EndedKey("spam-7", 2500, name)))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range [][]string{{"spam-7"}, {"spam-7", "--store", "./store"}} {
		args := append([]string{"report"}, from...)
		c.stdout.Reset()
		c.want(0, c.run(args...))
		for _, want := range []string{"state  failed", "line 7: \\x1b[2J is not a number", "round 1, tree 0, node 0/5, w1"} {
			if !strings.Contains(c.stdout.String(), want) {
				t.Errorf("%v lacks %q:\n%s", from, want, c.stdout.String())
			}
		}
		c.stdout.Reset()
		c.want(0, c.run(append(args, "--page", "-")...))
		if c.stdout.String() != string(left.GetPage()) {
			t.Errorf("%v: the page is %q", from, c.stdout.String())
		}
	}
	c.want(exit.NotFound, c.run("report", "ham-1", "--store", "./store"))
}
