package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/audit"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

type upkeepService struct{ c *Coordinator }

// Sweep sweeps now, and looks everywhere.
func (s *upkeepService) Sweep(ctx context.Context, req *connect.Request[pb.SweepRequest]) (*connect.Response[pb.SweepResponse], error) {
	if _, _, err := s.c.read(ctx); err != nil {
		return nil, err
	}
	lead, err := s.c.leader()
	if err != nil {
		return nil, err
	}
	res, err := s.c.sweep(ctx, lead, sweepOptions{dry: req.Msg.GetDryRun(), everywhere: true})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(res), nil
}

// firstSweep is how long a new leader waits at most before it sweeps.
const firstSweep = time.Minute

// sweepNowAndThen sweeps until the leadership ends. What one pass leaves the next takes up.
func (c *Coordinator) sweepNowAndThen(lead *leadership) {
	wake := c.now() + min(c.cfg.SweepEvery, firstSweep)
	for c.sleepUntil(lead.ctx, wake, true, nil, nil, nil) {
		if _, err := c.sweep(lead.ctx, lead, sweepOptions{}); err != nil && lead.ctx.Err() == nil {
			c.cfg.Logger.Warn("sweep not finished; the next goes on", "error", err)
		}
		wake = c.now() + c.cfg.SweepEvery
	}
}

// sweepOptions: dry deletes and decides nothing; everywhere looks also where nothing should be left,
// and counts what is of unknown jobs.
type sweepOptions struct{ dry, everywhere bool }

// sweep retires the jobs whose time is over, then deletes what has been garbage for the grace. It may
// break off anywhere and be done again, by this leader or another.
func (c *Coordinator) sweep(ctx context.Context, lead *leadership, opt sweepOptions) (*pb.SweepResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(lead.ctx, cancel)()
	select {
	case lead.sweeping <- struct{}{}:
		defer func() { <-lead.sweeping }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another sweep: %w", context.Cause(ctx))
	}
	if err := c.mayTime(lead); err != nil {
		return nil, outcome.Refuse(state.Ended, "nothing is swept: %v", err)
	}
	s := &sweeper{c: c, opt: opt, now: c.retiring(lead), cutoff: c.wall().Add(-c.cfg.SweepGrace).UnixMilli(), res: &pb.SweepResponse{}}
	err := s.run(ctx)
	lead.mu.Lock()
	defer lead.mu.Unlock()
	if !opt.dry {
		s.countInto(&lead.swept, err, c.wall().UnixMilli())
	}
	return s.res, err
}

// countInto adds what a pass did, also one that broke off.
func (s *sweeper) countInto(sum *pb.SweepCounters, err error, now int64) {
	sum.Passes++
	if err != nil {
		sum.Failures++
	}
	sum.JobsRetired += uint64(len(s.res.GetRetired()))
	sum.Objects += s.res.GetObjects()
	sum.Bytes += s.res.GetBytes()
	sum.Uploads += s.res.GetUploads()
	sum.LastUnixMs = now
}

// retirement is a job as RetireJobs names it.
func retirement(job *state.Job) *pb.RetireJob {
	spec, err := protocol.ParseSpec(job.SpecJSON)
	// A spec that cannot be read names a place, for all we know: what lies there stays.
	return &pb.RetireJob{Id: job.ID, OwnOutput: err == nil && spec.Spec.Output.URI == ""}
}

// retire retires the jobs whose time is over, save those that somebody names.
func (s *sweeper) retire(ctx context.Context) error {
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
			s.res.Held = append(s.res.Held, &pb.HeldJob{Id: job.ID, By: by})
			return true
		}
		due = append(due, retirement(job))
		return true
	})
	for batch := range slices.Chunk(due, state.MaxUpkeep) {
		if s.opt.dry {
			for _, one := range batch {
				s.res.Retired = append(s.res.Retired, one.GetId())
			}
			continue
		}
		reply, err := s.c.agree(ctx, &pb.Command{Body: &pb.Command_RetireJobs{RetireJobs: &pb.RetireJobs{Jobs: batch, KeepMs: keep, NowUnixMs: view.Now}}})
		if err != nil {
			return fmt.Errorf("retire %d jobs: %w", len(batch), err)
		}
		s.res.Retired = append(s.res.Retired, reply.Retired...)
		s.c.cfg.Logger.Info("jobs retired: their time is over", "jobs", len(reply.Retired))
	}
	return nil
}
