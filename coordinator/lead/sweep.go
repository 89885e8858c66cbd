package lead

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"golang.org/x/sync/errgroup"
)

const (
	deletesAtOnce   = 16
	maxSweptListed  = 1000
	maxUnknownNamed = 100
	// minUploadAge is the least age of an upload that nobody goes on with.
	minUploadAge = 24 * time.Hour
)

// Sweeper is one pass. It deletes by the state as it finds it, which may be an old one when it does no longer
// lead: that is as good, since what is garbage in one state is garbage in every later one.
type Sweeper struct {
	c              *Leader
	opt            sweepOptions
	now            int64 // jobs are retired by
	cutoff         int64 // what has been garbage since then goes
	Res            *pb.SweepResponse
	Ended, retired []string // swept, and not yet marked so
	refused        bool     // the store took no report: the next pass tries again
}

// NewSweeper returns a pass that retires by the time now, and deletes what has been garbage since cutoff.
func NewSweeper(c *Leader, now, cutoff int64) *Sweeper {
	return &Sweeper{c: c, now: now, cutoff: cutoff, Res: &pb.SweepResponse{}}
}

// Run makes the pass.
func (s *Sweeper) Run(ctx context.Context) error {
	if err := s.retire(ctx); err != nil {
		return err
	}
	view, _ := s.c.fsm.View()
	if err := s.sweepRetired(ctx, view); err != nil {
		return err
	}
	if err := s.SweepJobs(ctx, view); err != nil {
		return err
	}
	if err := s.Mark(ctx, 1); err != nil {
		return err
	}
	if s.opt.everywhere {
		if err := s.countUnknown(ctx, view); err != nil {
			return err
		}
	}
	return s.abortUploads(ctx)
}

// sweepRetired deletes everything of jobs that are retired: no job comes to their ids as long as they
// are remembered.
func (s *Sweeper) sweepRetired(ctx context.Context, view state.State) (err error) {
	view.Retired.Each(func(r state.Retired) bool {
		if r.RetiredAt > s.cutoff || r.Swept && !s.opt.everywhere {
			return true
		}
		prefixes := []string{protocol.JobPrefix(r.ID)}
		if r.OwnOutput {
			prefixes = append(prefixes, protocol.OutputPrefix(r.ID))
		}
		if err = s.sweepJob(ctx, r.ID, prefixes, func(string) bool { return true }); err != nil {
			return false
		}
		if !r.Swept {
			s.retired = append(s.retired, r.ID)
		}
		err = s.Mark(ctx, state.MaxUpkeep)
		return err == nil
	})
	return err
}

// SweepJobs deletes the garbage of jobs that are kept.
func (s *Sweeper) SweepJobs(ctx context.Context, view state.State) (err error) {
	view.EachJob(func(job *state.Job) bool {
		due := job.Ended() && job.FinishedAt <= s.cutoff
		if job.Swept && !s.opt.everywhere {
			return true
		}
		written := s.makeUpReport(ctx, job)
		if garbage := job.Garbage(s.cutoff); !garbage.Empty() {
			if err = s.sweepJob(ctx, job.ID, []string{protocol.JobPrefix(job.ID)}, func(key string) bool {
				round, sum, ok := protocol.ParseObjectKey(job.ID, key)
				return ok && garbage.Has(state.ObjectID{Round: round, SHA256: sum})
			}); err != nil {
				return false
			}
		}
		if due && !job.Swept && written { // what is marked is not looked at again
			s.Ended = append(s.Ended, job.ID)
		}
		err = s.Mark(ctx, state.MaxUpkeep)
		return err == nil
	})
	return err
}

// sweepJob deletes what is garbage below some prefixes of a job.
func (s *Sweeper) sweepJob(ctx context.Context, id string, prefixes []string, garbage func(key string) bool) error {
	swept := &pb.SweptJob{Id: id}
	deletes, deleting := errgroup.WithContext(ctx)
	deletes.SetLimit(deletesAtOnce)
	list := func() error {
		for _, prefix := range prefixes {
			for info, err := range s.c.cfg.Store.List(deleting, prefix) {
				if err != nil {
					return fmt.Errorf("list objects to sweep: %w", err)
				}
				if !garbage(info.Key) {
					continue
				}
				swept.Objects, swept.Bytes = swept.Objects+1, swept.Bytes+uint64(max(info.Size, 0))
				if !s.opt.dry {
					deletes.Go(func() error { return s.c.cfg.Store.Delete(deleting, info.Key) })
				}
			}
		}
		return nil
	}
	listed := list()
	if err := deletes.Wait(); err != nil {
		return fmt.Errorf("sweep job %s: %w", id, err) // the first, of which others follow
	}
	if listed != nil {
		return listed
	}
	s.Res.Objects, s.Res.Bytes = s.Res.Objects+swept.Objects, s.Res.Bytes+swept.Bytes
	if swept.Objects > 0 {
		if len(s.Res.Jobs) < maxSweptListed {
			s.Res.Jobs = append(s.Res.Jobs, swept)
		}
		if !s.opt.dry {
			s.c.cfg.Logger.Info("job swept", "job", id, "objects", swept.Objects, "bytes", swept.Bytes)
		}
	}
	return nil
}

// Mark tells the log which jobs need not be listed again, once there are enough of them.
func (s *Sweeper) Mark(ctx context.Context, enough int) error {
	if len(s.Ended)+len(s.retired) < enough || s.opt.dry {
		return nil
	}
	_, err := s.c.Agree(ctx, &pb.Command{Body: &pb.Command_MarkSwept{MarkSwept: &pb.MarkSwept{Ended: s.Ended,
		Retired: s.retired}}})
	if err != nil {
		return fmt.Errorf("mark jobs as swept: %w", err)
	}
	s.Ended, s.retired = nil, nil
	return nil
}

// countUnknown counts the objects of jobs that the log does not know: of another cluster in the same store, of
// what was decided after a backup that was restored, or of a worker that came a month late.
func (s *Sweeper) countUnknown(ctx context.Context, view state.State) error {
	for info, err := range s.c.cfg.Store.List(ctx, protocol.JobsPrefix) {
		if err != nil {
			return fmt.Errorf("list all objects: %w", err)
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(info.Key, protocol.JobsPrefix), "/")
		if _, ok := view.Job(id); ok {
			continue
		}
		if _, ok := view.Retired.Get(id); ok {
			continue
		}
		s.Res.UnknownObjects, s.Res.UnknownBytes = s.Res.UnknownObjects+1, s.Res.UnknownBytes+uint64(max(info.Size, 0))
		named := s.Res.UnknownJobs
		if n := len(named); n < maxUnknownNamed && (n == 0 || named[n-1] != id) { // a listing is in order
			s.Res.UnknownJobs = append(named, id)
		}
	}
	return nil
}

// abortUploads gives up uploads that nobody goes on with: of a worker that was killed.
func (s *Sweeper) abortUploads(ctx context.Context) error {
	store, ok := s.c.cfg.Store.(objstore.UploadAborter)
	if !ok || s.opt.dry {
		return nil
	}
	for _, prefix := range []string{protocol.JobsPrefix, protocol.ModelsPrefix} {
		n, err := store.AbortUploads(ctx, prefix, s.c.clock.Wall().Add(-max(s.c.cfg.SweepGrace, minUploadAge)))
		s.Res.Uploads += uint64(max(n, 0))
		if errors.Is(err, objstore.ErrDenied) {
			s.c.cfg.Logger.Warn("unfinished uploads are not given up: the credentials do not allow it", "error", err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("give up unfinished uploads: %w", err)
		}
	}
	return nil
}
