package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
)

// The stream breaks after the second line; the client goes on after it.
func TestLogsGoOnAtTheCursor(t *testing.T) {
	var cursors []string
	c := clientOf(t, &backend{logs: func(req *gramv1.LogsRequest, send func(*gramv1.LogsResponse) error) error {
		cursors = append(cursors, req.GetCursor())
		if req.GetCursor() == "" {
			if err := send(&gramv1.LogsResponse{Lines: []string{`{"msg":"one"}`, `{"msg":"two"}`},
				Cursor: "2"}); err != nil {
				return err
			}
			return connect.NewError(connect.CodeUnavailable, errors.New("going down"))
		}
		return send(&gramv1.LogsResponse{Lines: []string{`{"msg":"three"}`}, Cursor: "3"})
	}})
	c.want(0, c.run("logs", "-f", "a", "-o", "json"))
	if want := "{\"msg\":\"one\"}\n{\"msg\":\"two\"}\n{\"msg\":\"three\"}\n"; c.stdout.String() != want ||
		fmt.Sprint(cursors) != "[ 2]" {
		t.Errorf("cursors %q, stdout %q", cursors, c.stdout.String())
	}
}

func TestLogLine(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"time":"2026-11-21T09:00:01.5Z","level":"warn","event":"failed","worker":"w1","round":2}`,
			"09:00:01.5Z WARN failed round=2 worker=w1"},
		{"not JSON \x1b[2J", `not JSON \x1b[2J`},
		{`{"event":"failed","message":"steer\u001b[2J"}`, `failed steer\x1b[2J`},
	} {
		if got := logLine(c.in, terminal.Palette{}); got != c.want {
			t.Errorf("logLine(%s) = %q, want %q", c.in, got, c.want)
		}
	}
}

// Three pages of one; the third page is never asked for.
func TestListTurnsPages(t *testing.T) {
	var tokens []string
	b := &backend{list: func(req *gramv1.ListRequest) (*gramv1.ListResponse, error) {
		tokens = append(tokens, req.GetPageToken())
		n := len(tokens)
		want := &gramv1.ListRequest{Limit: uint32(3 - n), PageToken: req.GetPageToken(), Ascending: true,
			Order: gramv1.JobOrder_JOB_ORDER_NAME, Filter: &gramv1.JobFilter{States: []gramv1.JobState{failed},
				Kind: "KMeans", NameContains: "bad", ScheduleId: "nightly", SinceUnixMs: 120_000}}
		if !proto.Equal(req, want) {
			t.Errorf("page %d: %v, want %v", n, req, want)
		}
		return &gramv1.ListResponse{NextPageToken: fmt.Sprint(n),
			Jobs: []*gramv1.Job{jobIn(fmt.Sprint("bad", n), failed)}}, nil
	}}
	c := clientOf(t, b)
	c.want(0, c.run("list", "--state", "failed", "--kind", "KMeans", "--name", "bad", "--schedule", "nightly", "--since",
		"1970-01-01T00:02", "--sort", "name", "--limit", "2", "-o", "json"))
	var got struct {
		SchemaVersion int `json:"schema_version"`
		Jobs          []struct{ ID, State string }
	}
	if err := json.Unmarshal(c.stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.SchemaVersion != 1 || fmt.Sprint(got.Jobs) != "[{bad1 Failed} {bad2 Failed}]" || len(tokens) != 2 {
		t.Errorf("jobs %v, pages %q", got, tokens)
	}
}

func TestStatusOfAJobFitsATerminal(t *testing.T) {
	job := jobIn("glosses-k3f9p2", succeeded)
	job.SpecHash, job.ResultHash = strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	job.FinishedUnixMs = job.GetSubmittedUnixMs() + 3200
	job.Counters = &gramv1.Counters{Committed: 76}
	job.Rounds = []*gramv1.RoundRecord{{Round: 1, Phase: "vocabulary", Leaves: 23, StartedUnixMs: 1000,
		FinishedUnixMs: 2500}}
	job.Outputs = []*gramv1.OutputFile{{Name: "model.safetensors", Uri: "file:///data/m", Sha256: make([]byte, 32),
		Size: 3 << 20}}
	c := clientOf(t, &backend{get: func(string) (*gramv1.Job, error) { return job, nil }})
	c.want(0, c.run("status", "glosses-k3f9p2"))
	want := `job        glosses-k3f9p2
kind       NaiveBayes
state      Succeeded
submitted  2026-11-21T09:00:00.000Z  (took 3.2s)
tasks      76 committed, 0 duplicate, 0 superseded, 0 violations
spec       abababababababababababababababababababababababababababababababab
result     cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd

ROUND  PHASE       LEAVES  TIME
1      vocabulary  23      1.5s

model.safetensors  3.0MiB
  file:///data/m
  sha256 0000000000000000000000000000000000000000000000000000000000000000
`
	if c.stdout.String() != want {
		t.Errorf("printed\n%s", c.stdout.String())
	}
}

func TestExplainSaysWhy(t *testing.T) {
	running := jobIn("a", gramv1.JobState_JOB_STATE_RUNNING)
	running.Progress = &gramv1.Progress{Round: 2, Phase: "count", Leaves: 8, LeavesDone: 3, TasksLeased: 4}
	waiting := jobIn("a", gramv1.JobState_JOB_STATE_QUEUED)
	waiting.Reason = "waits for job b to succeed, which is running"
	broken := jobIn("a", failed)
	broken.Failure = &gramv1.Failure{Code: "PANIC", Message: "leaf 3: index out of range", Task: "round 1", Worker: "w"}
	audited := jobIn("a", succeeded)
	audited.Audit = &gramv1.AuditSummary{Drawn: 3, Agreed: 1, Waived: 2}
	for want, job := range map[string]*gramv1.Job{
		"a succeeded: all of its rounds are done, and it left 0 files; audits: of 3 tasks drawn, " +
			"two workers agree on 1, 2 left out: there was no second worker\n": audited,
		"a was cancelled: it was asked to end\n": jobIn("a",
			gramv1.JobState_JOB_STATE_CANCELLED),
		"a is running: round 2 count, 3 of 8 leaves are done, 4 tasks are running\n": running,
		"a is queued: waits for job b to succeed, which is running\n":                waiting,
		"a failed: PANIC: leaf 3: index out of range (task round 1 on w)\n":          broken,
		"a succeeded: all of its rounds are done, and it left 0 files\n":             jobIn("a", succeeded),
		"a is planning: a worker lists its input and cuts shards\n": jobIn("a",
			gramv1.JobState_JOB_STATE_PLANNING),
	} {
		c := clientOf(t, &backend{get: func(string) (*gramv1.Job, error) { return job, nil }})
		c.want(0, c.run("explain", "a"))
		if c.stdout.String() != want {
			t.Errorf("printed %q, want %q", c.stdout.String(), want)
		}
	}
}

func TestConfigViewHidesTheToken(t *testing.T) {
	c := newClient(t)
	c.env["GRAM_TOKEN"], c.env["GRAM_ADDR"] = testToken, "lab:1"
	c.want(0, c.run("config", "view", "--show-origin"))
	got := c.stdout.String()
	if strings.Contains(got, testToken) || !strings.Contains(got, "(GRAM_TOKEN)") ||
		!strings.Contains(got, "https://lab:1  (GRAM_ADDR)") {
		t.Errorf("printed\n%s", got)
	}
}

func TestVersionNamesTheKernels(t *testing.T) {
	c := newClient(t)
	t.Setenv("GRAM_KERNELS", "generic")
	c.want(0, c.run("version", "-o", "json"))
	var v versionView
	if err := json.Unmarshal(c.stdout.Bytes(), &v); err != nil || v.Kernels != "generic" || v.Go == "" ||
		v.SchemaVersion != 1 {
		t.Errorf("%s, %v", c.stdout.String(), err)
	}
	t.Setenv("GRAM_KERNELS", "mmx")
	c.want(exit.Usage, c.run("version"))
}

// On every level help begins with what the verb is for and examples of it, within 80 columns.
func TestHelpHasExamplesFirst(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if name := cmd.Name(); name == "help" || name == "completion" {
			return // cobra's own
		}
		c := newClient(t)
		c.want(0, c.run(append(strings.Fields(cmd.CommandPath())[1:], "--help")...))
		lines := strings.Split(c.stdout.String(), "\n")
		if len(lines) < 4 || lines[2] != "Examples:" {
			t.Errorf("%s --help does not begin with examples:\n%s", cmd.CommandPath(), c.stdout.String())
		}
		for _, line := range lines {
			if len([]rune(line)) > 80 {
				t.Errorf("%s --help: %d columns: %s", cmd.CommandPath(), len([]rune(line)), line)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand(newClient(t).app))
}
