package supportvectormachine

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/smo"
	"github.com/gram-compute/gram/kernelops"
)

// join makes some members the next working set of a machine, and adds their records to those whose rows a round needs.
// It reports false, and the machine waits, where that would be more rows than a round may have.
func (s *training) join(k int, set []candidate, records map[int64]bool) bool {
	fresh := 0
	for _, c := range set {
		if !records[s.record(c.Ordinal)] {
			fresh++
		}
	}
	if len(records) > 0 && (len(records)+fresh)*s.space.Width > machineNumbers {
		return false
	}
	for _, c := range set {
		records[s.record(c.Ordinal)] = true
		c.Payload.change = 0
		s.working.add(k, c)
	}
	return true
}

// fetched takes over the rows that a round of stage fetch gathered.
func (p *trainPhase) fetched(ctx context.Context, s *training, all *tally) error {
	records := map[int64]bool{}
	for _, variable := range s.working.ordinal {
		records[s.record(variable)] = true
	}
	have := s.rows
	if s.rows, s.wanted = tableOf(s.space.Width, records, &have, &all.rows); len(s.wanted) > 0 {
		return jobs.Malformed("no leaf has record %d", s.wanted[0])
	}
	return p.solve(ctx, s)
}

// solveNumbers bounds the kernel values of the working sets that are solved at a time.
const solveNumbers = 1 << 22

// solve makes the coefficients of each working set the best while all others stay, and says what comes next. Machines
// do not wait for each other; each changes its own part of the working sets alone.
func (p *trainPhase) solve(ctx context.Context, s *training) error {
	set := &s.working
	if s.stage = stageTrain; set.len() == 0 && len(s.active(p.Params.WorkingSet)) == 0 ||
		s.rounds >= int64(p.Params.MaxRounds) {
		if s.stage = stageCollect; !s.dividing() && s.calibrating.leavesOut() && !s.cancels() {
			s.stage = stageHold
		}
	}
	set.own()
	group, ctx := errgroup.WithContext(ctx)
	most := s.workingSet(p.Params.WorkingSet)
	limit := max(1, min(runtime.GOMAXPROCS(0), solveNumbers/(most*most)))
	group.SetLimit(limit)
	threads := max(1, runtime.GOMAXPROCS(0)/limit) // for each working set
	for from := 0; from < set.len(); {
		_, to := set.of(int(set.machine[from]))
		first := from
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return p.solveOne(s, first, to, threads)
		})
		from = to
	}
	return group.Wait()
}

// solveOne solves the working set of a machine, the members from first up to, not including, to.
func (p *trainPhase) solveOne(s *training, first, to, threads int) error {
	set, n := &s.working, to-first
	k := int(set.machine[first])
	w := smo.Working{N: n, K: make([]float64, n*n), Y: make([]float64, n), Cost: set.cost[first:to],
		Alpha: make([]float64, n), Gradient: make([]float64, n)}
	x := kernelops.Matrix{Rows: n, Cols: s.space.Width, Stride: s.space.Width}
	for i := range n {
		at := first + i
		w.Y[i], w.Alpha[i] = s.machines().Side(k, int(set.class[at])), set.alpha[at]
		w.Gradient[i] = float64(w.Y[i] * (set.f[at] - set.target[at]))
		x.Data = append(x.Data, s.rows.of(s.record(set.ordinal[at]))...)
	}
	// The values depend neither on the kernel set nor on the threads.
	if s.given != nil {
		s.givenMatrix(w.K, x, set.ordinal[first:to])
	} else if err := s.values(w.K, x, &kernels.Evaluator{Ops: kernelops.Best(), Threads: threads}); err != nil {
		return err
	}
	// A set that takes more steps than these goes on in the next round.
	w.Solve(max(p.tol(s)/2, s.standing().violation[k]/10), 1<<14+64*n)
	for i := range n {
		at := first + i
		set.change[at], set.alpha[at] = w.Alpha[i]-set.alpha[at], w.Alpha[i]
		set.f[at] = set.target[at] + float64(w.Y[i]*w.Gradient[i])
	}
	return nil
}
