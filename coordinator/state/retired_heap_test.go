package state_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// All that is left of a job that was retired and swept is that its id is taken: it costs the id and some fifteen bytes.
func TestSweptRetiredJobsAreSmall(t *testing.T) {
	const n, most = 5_000, 100
	for kind, name := range map[string]func(uint32) string{
		"counted":       func(i uint32) string { return fmt.Sprintf("job-%06d", i) },
		"of a schedule": func(i uint32) string { return fmt.Sprintf("nightly-%08x%012x", i*2654435761, i) },
	} {
		s, before := state.New(), state.LiveHeap()
		for i := range uint32(n) {
			id, now := name(i), int64(5000+2*i)
			s, _ = run(t, s, submit(id, "h"), &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: id}}},
				retire(now, 1, id), markSwept(nil, []string{id}))
		}
		each := (state.LiveHeap() - before) / n
		if s.JobCount() != 0 || s.Retired.Count() != n {
			t.Fatalf("%s: %d jobs, %d retired", kind, s.JobCount(), s.Retired.Count())
		}
		t.Logf("%s: %d bytes each", kind, each)
		if each > most {
			t.Errorf("%s: a retired job costs %d bytes, want at most %d", kind, each, most)
		}
		runtime.KeepAlive(s)
	}
}
