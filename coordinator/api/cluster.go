// Package api is the services that clients, workers and other members call. They ask the cluster through interfaces
// of their own.
package api

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Cluster is what the services ask of the cluster.
type Cluster interface {
	// Read returns a state that holds every write acknowledged before the call, and a channel that is closed when
	// it has changed.
	Read(ctx context.Context) (state.State, <-chan struct{}, error)
	// View returns the state as far as this member knows it.
	View() (state.State, <-chan struct{})
	// Agree puts a command in the log; a refusal is an error.
	Agree(ctx context.Context, cmd *pb.Command) (state.Reply, error)
	// Describe is a job as people see it.
	Describe(job *state.Job) *pb.Job
	// Brief describes jobs of a view without their specs and rounds.
	Brief(view state.State, jobs []*state.Job) []*pb.Job
	ETA(job *state.Job) *pb.Eta
	// RecentETA is an ETA that may be some seconds old, made once for all who watch a job.
	RecentETA(job *state.Job) *pb.Eta
	// CountLeaves counts the leaves of a job's open round by state; Course is what the leader remembers of a job.
	CountLeaves(id string, ranges int) (*pb.LeavesResponse, error)
	Course(id string) (*pb.TimelineResponse, error)
	// EndedReport is the page and the report.json of a job that failed or was cancelled.
	EndedReport(ctx context.Context, job *state.Job) (page, data []byte, err error)
	// Fits refuses a job that no worker has the memory for.
	Fits(cmd *pb.SubmitJob) error
	// Wall is the time of ticks and deadlines, Admitted the time that tokens are judged by.
	Wall() time.Time
	Admitted() time.Time
	// Stopping is closed when calls that wait are to end.
	Stopping() <-chan struct{}
}

func readJob(ctx context.Context, c Cluster, id string) (*state.Job, <-chan struct{}, error) {
	view, changed, err := c.Read(ctx)
	if err != nil {
		return nil, nil, err
	}
	job, ok := view.Job(id)
	if !ok {
		return nil, nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("no job %q", id))
	}
	return job, changed, nil
}
