package lead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/lease"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Names and bounds of the reports of jobs that failed or were cancelled.
const (
	endedPage, endedData = "report.html", "report.json"

	endingsPause = time.Second     // between looks for jobs that have ended
	endedRetry   = 5 * time.Second // where the store took no report
	endedWait    = 30 * time.Second
	// maxEndings bounds the reports that wait for the store: what is more, a sweep writes, without what this leader
	// remembers.
	maxEndings    = 256
	maxEndedBytes = 16 << 20
)

// reporter writes the reports of jobs that failed or were cancelled: those that succeed have a worker write theirs.
// They lie beside the jobs' objects, where this member may write; the place of outputs may be what the job failed by. A
// report that is not written is written by a sweep, and made anew when somebody asks.
type reporter struct{ *Leader }

// ending is a job that did not succeed, and what the leader remembers of it.
type ending struct {
	id       string
	finished int64
	course   schedule.Timeline
}

// withoutReport reports whether no worker writes the report of a job.
func withoutReport(job *state.Job) bool {
	return job.Ended() && job.Stage != pb.JobState_JOB_STATE_SUCCEEDED
}

// reportEnds writes the report of each job that ends without one, until the leadership ends. No decision waits for it.
func (c reporter) reportEnds(lead *Leadership, view state.State) {
	if c.cfg.Ended == nil {
		return
	}
	var waiting []ending
	for last := view; ; {
		view, changed := c.fsm.View()
		waiting = append(waiting, c.endings(lead, last, view)...)
		last = view
		waiting = c.write(lead.Ctx, waiting[max(0, len(waiting)-maxEndings):])
		pause := endingsPause
		if len(waiting) > 0 {
			pause = endedRetry
		}
		if !c.sleepUntil(lead.Ctx, c.clock.Mono()+pause, true, nil, nil, nil) {
			return
		}
		if len(waiting) == 0 && !c.sleepUntil(lead.Ctx, 0, false, changed, nil, nil) {
			return
		}
	}
}

// endings are the jobs that have ended without a report since the last look: those that were active then, and those
// that came since. It looks at all jobs only if some came.
func (c reporter) endings(lead *Leadership, last, view state.State) (list []ending) {
	look := func(job *state.Job) bool {
		if withoutReport(job) {
			list = append(list, ending{job.ID, job.FinishedAt, c.remembered(lead, view, job)})
		}
		return true
	}
	last.EachActive(func(before *state.Job) bool {
		if job, ok := view.Job(before.ID); ok {
			look(job)
		}
		return true
	})
	if view.NextJob != last.NextJob {
		view.EachJob(func(job *state.Job) bool { return job.Number < last.NextJob || look(job) })
	}
	return list
}

// remembered is what the leader remembers of a job that has ended.
func (c reporter) remembered(lead *Leadership, view state.State, job *state.Job) schedule.Timeline {
	lead.mu.Lock()
	defer lead.mu.Unlock()
	course, _ := lead.board.Course(view, job, c.clock.Mono())
	return course
}

// write writes reports until the store takes one no more, and returns those that are left, that one last.
func (c reporter) write(ctx context.Context, list []ending) (left []ending) {
	for i, e := range list {
		view, _ := c.fsm.View()
		job, ok := view.Job(e.id)
		if !ok || job.FinishedAt != e.finished {
			continue // retired by now
		}
		if err := c.writeOne(ctx, job, lease.WireTimeline(e.course, c.clock.started)); err != nil {
			if ctx.Err() == nil {
				c.cfg.Logger.Warn("the report of a job that did not succeed is not written yet; trying again",
					"job", e.id, "error", err)
			}
			return append(slices.Clone(list[i+1:]), e)
		}
	}
	return nil
}

func (c reporter) writeOne(ctx context.Context, job *state.Job, course *pb.Timeline) error {
	page, data, err := c.cfg.Ended(Views(c).Describe(job), course)
	if err != nil {
		c.cfg.Logger.Error("make the report of a job", "job", job.ID, "error", err)
		return nil // another attempt would make the same
	}
	ctx, cancel := context.WithTimeout(ctx, endedWait)
	defer cancel()
	// The page last: who finds it finds both.
	if _, err := c.cfg.Store.Put(ctx, protocol.EndedKey(job.ID, job.FinishedAt, endedData), data); err != nil {
		return err
	}
	_, err = c.cfg.Store.Put(ctx, protocol.EndedKey(job.ID, job.FinishedAt, endedPage), page)
	return err
}

// makeUpReport writes the report of a job that has none yet, since the leader at its end did not come to it. A store
// that takes none does not keep the sweep from what frees its space. It returns false where a later pass is to try
// again.
func (s *Sweeper) makeUpReport(ctx context.Context, job *state.Job) (written bool) {
	if s.c.cfg.Ended == nil || s.opt.dry || job.Swept || !withoutReport(job) {
		return true
	}
	if s.refused {
		return false
	}
	if err := (reporter{s.c}).makeUp(ctx, job); err != nil && ctx.Err() == nil {
		s.refused = true
		s.c.cfg.Logger.Warn("the report of a job that did not succeed is not written; the next sweep tries again",
			"job", job.ID, "error", err)
	}
	return !s.refused
}

// makeUp writes the report of a job, unless there is one.
func (c reporter) makeUp(ctx context.Context, job *state.Job) error {
	_, err := c.cfg.Store.Stat(ctx, protocol.EndedKey(job.ID, job.FinishedAt, endedPage))
	if !errors.Is(err, objstore.ErrNotFound) {
		return err
	}
	lead, err := c.Leadership()
	if err != nil {
		return err
	}
	view, _ := c.fsm.View()
	return c.writeOne(ctx, job, lease.WireTimeline(c.remembered(lead, view, job), c.clock.started))
}

// EndedReport is the page and the report.json of a job that failed or was cancelled: as they were written at its end
// or, where they were not, as they can be made now.
func (c Views) EndedReport(ctx context.Context, job *state.Job) (page, data []byte, err error) {
	if c.cfg.Ended == nil {
		return nil, nil, errors.New("this coordinator makes no reports of jobs that did not succeed")
	}
	read := func(name string) ([]byte, error) {
		data, _, err := objstore.ReadAll(ctx, c.cfg.Store, protocol.EndedKey(job.ID, job.FinishedAt, name),
			objstore.GetOptions{}, maxEndedBytes)
		return data, err
	}
	if page, err = read(endedPage); err == nil {
		data, err = read(endedData)
	}
	if !errors.Is(err, objstore.ErrNotFound) {
		if err != nil {
			err = fmt.Errorf("read the report: %w", err)
		}
		return page, data, err
	}
	course := &pb.Timeline{}
	if lead, err := c.Leadership(); err == nil {
		view, _ := c.fsm.View()
		course = lease.WireTimeline(reporter(c).remembered(lead, view, job), c.clock.started)
	}
	return c.cfg.Ended(c.Describe(job), course)
}
