package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func waitCommand(a *app) *cobra.Command {
	var timeout time.Duration
	var first bool
	cmd := &cobra.Command{
		Use:   "wait JOB...",
		Short: "Follow jobs to their end; exit 0 only if all succeeded",
		Example: `  gram wait glosses-k3f9p2
  gram wait --timeout 10m glosses-k3f9p2 topics-8w2x0d
  gram wait --any glosses-k3f9p2 topics-8w2x0d`,
		Long: `A job has ended when it succeeded, failed or was cancelled. The coordinator may
go away meanwhile: gram says so, keeps trying, and goes on when it is back.
The first Ctrl-C detaches, and the job goes on; a second one within two
seconds asks to cancel it.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			for i, id := range ids {
				if ids[i], err = c.ID(cmd.Context(), id); err != nil {
					return err
				}
			}
			return awaitJobs(cmd.Context(), a, c, slices.Compact(slices.Sorted(slices.Values(ids))), timeout, first)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0,
		"give up waiting after this `time`, such as 90s or 10m; the jobs go on")
	cmd.Flags().BoolVar(&first, "any", false, "the first job that ends is enough")
	return cmd
}

// event is news of one job: progress, a note, or its end.
type event struct {
	id   string
	job  *gramv1.Job
	note string
	end  bool
	err  error // with end
}

// waiter gathers the events of several jobs.
type waiter struct {
	a       *app
	c       *client.Cluster
	ids     []string
	printer *terminal.Printer
	ended   []*gramv1.Job
	here    bool // the jobs run in this process
}

// awaitJobs follows the jobs, prints how each ended, and returns what that means.
func awaitJobs(ctx context.Context, a *app, c *client.Cluster, ids []string, timeout time.Duration, first bool) error {
	w := &waiter{a: a, c: c, ids: ids, printer: a.printer(len(ids) == 1)}
	err := w.run(ctx, timeout, first)
	w.printer.Clear()
	if writeErr := printEnds(a, w.ended); writeErr != nil {
		return writeErr
	}
	if err != nil {
		return err
	}
	return worst(w.ended)
}

// run ends when the jobs have (or one has), at the timeout, or on Ctrl-C.
func (w *waiter) run(ctx context.Context, timeout time.Duration, first bool) error {
	ctx, cancel := context.WithCancel(ctx)
	events := make(chan event)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel() // runs before Wait
	for _, id := range w.ids {
		following.Go(func() { w.follow(ctx, id, events) })
	}
	release := w.a.catch()
	defer release()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var late <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case e := <-events:
			if done, err := w.handle(e, first); done {
				return err
			}
		case <-tick.C:
			if !w.a.flags.quiet {
				w.printer.Tick()
			}
		case <-late:
			return &exit.Failure{Code: exit.Timeout, What: fmt.Sprintf("%s passed while waiting", timeout),
				Hint: "The job goes on; `gram wait` follows it again."}
		case <-w.a.interrupts:
			if w.here {
				return &exit.Failure{Code: exit.Interrupted, What: "stopped; nothing was kept"}
			}
			return w.detach(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// follow sends one job's events.
func (w *waiter) follow(ctx context.Context, id string, events chan<- event) {
	send := func(e event) {
		e.id = id
		select {
		case events <- e:
		case <-ctx.Done():
		}
	}
	l := client.NewLink(w.a.patience, w.a.pause, func(text string) { send(event{note: text}) })
	job, err := w.c.Follow(ctx, id, l, func(job *gramv1.Job) { send(event{job: job}) })
	send(event{job: job, end: true, err: err})
}

// handle takes one event in; done tells that waiting is over.
func (w *waiter) handle(e event, first bool) (done bool, err error) {
	switch {
	case e.err != nil:
		return true, e.err
	case e.note != "" && w.a.flags.quiet:
	case e.note != "":
		w.printer.Message("gram: " + e.note)
	case e.end:
		w.ended = append(w.ended, e.job)
		return first || len(w.ended) == len(w.ids), nil
	case !w.a.flags.quiet:
		w.printer.Update(progressOf(e.job))
	}
	return false, nil
}

// detach leaves the jobs alone, unless a second Ctrl-C follows soon.
func (w *waiter) detach(ctx context.Context) error {
	w.printer.Clear()
	ids := strings.Join(w.ids, " ")
	fmt.Fprintf(w.a.err, "gram: detached; the job goes on: gram wait %s\n"+
		"gram: Ctrl-C again within %d s asks to cancel it\n", ids, int(w.a.again.Seconds())) // with -q too
	timer := time.NewTimer(w.a.again)
	defer timer.Stop()
	select {
	case <-timer.C:
		return &exit.Failure{Code: exit.Interrupted, What: "no longer waiting for " + ids}
	case <-w.a.interrupts:
	}
	ctx, cancel := context.WithTimeout(ctx, w.a.patience)
	defer cancel()
	var errs []error
	for _, id := range w.ids {
		_, err := w.c.Cancel(ctx, id)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return &exit.Failure{Code: exit.Interrupted, What: "asked to cancel " + ids}
}

// worst is the first failure of the jobs, or else the first cancellation.
func worst(jobs []*gramv1.Job) error {
	var cancelled error
	for _, job := range jobs {
		err := show.Outcome(job)
		if err != nil && exit.Of(err).Code == exit.Failed {
			return err
		}
		if cancelled == nil {
			cancelled = err
		}
	}
	return cancelled
}
