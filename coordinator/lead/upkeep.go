package lead

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/audit"
	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Sweep sweeps now, and looks everywhere.
func (c *Leader) Sweep(ctx context.Context, dry bool) (*pb.SweepResponse, error) {
	if _, _, err := c.Read(ctx); err != nil {
		return nil, err
	}
	lead, err := c.Leadership()
	if err != nil {
		return nil, err
	}
	return c.sweep(ctx, lead, sweepOptions{dry: dry, everywhere: true})
}

// firstSweep is how long a new leader waits at most before it sweeps.
const firstSweep = time.Minute

// sweepNowAndThen sweeps until the leadership ends. What one pass leaves the next takes up.
func (c *Leader) sweepNowAndThen(lead *Leadership) {
	wake := c.clock.Mono() + min(c.cfg.SweepEvery, firstSweep)
	for c.sleepUntil(lead.Ctx, wake, true, nil, nil, nil) {
		if _, err := c.sweep(lead.Ctx, lead, sweepOptions{}); err != nil && lead.Ctx.Err() == nil {
			c.cfg.Logger.Warn("sweep not finished; the next goes on", "error", err)
		}
		wake = c.clock.Mono() + c.cfg.SweepEvery
	}
}

// sweepOptions: dry deletes and decides nothing; everywhere looks also where nothing should be left,
// and counts what is of unknown jobs.
type sweepOptions struct{ dry, everywhere bool }

// sweep retires the jobs whose time is over, then deletes what has been garbage for the grace. It may
// break off anywhere and be done again, by this leader or another.
func (c *Leader) sweep(ctx context.Context, lead *Leadership, opt sweepOptions) (*pb.SweepResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(lead.Ctx, cancel)()
	select {
	case lead.sweeping <- struct{}{}:
		defer func() { <-lead.sweeping }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another sweep: %w", context.Cause(ctx))
	}
	if err := c.mayTime(lead); err != nil {
		return nil, outcome.Refuse(state.Ended, "nothing is swept: %v", err)
	}
	s := NewSweeper(c, c.retiring(lead), c.clock.Wall().Add(-c.cfg.SweepGrace).UnixMilli())
	s.opt = opt
	err := s.Run(ctx)
	lead.mu.Lock()
	defer lead.mu.Unlock()
	if !opt.dry {
		s.countInto(&lead.swept, err, c.clock.Wall().UnixMilli())
	}
	return s.Res, err
}

// countInto adds what a pass did, also one that broke off.
func (s *Sweeper) countInto(sum *pb.SweepCounters, err error, now int64) {
	sum.Passes++
	if err != nil {
		sum.Failures++
	}
	sum.JobsRetired += uint64(len(s.Res.GetRetired()))
	sum.Objects += s.Res.GetObjects()
	sum.Bytes += s.Res.GetBytes()
	sum.Uploads += s.Res.GetUploads()
	sum.LastUnixMs = now
}

// retire retires the jobs whose time is over, save those that somebody names.
func (s *Sweeper) retire(ctx context.Context) error {
	// Retiring a job is audited as the leader's decision, even in a sweep that a person started.
	ctx = audit.With(ctx, nil)
	view, _ := s.c.fsm.View()
	view.Now = s.now // not the log's, which may be that of a clock that ran ahead
	keep, names := s.c.cfg.KeepJobs.Milliseconds(), view.Names()
	var due []*pb.RetireJob
	view.EachJob(func(job *state.Job) bool {
		if !view.Expired(job, keep) {
			return true
		}
		if by := names.Of(job); by != "" {
			s.Res.Held = append(s.Res.Held, &pb.HeldJob{Id: job.ID, By: by})
			return true
		}
		due = append(due, command.Retirement(job))
		return true
	})
	for batch := range slices.Chunk(due, state.MaxUpkeep) {
		if s.opt.dry {
			for _, one := range batch {
				s.Res.Retired = append(s.Res.Retired, one.GetId())
			}
			continue
		}
		reply, err := s.c.Agree(ctx, &pb.Command{Body: &pb.Command_RetireJobs{RetireJobs: &pb.RetireJobs{Jobs: batch,
			KeepMs: keep, NowUnixMs: view.Now}}})
		if err != nil {
			return fmt.Errorf("retire %d jobs: %w", len(batch), err)
		}
		s.Res.Retired = append(s.Res.Retired, reply.Retired...)
		s.c.cfg.Logger.Info("jobs retired: their time is over", "jobs", len(reply.Retired))
	}
	return nil
}
