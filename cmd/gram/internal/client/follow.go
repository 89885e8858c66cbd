package client

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
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

// Link keeps a conversation with the cluster up: it repeats it after every passing
// error. Before the first answer patience bounds that; afterwards nothing but ctx does.
type Link struct {
	patience time.Duration
	pause    time.Duration
	note     func(string)

	answered bool // since ever
	down     bool // and people were told
	retry    backoff
}

// NewLink starts a conversation; note is told of what people should know.
func NewLink(patience, pause time.Duration, note func(string)) *Link {
	return &Link{patience: patience, pause: pause, note: note}
}

// Up notes an answer.
func (l *Link) Up() {
	l.answered, l.retry.tries = true, 0
	if l.down {
		l.down = false
		l.note("reconnected")
	}
}

// Keep repeats talk until it returns nil or an error that does not pass.
func (l *Link) Keep(ctx context.Context, talk func(context.Context) error) error {
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

func (l *Link) lost(err error) string {
	reason := exit.Of(err)
	text := reason.What
	if reason.Why != nil {
		text += fmt.Sprintf(" (%v)", reason.Why)
	}
	if l.answered {
		return text + ": retrying; the job goes on"
	}
	return fmt.Sprintf("%s: retrying for %s", text, l.patience)
}

// Ended reports whether a state is final.
func Ended(state gramv1.JobState) bool {
	switch state {
	case gramv1.JobState_JOB_STATE_SUCCEEDED, gramv1.JobState_JOB_STATE_FAILED, gramv1.JobState_JOB_STATE_CANCELLED:
		return true
	}
	return false
}

// Follow watches a job to its end and returns it as it then is. A lost stream is
// never a result: the watch is opened again, which asks for the state again.
func (c *Cluster) Follow(ctx context.Context, id string, l *Link, onJob func(*gramv1.Job)) (*gramv1.Job, error) {
	var last *gramv1.Job
	err := l.Keep(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx) // ends this stream, also where the server did not
		defer cancel()
		stream, err := c.Jobs.Watch(ctx, connect.NewRequest(&gramv1.WatchRequest{Id: id}))
		if err != nil {
			return c.Explain(err)
		}
		defer stream.Close()
		for stream.Receive() {
			l.Up()
			last = stream.Msg().GetJob()
			onJob(last)
			if Ended(last.GetState()) {
				return nil
			}
		}
		if err := stream.Err(); err != nil {
			return c.Explain(err)
		}
		return c.Explain(connect.NewError(connect.CodeUnavailable,
			fmt.Errorf("the stream ended before job %s did", id)))
	})
	return last, err
}
