package clustertest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// MatrixQuorum runs cases at the same time on three coordinators with workers of every kernel set,
// and kills the leader twice while jobs are in mid-round, each time with a batch of all cases on its way.
// Every model must have Case.Digest.
func MatrixQuorum(t *testing.T, cases ...Case) {
	t.Helper()
	cases = withFirst(cases)
	q := StartQuorum(t, 3, 2*time.Second)
	p := directory(t)
	sets := kernelops.All()
	for i := range 3 {
		q.Work(t, sets[i%len(sets)].Name, 2)
	}
	defer q.StopWorkers(t)
	specs := make(map[string]string)
	for _, c := range cases {
		specs[c.Name] = c.Spec(p.inputs(t, c, c.Name, c.Objects))
	}
	const batches = 2
	for batch := range batches {
		for _, c := range cases {
			q.Write(t, batchID(batch, c), specs[c.Name])
		}
		q.killInMidRound(t, batch, cases)
	}
	for batch := range batches {
		for _, c := range cases {
			p.wantResult(t, c, q.Wait(t, batchID(batch, c), 2*time.Minute), c.want)
		}
	}
}

func batchID(batch int, c Case) string { return fmt.Sprintf("%s-%d", c.Name, batch) }

// killInMidRound kills the leader while a job of the batch has a part of a round, and starts it again.
func (q *Quorum) killInMidRound(t *testing.T, batch int, cases []Case) {
	t.Helper()
	leader := q.Leader(t)
	q.Jobs = leader.Jobs
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	busy := ""
	Poll(ctx, t, "a job in mid-round", func() bool {
		for _, c := range cases {
			job := q.Get(t, batchID(batch, c))
			progress := job.GetProgress()
			if job.GetState() == pb.JobState_JOB_STATE_RUNNING && progress.GetTasksLeased() > 0 &&
				progress.GetLeavesDone() < progress.GetLeaves() {
				busy = job.GetId()
				return true
			}
		}
		return false
	})
	leader.Kill()
	t.Logf("killed %s while %s was in mid-round", leader.ID, busy)
	for _, m := range q.Members {
		if m != leader {
			q.Jobs = m.Jobs
		}
	}
	q.Start(t, leader)
	q.AwaitListening(t, leader)
	q.AwaitVotes(t, len(q.Members))
}

// MatrixMinIO runs cases on clusters over MinIO, input and job objects, under the generic kernel set with
// one worker and under the best with three. Every model must have Case.Digest.
func MatrixMinIO(t *testing.T, cases ...Case) {
	t.Helper()
	p := s3Place(t, s3server.MinIO)
	cluster := StartCluster(t, p.jobStore(t), 2*time.Second, p.env...)
	in := make(map[string]Inputs)
	for _, c := range cases {
		in[c.Name] = p.inputs(t, c, c.Name, c.Objects)
	}
	for workers, set := range map[int]*kernelops.Set{1: kernelops.Generic(), 3: kernelops.Best()} {
		t.Run(fmt.Sprintf("%s/%d-workers", set.Name, workers), func(t *testing.T) {
			onCluster(t, cases, p, cluster, in, set.Name, workers)
		})
	}
}
