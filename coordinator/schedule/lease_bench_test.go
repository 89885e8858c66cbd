package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// wide is a cluster of workers of 16 slots each over one job.
func wide(b *testing.B, leaves uint32, workers int) (state.State, *schedule.Board) {
	b.Helper()
	view := run(b, state.New(), submit("a"), start("a"), completions(planned("a", leaves)))
	board := schedule.NewBoard(schedule.DefaultConfig(), 2, state.New(), 0)
	for w := range workers {
		board.Register(view, schedule.Worker{ID: fmt.Sprintf("w%04d", w), Slots: 16}, nil, 0)
	}
	return view, board
}

// BenchmarkRound times the whole of a round of 100,000 leaves: every lease, every
// commit's note, in the state's company.
func BenchmarkRound(b *testing.B) {
	for _, workers := range []int{2, 100, 1000} {
		b.Run(fmt.Sprintf("slots=%d", 16*workers), func(b *testing.B) {
			for b.Loop() {
				view, board := wide(b, 100_000, workers)
				var slowest, leasing time.Duration
				calls := 0
				for step := 0; !jobOf(view, "a").Rounds.Open.Complete(); step++ {
					began := time.Now()
					grants := board.Lease(view, fmt.Sprintf("w%04d", step%workers), 16, time.Duration(step))
					took := time.Since(began)
					slowest, leasing, calls = max(slowest, took), leasing+took, calls+1
					var done []*pb.Completion
					for _, g := range grants {
						done = append(done, nodeDone(g.Task))
					}
					view = run(b, view, completions(done...))
					for _, g := range grants {
						board.Done(jobOf(view, "a"), g.Task, fmt.Sprintf("w%04d", step%workers), true, 0)
					}
				}
				b.ReportMetric(float64(leasing.Microseconds())/float64(calls), "us/lease")
				b.ReportMetric(float64(slowest.Microseconds()), "us/slowest")
				b.ReportMetric(float64(calls), "calls")
			}
		})
	}
}

// BenchmarkLeaseNothing times the call of an idle worker late in a round: every
// second leaf is committed, the others are leased.
func BenchmarkLeaseNothing(b *testing.B) {
	view, board := wide(b, 100_000, 6250)
	for w := range 6250 {
		grants := board.Lease(view, fmt.Sprintf("w%04d", w), 16, 0)
		var done []*pb.Completion
		for i, g := range grants {
			if i%2 == 0 {
				done = append(done, nodeDone(g.Task))
			}
		}
		view = run(b, view, completions(done...))
		for i, g := range grants {
			if i%2 == 0 {
				board.Done(jobOf(view, "a"), g.Task, fmt.Sprintf("w%04d", w), true, 0)
			}
		}
	}
	for { // what is left
		if len(board.Lease(view, "w0000", 256, 0)) == 0 {
			break
		}
	}
	b.ResetTimer()
	for b.Loop() {
		board.Lease(view, "w0000", 16, 0)
	}
}
