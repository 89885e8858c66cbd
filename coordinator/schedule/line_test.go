package schedule_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

// How many jobs come before one is what comparing it with each other job gives.
func TestLineCountsWhoComesBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := state.New()
		jobs := rapid.IntRange(1, 20).Draw(t, "jobs")
		for n := range jobs {
			var needs []string
			if n > 0 && rapid.IntRange(0, 4).Draw(t, "needy") == 0 {
				needs = []string{fmt.Sprint("j", rapid.IntRange(0, n-1).Draw(t, "need"))}
			}
			cmd := submitted(fmt.Sprint("j", n), rapid.Int32Range(-1, 1).Draw(t, "priority"), 0, needs...)
			cmd.NowUnixMs = int64(n) * rapid.Int64Range(0, 60_000).Draw(t, "pause")
			commands := []*pb.Command{cmd}
			if rapid.IntRange(0, 3).Draw(t, "started") == 0 {
				commands = append(commands, start(fmt.Sprint("j", n)))
			}
			for _, cmd := range commands {
				next, reply := state.Apply(view, cmd)
				if reply.Err != nil {
					t.Fatal(reply.Err)
				}
				view = next
			}
		}
		line := schedule.LineOf(schedule.DefaultConfig(), view)
		view.EachJob(func(job *state.Job) bool {
			if job.Stage != pb.JobState_JOB_STATE_QUEUED || len(job.Needs) > 0 {
				return true
			}
			rank := func(j *state.Job) int64 { return int64(j.Priority) + (view.Now-j.SubmittedAt)/60_000 }
			running, before := 0, 0
			view.EachJob(func(other *state.Job) bool {
				switch {
				case other.Stage != pb.JobState_JOB_STATE_QUEUED:
					running++
				case len(other.Needs) > 0: // none has succeeded
				case rank(other) > rank(job), rank(other) == rank(job) && other.Number < job.Number:
					before++
				}
				return true
			})
			verb := map[bool]string{true: "job runs", false: "jobs run"}[running == 1]
			want := fmt.Sprintf("waits for its turn: %d %s, 16 may at a time, and %d come before it", running,
				verb, before)
			if got := line.Waits(job); !strings.HasPrefix(got, want) {
				t.Fatalf("%s %s, want %s", job.ID, got, want)
			}
			return true
		})
	})
}
