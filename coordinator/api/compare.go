package api

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/compare"
	"github.com/gram-compute/gram/coordinator/findings"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	compareWithin = 20 * time.Second // for all that a comparison reads of the store
	maxCompared   = 2 * state.MaxRoundRecords
	comparisons   = 4 // at once: each may hold some ten times the bytes that it read
)

// Compares implements gramv1connect.CompareServiceHandler.
type Compares struct {
	cluster  Cluster
	store    objstore.Store // the cluster's own
	findings *findings.Reader
	reading  chan struct{} // who holds what was read of rounds: a few comparisons at a time
	turn     chan struct{} // who reads models: one comparison at a time
}

// NewCompares compares jobs of a cluster.
func NewCompares(cluster Cluster, store objstore.Store, found *findings.Reader) *Compares {
	return &Compares{cluster, store, found, make(chan struct{}, comparisons), make(chan struct{}, 1)}
}

// CompareJobs compares two jobs as far as the log and the cluster's own store tell of them.
func (s *Compares) CompareJobs(
	ctx context.Context, req *connect.Request[pb.CompareJobsRequest],
) (*connect.Response[pb.CompareJobsResponse], error) {
	view, _, err := s.cluster.Read(ctx)
	if err != nil {
		return nil, err
	}
	var pair [2]*state.Job
	for i, reference := range []string{req.Msg.GetLeft(), req.Msg.GetRight()} {
		job, refused := view.Resolve(reference)
		if refused != nil {
			return nil, refused
		}
		pair[i] = job
	}
	within, cancel := context.WithTimeoutCause(ctx, compareWithin, errTooSlow)
	defer cancel()
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-within.Done():
		return nil, connect.NewError(connect.CodeResourceExhausted, errTooMany)
	}
	var gaps gaps
	left, right := s.sides(within, pair, &gaps)
	difference := s.difference(within, pair, &gaps)
	if ctx.Err() != nil {
		return nil, outcome.Wire(context.Cause(ctx))
	}
	c, err := compare.Answer(left, right, difference)
	if err != nil {
		return nil, err
	}
	c.NotCompared = gaps.rows
	return connect.NewResponse(&pb.CompareJobsResponse{Comparison: c}), nil
}

var errTooMany = errors.New("other comparisons are being made; ask again")

var errTooSlow = fmt.Errorf("the store did not answer within %v", compareWithin)

// gaps are what was not compared.
type gaps struct{ rows []*pb.NotCompared }

func (g *gaps) add(what, why, hint string) {
	g.rows = append(g.rows, &pb.NotCompared{What: what, Why: protocol.Visible(why), Hint: hint})
}

// sides are the jobs with what their rounds found.
func (s *Compares) sides(ctx context.Context, pair [2]*state.Job, gaps *gaps) (left, right compare.Side) {
	var wanted []findings.Wanted
	for _, job := range pair {
		for _, round := range job.Rounds.Since() {
			wanted = append(wanted, findings.Wanted{Job: job.ID, Round: round})
		}
	}
	found := s.findings.Read(ctx, wanted, maxCompared)
	var sides [2]compare.Side
	for i, job := range pair {
		rounds := job.Rounds.Since()
		sides[i] = sideOf(job, rounds)
		var failed error
		failures := 0
		for _, f := range found[:len(rounds)] {
			if f.Err != nil {
				failures, failed = failures+1, f.Err
			}
			sides[i].Found = append(sides[i].Found, f.Metrics...)
		}
		found = found[len(rounds):]
		if failures > 0 {
			gaps.add("metrics of "+job.ID, fmt.Sprintf("what %s of %d found could not be read; the last: %v",
				protocol.Counted(failures, "round"), len(rounds), failed), "")
		}
		if len(rounds) > 0 && rounds[0].Number > 1 {
			gaps.add("rounds of "+job.ID, fmt.Sprintf("those before round %d: the log has the newest %d, since the "+
				"job began the last time", rounds[0].Number, len(rounds)), "report.json beside the model has no others.")
		}
		if !job.Ended() {
			gaps.add("the end of "+job.ID, "it has not ended: its metrics and curves are those of the rounds so far",
				"Compare again when it has.")
		}
	}
	return sides[0], sides[1]
}

func sideOf(job *state.Job, rounds []state.RoundRecord) compare.Side {
	side := compare.Side{Spec: job.SpecJSON, Kernels: job.Kernels, Job: &pb.ComparedJob{
		Id: job.ID, Name: job.Name, Kind: job.Kind, State: job.Stage, SubmittedUnixMs: job.SubmittedAt,
		StartedUnixMs: job.StartedAt, FinishedUnixMs: job.FinishedAt, Rounds: uint32(len(rounds)),
		ResultHash: job.ResultHash,
	}}
	if job.Failure != nil {
		side.Job.Failure = job.Failure.Message
	}
	if job.HasModel() {
		side.Job.ModelSha256, side.Job.ModelSize = job.Model.SHA256[:], job.Model.Size
	}
	if !job.Manifest.IsZero() {
		side.Input = hex.EncodeToString(job.Manifest.SHA256[:])
	}
	for _, r := range rounds {
		side.Rounds = append(side.Rounds, compare.Round{Number: r.Number, Phase: r.Phase, State: r.State.SHA256})
	}
	return side
}
