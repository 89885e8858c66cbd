package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// pieceNames are those of the moving pieces of a job's page, in their order on it.
var pieceNames = []string{"job-said", "job-state", "job-leaves", "job-curve", "job-slow", "job-timeline", "job-events",
	"job-rounds", "job-log"}

// The paces of what moves. A piece is made again after least, and later the more bytes it has: what all pieces of a
// page send stays below some 30 kB/s, however large the job.
const (
	statePace  = 5 * time.Second // unless the job has changed
	coursePace = 5 * time.Second
	logPace    = 2 * time.Second
	roundPace  = time.Second
	pieceBytes = 10_000 // that a piece may send in a second
	askTick    = time.Second
)

// jobWatch is how the page of a job moves.
type jobWatch struct{ *Site }

// ask watches a job in the name of one who looks, and publishes the pieces of its page, until the job has ended, the
// cluster does not answer, or ctx ends. It returns an error if the calls were refused for this token: another that
// watches may go on.
func (s jobWatch) ask(ctx context.Context, r *http.Request, l *live) error {
	ctx, end := context.WithCancel(context.WithValue(ctx, callerKey{}, r))
	var reading sync.WaitGroup
	defer reading.Wait()
	defer end()
	jobs, lines, failed := make(chan *pb.Job), make(chan logNews), make(chan error, 1)
	reading.Go(func() { failed <- s.watchJob(ctx, r, l.id, jobs) })
	reading.Go(func() { s.watchLog(ctx, r, l.id, lines) })
	tick := time.NewTicker(askTick)
	defer tick.Stop()
	l.shown.due = map[string]time.Time{} // another may have asked before, in its own time
	for {
		select {
		case job := <-jobs:
			l.shown.take(job)
		case more := <-lines:
			if more.begins { // the last lines again, as another or an earlier call had them
				l.shown.Lines, l.shown.Skipped = nil, false
			}
			l.shown.addLines(more.LogsResponse)
			continue // shown with what comes next: at the latest by the tick
		case <-tick.C:
		case err := <-failed:
			return l.failed(ctx, err)
		}
		if l.shown.Job == nil {
			continue
		}
		if stateOf(l.shown.Job).Ended {
			l.finish(event("end", "")) // the page is loaded again: it is another then
			return nil
		}
		pieces, err := s.remake(ctx, r, l.shown)
		if ctx.Err() == nil && ownFault(err) { // or what all see would stand still for one
			return err
		}
		l.publish(pieces)
	}
}

// failed ends what all see if a watch ended for another reason than the token in whose name it was.
func (l *live) failed(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return nil
	case ownFault(err):
		return err
	}
	l.finish(event("problem", message(err)))
	return nil
}

// watchJob hands on a job after each change.
func (s jobWatch) watchJob(ctx context.Context, r *http.Request, id string, jobs chan<- *pb.Job) error {
	stream, err := s.jobs.Watch(ctx, call(r, &pb.WatchRequest{Id: id}))
	if err != nil {
		return err
	}
	defer stream.Close()
	for stream.Receive() {
		select {
		case jobs <- stream.Msg().GetJob():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return errors.New("the cluster ended the watch before the job did")
}

// logNews is lines of a log. Those that begin a call are its last lines, and stand in place of all before them.
type logNews struct {
	*pb.LogsResponse
	begins bool
}

// watchLog hands on the last lines of a job's log as they come. A log that cannot be read is missing from the page:
// the store may refuse what the cluster answers.
func (s jobWatch) watchLog(ctx context.Context, r *http.Request, id string, lines chan<- logNews) {
	for ctx.Err() == nil {
		stream, err := s.jobs.Logs(ctx, call(r, &pb.LogsRequest{Id: id, Follow: true, Tail: linesOfPage}))
		for begins := true; err == nil && stream.Receive(); begins = false {
			select {
			case lines <- logNews{stream.Msg(), begins}:
			case <-ctx.Done():
			}
		}
		if err == nil {
			err = errors.Join(stream.Err(), stream.Close())
		}
		if err == nil { // the job has ended
			return
		}
		select {
		case lines <- logNews{&pb.LogsResponse{Lines: []string{fmt.Sprintf("the log cannot be read: %s",
			message(err))}}, false}:
		case <-ctx.Done():
		}
		select {
		case <-time.After(10 * askTick):
		case <-ctx.Done():
		}
	}
}

// remake asks for what the pieces of a page need, and renders those that are due. What could not be had is as it was.
func (s jobWatch) remake(ctx context.Context, r *http.Request, known *shown) (made map[string][]byte, err error) {
	made, now := make(map[string][]byte), time.Now()
	render := func(name string, pace time.Duration) {
		html, err := s.piece(name, known)
		if err != nil {
			return // it is in the log
		}
		made[name] = html
		known.due[name] = now.Add(max(pace, time.Duration(len(html))*time.Second/pieceBytes))
	}
	ready := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return now.Before(known.due[name]) })
	}
	if known.news || ready("job-state") {
		known.news = false
		err = errors.Join(err, s.askLeaves(ctx, r, known))
		render("job-said", statePace)
		render("job-state", statePace)
		render("job-leaves", statePace)
	}
	if ready("job-rounds", "job-curve") {
		err = errors.Join(err, s.askMetrics(ctx, r, known, roundsOfAsk))
		render("job-rounds", roundPace)
		render("job-curve", roundPace)
	}
	if ready("job-timeline", "job-slow", "job-events") {
		err = errors.Join(err, s.askCourse(ctx, r, known))
		render("job-timeline", coursePace)
		render("job-slow", coursePace)
		render("job-events", coursePace)
	}
	if ready("job-log") {
		render("job-log", logPace)
	}
	return made, err
}

// askLeaves asks how the leaves of the open round are.
func (s jobWatch) askLeaves(ctx context.Context, r *http.Request, known *shown) error {
	if known.Job.GetProgress().GetLeaves() == 0 || stateOf(known.Job).Ended {
		known.Leaves = nil
		return nil
	}
	answer, err := s.jobs.Leaves(ctx, call(r, &pb.LeavesRequest{Id: known.Job.GetId()}))
	if err == nil {
		known.Leaves = answer.Msg
	}
	return err
}

// askCourse asks who does and did what when.
func (s jobWatch) askCourse(ctx context.Context, r *http.Request, known *shown) error {
	answer, err := s.jobs.Timeline(ctx, call(r, &pb.TimelineRequest{Id: known.Job.GetId()}))
	if err == nil {
		known.Course = answer.Msg
	}
	return err
}

// askMetrics asks what those of the rounds found that the curve shows, as many as most at a time.
func (s jobWatch) askMetrics(ctx context.Context, r *http.Request, known *shown, most int) error {
	want := known.wanted(most)
	if len(want) == 0 {
		return nil
	}
	answer, err := s.jobs.Metrics(ctx, call(r, &pb.MetricsRequest{Id: known.Job.GetId(), Rounds: want}))
	if err != nil {
		return err
	}
	for _, found := range answer.Msg.GetRounds() {
		known.found[found.GetRound()] = found
	}
	return nil
}
