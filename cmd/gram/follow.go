package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol/gramv1"
)

const longestPause = 5 * time.Second

// backoff paces repetitions: exponential, with full jitter.
type backoff struct {
	pause time.Duration
	tries int
}

// wait pauses, longer each time, or until ctx ends.
func (b *backoff) wait(ctx context.Context) error {
	ceiling := min(b.pause<<min(b.tries, 10), longestPause)
	b.tries++
	timer := time.NewTimer(time.Duration(rand.Int64N(int64(ceiling)) + 1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// link keeps a conversation with the cluster up: it repeats it after every passing
// error. Before the first answer patience bounds that; afterwards nothing but ctx does.
type link struct {
	patience time.Duration
	pause    time.Duration
	note     func(string)

	answered bool // since ever
	down     bool // and people were told
	retry    backoff
}

// up notes an answer.
func (l *link) up() {
	l.answered, l.retry.tries = true, 0
	if l.down {
		l.down = false
		l.note("reconnected")
	}
}

// keep repeats talk until it returns nil or an error that does not pass.
func (l *link) keep(ctx context.Context, talk func(context.Context) error) error {
	l.retry.pause = l.pause
	giveUp := time.NewTimer(l.patience)
	defer giveUp.Stop()
	for {
		err := talk(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !passing(err):
			return err
		}
		if !l.down {
			l.down = true
			l.note(l.lost(err))
		}
		if l.retry.wait(ctx) != nil {
			return ctx.Err()
		}
		select {
		case <-giveUp.C:
			if !l.answered {
				return err
			}
		default:
		}
	}
}

func (l *link) lost(err error) string {
	reason := explain(err)
	text := reason.what
	if reason.why != nil {
		text += fmt.Sprintf(" (%v)", reason.why)
	}
	if l.answered {
		return text + ": retrying; the job goes on"
	}
	return fmt.Sprintf("%s: retrying for %s", text, l.patience)
}

// ended reports whether a state is final.
func ended(state gramv1.JobState) bool {
	switch state {
	case gramv1.JobState_JOB_STATE_SUCCEEDED, gramv1.JobState_JOB_STATE_FAILED, gramv1.JobState_JOB_STATE_CANCELLED:
		return true
	}
	return false
}

// follow watches a job to its end and returns it as it then is. A lost stream is
// never a result: the watch is opened again, which asks for the state again.
func (c *cluster) follow(ctx context.Context, id string, l *link, onJob func(*gramv1.Job)) (*gramv1.Job, error) {
	var last *gramv1.Job
	err := l.keep(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx) // ends this stream, also where the server did not
		defer cancel()
		stream, err := c.jobs.Watch(ctx, connect.NewRequest(&gramv1.WatchRequest{Id: id}))
		if err != nil {
			return c.explain(err)
		}
		defer stream.Close()
		for stream.Receive() {
			l.up()
			last = stream.Msg().GetJob()
			onJob(last)
			if ended(last.GetState()) {
				return nil
			}
		}
		if err := stream.Err(); err != nil {
			return c.explain(err)
		}
		return c.explain(connect.NewError(connect.CodeUnavailable, fmt.Errorf("the stream ended before job %s did", id)))
	})
	return last, err
}
