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

// A status and a checkpoint hash the whole state, so what that takes for each of many retired jobs is garbage that
// makes the heap of every member larger.
func TestDigestsOfRetiredJobsTakeLittle(t *testing.T) {
	const n, most = 5_000, 48
	s := state.New()
	for i := range uint32(n) {
		id := fmt.Sprintf("job-%06d", i)
		s, _ = run(t, s, submit(id, "h"), &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: id}}},
			retire(int64(5000+2*i), 1, id), markSwept(nil, []string{id}))
	}
	if s.JobCount() != 0 || s.Retired.Count() != n {
		t.Fatalf("%d jobs, %d retired", s.JobCount(), s.Retired.Count())
	}
	s.Digest() // the first prepares what protobuf keeps
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.Digest()
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / n
	t.Logf("%d bytes each", each)
	if each > most {
		t.Errorf("a digest takes %d bytes for each retired job, want at most %d", each, most)
	}
}
