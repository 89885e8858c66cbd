package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// states answers watches with a state per job and leaves those of state running open.
func states(of map[string]gramv1.JobState) *backend {
	return &backend{watch: func(ctx context.Context, id string, send func(*gramv1.Job) error) error {
		if err := send(jobIn(id, of[id])); err != nil || of[id] != running {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}}
}

func TestWaitForSeveral(t *testing.T) {
	of := map[string]gramv1.JobState{"ok": succeeded, "ok2": succeeded, "bad": failed, "gone": cancelled, "on": running}
	for _, c := range []struct {
		args string
		code int
	}{
		{"ok ok2", 0},
		{"ok ok", 0},
		{"ok gone bad", 1},
		{"gone ok", 8},
		{"--any on ok", 0},
		{"--any on bad", 1},
		{"--timeout 30ms on ok", 124},
	} {
		t.Run(c.args, func(t *testing.T) {
			client := clientOf(t, states(of))
			client.want(c.code, client.run(append([]string{"wait"}, strings.Fields(c.args)...)...))
		})
	}
}

func TestWaitPrintsEndsOnStdoutAndProgressOnStderr(t *testing.T) {
	c := clientOf(t, states(map[string]gramv1.JobState{"ok": succeeded}))
	c.want(0, c.run("wait", "ok"))
	if got := c.stdout.String(); got != "ok  Succeeded  0.0s\n" {
		t.Errorf("stdout %q", got)
	}
	if !strings.Contains(c.stderr.String(), "ok: succeeded") {
		t.Errorf("stderr %q", c.stderr)
	}
	c.stdout.Reset()
	c.want(0, c.run("wait", "ok", "-o", "json"))
	if got := c.stdout.String(); !strings.Contains(got, `"schema_version": 1`) ||
		!strings.Contains(got, `"submitted": "2026-11-21T09:00:00.000Z"`) {
		t.Errorf("stdout %s", got)
	}
}

// Waiting for a job that ended long ago tells how long it took, not how long ago it began.
func TestWaitTellsHowLongAnEndedJobTook(t *testing.T) {
	job := jobIn("ok", succeeded)
	job.FinishedUnixMs = job.GetSubmittedUnixMs() + 3200
	c := clientOf(t, &backend{watch: func(_ context.Context, _ string,
		send func(*gramv1.Job) error) error {
		return send(job)
	}})
	c.want(0, c.run("wait", "ok"))
	if c.stdout.String() != "ok  Succeeded  3.2s\n" || c.stderr.String() != "ok: succeeded, 3.2s\n" {
		t.Errorf("stdout %q, stderr %q", c.stdout.String(), c.stderr)
	}
}

// The server goes away in the middle of a watch, with the job unfinished, and a new
// one comes up at the same address.
func TestWaitSurvivesARestart(t *testing.T) {
	watching := make(chan struct{})
	first := serveOn(t, &backend{watch: func(ctx context.Context, id string, send func(*gramv1.Job) error) error {
		if err := send(jobIn(id, running)); err != nil {
			return err
		}
		close(watching)
		<-ctx.Done()
		return ctx.Err()
	}}, "127.0.0.1:0")
	c := newClient(t).to(first)
	code := make(chan int)
	go func() { code <- c.run("wait", "a") }()
	<-watching
	c.stderr.await(t, "a: running") // only a job that the client has seen is waited for without end
	address := first.Listener.Addr().String()
	first.Listener.Close() // before the streams end, or the client is back on the same server
	first.CloseClientConnections()
	first.Close()
	c.stderr.await(t, "is not reachable")
	c.stderr.await(t, "retrying; the job goes on")
	serveOn(t, &backend{watch: ends(succeeded)}, address)
	c.want(0, <-code)
	text := c.stderr.String()
	if strings.Count(text, "retrying") != 1 || strings.Count(text, "gram: reconnected") != 1 {
		t.Errorf("one message each way is wanted:\n%s", text)
	}
}

// A stream that ends, in order or not, before the job has ended is not a result.
func TestALostStreamIsNoResult(t *testing.T) {
	for name, lose := range map[string]func() error{
		"in order":  func() error { return nil },
		"aborted":   func() error { panic(http.ErrAbortHandler) },
		"unknown":   func() error { return errors.New("broken") },
		"no leader": func() error { return connect.NewError(connect.CodeUnavailable, errors.New("no leader")) },
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			c := clientOf(t, &backend{watch: func(_ context.Context, id string, send func(*gramv1.Job) error) error {
				if calls.Add(1) <= 3 {
					if err := send(jobIn(id, running)); err != nil {
						return err
					}
					return lose()
				}
				return send(jobIn(id, failed))
			}})
			c.want(exit.Failed, c.run("wait", "a"))
			if calls.Load() != 4 {
				t.Errorf("%d watches, want 4", calls.Load())
			}
		})
	}
}

func TestWaitForAJobThatIsNotThere(t *testing.T) {
	c := clientOf(t, &backend{watch: func(context.Context, string, func(*gramv1.Job) error) error {
		return connect.NewError(connect.CodeNotFound, errors.New(`no job "a"`))
	}})
	c.want(exit.NotFound, c.run("wait", "a"))
}

func TestInterruptDetaches(t *testing.T) {
	var asked atomic.Int32
	b := states(map[string]gramv1.JobState{"a": running})
	b.cancel = func(id string) (*gramv1.Job, error) { asked.Add(1); return jobIn(id, cancelled), nil }
	c := clientOf(t, b)
	c.interrupts <- os.Interrupt
	c.want(exit.Interrupted, c.run("wait", "a"))
	if asked.Load() != 0 || !strings.Contains(c.stderr.String(), "the job goes on") {
		t.Errorf("%d cancels; stderr:\n%s", asked.Load(), c.stderr)
	}
}

func TestSecondInterruptCancels(t *testing.T) {
	var asked atomic.Int32
	b := states(map[string]gramv1.JobState{"a": running})
	b.cancel = func(id string) (*gramv1.Job, error) { asked.Add(1); return jobIn(id, cancelled), nil }
	c := clientOf(t, b)
	c.interrupts <- os.Interrupt
	c.interrupts <- os.Interrupt
	c.want(exit.Interrupted, c.run("wait", "a"))
	if asked.Load() != 1 || !strings.Contains(c.stderr.String(), "asked to cancel") {
		t.Errorf("%d cancels; stderr:\n%s", asked.Load(), c.stderr)
	}
}
