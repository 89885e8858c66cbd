package main

import (
	"testing"
	"time"

	"github.com/gram-compute/gram/chaos/checker"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Lists at seconds 0, 10, 20 and 30: a job that was open at 10 and ended at 20 is gone at 30.
func TestAnArchiveKeepsWhatTheClusterRetires(t *testing.T) {
	began := time.Unix(1_700_000_000, 0)
	at := func(second int) time.Time { return began.Add(time.Duration(second) * time.Second) }
	open := &pb.Job{Id: "a", State: pb.JobState_JOB_STATE_RUNNING}
	ended := &pb.Job{Id: "a", State: pb.JobState_JOB_STATE_SUCCEEDED, FinishedUnixMs: 1}
	quick := &pb.Job{Id: "b", State: pb.JobState_JOB_STATE_CANCELLED, FinishedUnixMs: 2}
	a := &archive{asked: began, seen: make(map[string]*checker.Sighting)}
	a.add([]*pb.Job{open}, at(10), at(11))
	a.add([]*pb.Job{ended, quick}, at(20), at(21))
	a.add([]*pb.Job{quick}, at(30), at(31))
	a.add(nil, at(40), at(41))
	want := []checker.Sighting{
		{Job: ended, Open: at(10), Over: at(21), Gone: at(31)},
		{Job: quick, Open: at(10), Over: at(21), Gone: at(41)}, // it was not there when the list before was asked for
	}
	got := a.sightings()
	if len(got) != len(want) {
		t.Fatalf("%d jobs, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("job %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}
