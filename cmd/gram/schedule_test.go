package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/objstore/mem"
)

// clientOfCoordinator is a client of a coordinator with its log on disk, in this process.
func clientOfCoordinator(t *testing.T) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	dir := t.TempDir()
	server, err := coordinator.Start(ctx, coordinator.Config{
		DataDir: dir, ListenAddr: "127.0.0.1:0", StoreURI: "mem://m", Store: mem.New("m"), Validate: all.Validate,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	c := newClient(t)
	c.env["GRAM_ADDR"], c.env["GRAM_CACERT"], c.env["GRAM_TOKEN"] = server.Addr(), filepath.Join(dir,
		local.CAPath), server.AdminToken().Reveal()
	c.app.patience = 10 * time.Second
	return c
}

const validSchedule = `{apiVersion: v1, kind: NaiveBayes, metadata: {name: Nightly Topics},
 spec: {input: {uri: "./day={{previous_tick:%Y-%m-%d}}/", format: tsv, label: 1, text: 2}},
 schedule: {cron: "15 2 * * *", time_zone: Europe/Berlin, catch_up: {mode: all, max: 7}, start_deadline: 6h}}`

// again runs another command of the same client, from empty streams.
func (c *session) again(args ...string) int {
	c.t.Helper()
	c.stdout.Reset()
	c.stderr = &stderr{changed: make(chan struct{})}
	c.app.err, c.app.parsed = c.stderr, false
	return c.run(args...)
}

func (c *session) json(into any, args ...string) {
	c.t.Helper()
	c.want(0, c.again(append(args, "-o", "json")...))
	if err := json.Unmarshal(c.stdout.Bytes(), into); err != nil {
		c.t.Fatalf("%v: %v\n%s", args, err, c.stdout.String())
	}
}

// The life of a schedule, by every verb.
func TestScheduleVerbs(t *testing.T) {
	c := clientOfCoordinator(t)
	file := c.writeSpec(validSchedule)
	c.want(0, c.run("schedule", "create", "-f", file))
	if c.stdout.String() != "nightly-topics\n" {
		t.Fatalf("stdout %q", c.stdout.String())
	}
	c.want(0, c.again("schedule", "create", "-f", file))
	if !strings.Contains(c.stderr.String(), "was there already") {
		t.Errorf("stderr %q", c.stderr)
	}
	c.want(exit.Conflict, c.again("schedule", "create", "-f", file, "--set", "schedule.overlap=queue"))
	if !strings.Contains(c.stderr.String(), "--replace") {
		t.Errorf("stderr %q", c.stderr)
	}
	c.want(0, c.again("schedule", "create", "-f", file, "--set", "schedule.overlap=queue", "--replace"))
	c.want(0, c.again("schedule", "list"))
	row := regexp.MustCompile(`(?m)^nightly-topics +active +\S+T0[01]:15:00Z +15 2 \* \* \* Europe/Berlin$`)
	if !row.MatchString(c.stdout.String()) {
		t.Errorf("list:\n%s", c.stdout.String())
	}
	c.want(0, c.again("schedule", "pause", "nightly-topics"))
	if !strings.Contains(c.stdout.String(), "paused  -") {
		t.Errorf("pause:\n%s", c.stdout.String())
	}
	var shown show.Schedule
	c.json(&shown, "schedule", "show", "nightly-topics")
	if shown.State != "paused" || shown.Overlap != "queue" || shown.CatchUp != "all" || shown.CatchUpMax != 7 ||
		shown.StartDeadlineSeconds != 21600 || len(shown.Next) != 3 {
		t.Errorf("%+v", shown)
	}
	c.want(0, c.again("schedule", "resume", "nightly-topics"))
	c.want(0, c.again("schedule", "show", "nightly-topics"))
	if !strings.Contains(c.stdout.String(), "state           active") ||
		!strings.Contains(c.stdout.String(), "all, at most 7") {
		t.Errorf("show:\n%s", c.stdout.String())
	}
	c.want(0, c.again("schedule", "rm", "nightly-topics"))
	for _, verb := range []string{"show", "pause", "resume", "rm", "trigger", "preview"} {
		c.want(exit.NotFound, c.again("schedule", verb, "nightly-topics"))
		if !strings.Contains(c.stderr.String(), "gram schedule list") {
			t.Errorf("%s: stderr %q", verb, c.stderr)
		}
	}
}

// Jobs by hand: the same instant is the same job, whichever verb asks.
func TestTriggerAndBackfill(t *testing.T) {
	c := clientOfCoordinator(t)
	c.want(0, c.run("schedule", "create", "-f", c.writeSpec(validSchedule)))
	interval := []string{"schedule", "backfill", "nightly-topics", "--from", "2026-10-24", "--to", "2026-10-27"}
	c.want(0, c.again(append(interval, "--dry-run")...))
	want := regexp.MustCompile(`^2026-10-24T00:15:00Z +nightly-topics-[0-9a-f]{20} +to make
2026-10-25T00:15:00Z +nightly-topics-[0-9a-f]{20} +to make
2026-10-26T01:15:00Z +nightly-topics-[0-9a-f]{20} +to make
$`)
	if !want.MatchString(c.stdout.String()) {
		t.Errorf("dry run:\n%s", c.stdout.String())
	}
	c.want(0, c.again("schedule", "trigger", "nightly-topics", "--tick", "2026-10-25T02:15:00+02:00"))
	id := strings.TrimSpace(c.stdout.String())
	var job show.Job
	c.json(&job, "status", id)
	if !strings.Contains(string(job.Spec), "/day=2026-10-24/") {
		t.Errorf("the job reads %s", job.Spec)
	}
	var filled struct {
		Ticks []struct{ Tick, Job, Result string }
	}
	c.json(&filled, interval...)
	if len(filled.Ticks) != 3 || filled.Ticks[0].Result != "made" || filled.Ticks[1].Result != "there" ||
		filled.Ticks[1].Job != id || filled.Ticks[2].Result != "made" {
		t.Errorf("%+v", filled)
	}
	if job.Schedule != "nightly-topics" || job.Tick != "2026-10-25T00:15:00.000Z" {
		t.Errorf("the job says %q, %q", job.Schedule, job.Tick)
	}
	c.want(exit.NotFound, c.again("model", "show", "nightly-topics@latest"))
	if !strings.Contains(c.stderr.String(), "has succeeded yet") {
		t.Errorf("stderr %q", c.stderr)
	}
	c.want(0, c.again("schedule", "trigger", "nightly-topics"))
	c.want(exit.Usage, c.again("schedule", "trigger", "nightly-topics", "--tick", "2126-01-01"))
	c.want(exit.Usage, c.again("schedule", "trigger", "nightly-topics", "--tick", "yesterday"))
	c.want(exit.Usage, c.again("schedule", "backfill", "nightly-topics", "--from", "2026-10-27", "--to", "2026-10-24"))
	c.want(exit.Usage, c.again("schedule", "backfill", "nightly-topics"))
}

// A backfill that finds no room says so and shows what it made; repeated, it finds that there.
func TestBackfillUntilThereIsNoRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 900 jobs; make test-all runs it")
	}
	c := clientOfCoordinator(t)
	c.want(0, c.run("schedule", "create", "-f", c.writeSpec(validSchedule), "--set", `schedule.cron="* * * * *"`))
	c.want(0, c.again("schedule", "pause", "nightly-topics"))
	for _, word := range []string{"made", "there"} {
		c.want(exit.NoRoom, c.again("schedule", "backfill", "nightly-topics", "--from", "2026-10-24", "--to",
			"2026-10-25"))
		if got := strings.Count(c.stdout.String(), "  "+word+"\n"); got != state.MaxActiveOfToken {
			t.Errorf("%d ticks %s, want %d", got, word, state.MaxActiveOfToken)
		}
	}
}

// A preview of a file needs no cluster, and shows both days on which the clocks change.
func TestPreviewWithoutACluster(t *testing.T) {
	c := newClient(t)
	c.want(0, c.run("schedule", "preview", "-f", c.writeSpec(validSchedule), "--from", "2026-10-24", "-n", "3"))
	want := `TICK                  Europe/Berlin
2026-10-24T00:15:00Z  Sat 2026-10-24 02:15 +02:00
2026-10-25T00:15:00Z  Sun 2026-10-25 02:15 +02:00
2026-10-26T01:15:00Z  Mon 2026-10-26 02:15 +01:00
`
	if c.stdout.String() != want {
		t.Errorf("%s", c.stdout.String())
	}
	var previewed struct{ Ticks []tickView }
	c.json(&previewed, "schedule", "preview", "-f", c.writeSpec(validSchedule), "--from", "2026-03-28T00:00", "-n", "2")
	if len(previewed.Ticks) != 2 || previewed.Ticks[1].Tick != "2026-03-30T00:15:00.000Z" ||
		!strings.HasSuffix(previewed.Ticks[1].Input, "/day=2026-03-28/") {
		t.Errorf("%+v", previewed)
	}
	for _, args := range [][]string{
		{}, {"n", "--cron", "* * * * *"}, {"--cron", "* * * *"}, {"--cron", "* * * * *", "--zone", "Local"},
		{"--cron", "* * * * *", "-n", "0"}, {"--cron", "* * * * *", "--from", "now"},
	} {
		c.want(exit.Usage, c.again(append([]string{"schedule", "preview"}, args...)...))
	}
}

// What is wrong with a file is told before anything is sent.
func TestScheduleFilesAreChecked(t *testing.T) {
	c := newClient(t)
	for from, change := range map[string]struct{ to, says string }{
		`cron: "15 2 * * *"`:   {`cron: "15 2 * *"`, "minute, hour, day of month"},
		"cron:":                {"corn:", `did you mean "cron"?`},
		"Europe/Berlin":        {"Europe/Berlni", "unknown time zone"},
		"mode: all":            {"mode: every", "known: none, latest, all"},
		"start_deadline: 6h":   {"start_deadline: 6", "90s"},
		"previous_tick:":       {"ticks:", "{{tick}}"},
		", schedule: {":        {", timetable: {", "no section schedule"},
		"kind: NaiveBayes":     {"kind: NaiveBayse", `"NaiveBayes"`},
		"name: Nightly Topics": {`name: "--"`, "--id"},
	} {
		text := strings.ReplaceAll(validSchedule, "\n schedule", " schedule")
		changed := strings.Replace(text, from, change.to, 1)
		if changed == text {
			t.Fatalf("%q is not in the file", from)
		}
		c.want(exit.Usage, c.again("schedule", "create", "-f", c.writeSpec(changed)))
		if !strings.Contains(c.stderr.String(), change.says) {
			t.Errorf("%s: stderr lacks %q:\n%s", change.to, change.says, c.stderr)
		}
	}
	c.want(exit.Usage, c.again("submit", "-f", c.writeSpec(validSchedule)))
	if !strings.Contains(c.stderr.String(), "gram schedule create") {
		t.Errorf("stderr %q", c.stderr)
	}
}

func TestSpanText(t *testing.T) {
	for text, want := range map[string]string{"6h": "6h", "10m": "10m", "90m": "1h30m", "1.5s": "1.5s", "100s": "1m40s",
		"25h10s": "25h0m10s", "10s": "10s"} {
		d, err := time.ParseDuration(text)
		if got := spanText(d); err != nil || got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// The example that docs and help name can be made a schedule of.
func TestTheExampleSchedule(t *testing.T) {
	c := newClient(t)
	c.app.dir, _ = os.Getwd()
	c.want(0, c.run("schedule", "preview", "-f", filepath.Join("..", "..", "examples", "nightly.yaml"), "-n", "1"))
}

// However long the ids are, a list fits a terminal.
func TestSchedulesFitTheTerminal(t *testing.T) {
	c := clientOfCoordinator(t)
	file := c.writeSpec(validSchedule)
	c.want(0, c.run("schedule", "create", "-f", file, "--id", strings.Repeat("x", 40), "--set",
		"schedule.cron=0,15,30,45 0-23/2 1,2,3,4,5 * *"))
	c.want(0, c.again("schedule", "list"))
	for line := range strings.Lines(c.stdout.String()) {
		if len(strings.TrimRight(line, "\n")) > terminal.Columns {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}
