package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Bounds of what one call reads and answers.
const (
	usualRanges   = 256
	maxRanges     = 512
	maxRounds     = 64
	maxMetrics    = 4 << 20 // of a round
	maxAllMetrics = 8 << 20 // of an answer: in memory they are ten times as much
	maxReportPage = 16 << 20
)

// reportPage is what a job's report is called among its outputs.
const reportPage = "report.html"

// Leaves counts the leaves of a job's open round by state.
func (s *Jobs) Leaves(
	ctx context.Context, req *connect.Request[pb.LeavesRequest],
) (*connect.Response[pb.LeavesResponse], error) {
	job, _, err := readJob(ctx, s, req.Msg.GetId())
	if err != nil {
		return nil, err
	}
	ranges := int(req.Msg.GetRanges())
	if ranges == 0 {
		ranges = usualRanges
	}
	return respond(s.CountLeaves(job.ID, min(ranges, maxRanges)))
}

// Timeline returns which worker did what when for a job.
func (s *Jobs) Timeline(
	ctx context.Context, req *connect.Request[pb.TimelineRequest],
) (*connect.Response[pb.TimelineResponse], error) {
	job, _, err := readJob(ctx, s, req.Msg.GetId())
	if err != nil {
		return nil, err
	}
	return respond(s.Course(job.ID))
}

// Metrics returns the numbers that rounds found.
func (s *Jobs) Metrics(
	ctx context.Context, req *connect.Request[pb.MetricsRequest],
) (*connect.Response[pb.MetricsResponse], error) {
	if n := len(req.Msg.GetRounds()); n > maxRounds {
		return nil, connect.NewError(connect.CodeInvalidArgument,
			fmt.Errorf("%d rounds are asked for; at most %d a call", n, maxRounds))
	}
	job, _, err := readJob(ctx, s, req.Msg.GetId())
	if err != nil {
		return nil, err
	}
	res, left := &pb.MetricsResponse{}, int64(maxAllMetrics)
	for _, number := range req.Msg.GetRounds() {
		found := &pb.RoundMetrics{Round: number}
		if found.Metrics, err = s.metricsOf(ctx, job, number, &left); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		} else if err != nil {
			found.Missing = err.Error()
		}
		res.Rounds = append(res.Rounds, found)
	}
	return connect.NewResponse(res), nil
}

// metricsOf reads the numbers that a round found, if they are not more than what is left to read.
func (s *Jobs) metricsOf(
	ctx context.Context, job *state.Job, number uint32, left *int64,
) ([]*pb.RoundMetric, error) {
	for _, r := range job.Rounds.Finished {
		if r.Number != number || r.Metrics.IsZero() {
			continue
		}
		if r.Metrics.Size > *left {
			return nil, errors.New("not read: this answer has read as much of the store as one may; ask for fewer rounds")
		}
		*left -= r.Metrics.Size
		data, err := readObject(ctx, s.Store, protocol.ObjectKey(job.ID, r.Number, r.Metrics.SHA256), r.Metrics,
			maxMetrics)
		if err != nil {
			return nil, err
		}
		return numbersIn(data)
	}
	return nil, errors.New("the round has not ended, or is not among those that are remembered")
}

// numbersIn are the finite numbers among a round's metrics, in their order.
func numbersIn(data []byte) (numbers []*pb.RoundMetric, err error) {
	var metrics []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(data, &metrics); err != nil {
		return nil, fmt.Errorf("the metrics are no list of names and values: %w", err)
	}
	for _, m := range metrics {
		var value *float64
		if json.Unmarshal(m.Value, &value) == nil && value != nil && !math.IsInf(*value, 0) && !math.IsNaN(*value) {
			numbers = append(numbers, &pb.RoundMetric{Name: m.Name, Value: *value})
		}
	}
	return numbers, nil
}

// Report returns the report page of a job that has ended.
func (s *Jobs) Report(
	ctx context.Context, req *connect.Request[pb.ReportRequest],
) (*connect.Response[pb.ReportResponse], error) {
	job, _, err := readJob(ctx, s, req.Msg.GetId())
	if err != nil {
		return nil, err
	}
	if job.Ended() && job.Stage != pb.JobState_JOB_STATE_SUCCEEDED {
		page, data, err := s.EndedReport(ctx, job)
		if err != nil {
			return nil, connect.NewError(connect.CodeUnavailable, err)
		}
		return connect.NewResponse(&pb.ReportResponse{Page: page, Data: data}), nil
	}
	for _, o := range job.Outputs {
		if o.Name != reportPage {
			continue
		}
		key := protocol.OutputPrefix(job.ID) + reportPage
		if o.URI != s.Commands.StoreURI+"/"+key {
			return nil, connect.NewError(connect.CodeFailedPrecondition,
				fmt.Errorf("the report of job %s is at %s, not in the cluster's own store: open it there", job.ID,
					o.URI))
		}
		page, err := readObject(ctx, s.Store, key, o.Ref, maxReportPage)
		if err != nil {
			return nil, connect.NewError(connect.CodeUnavailable, fmt.Errorf("read the report: %w", err))
		}
		return connect.NewResponse(&pb.ReportResponse{Page: page}), nil
	}
	return nil, connect.NewError(connect.CodeFailedPrecondition,
		fmt.Errorf("job %s has no report yet: it is written when the job ends", job.ID))
}

// readObject reads an object whole, and compares it with what the log knows of it.
func readObject(ctx context.Context, store objstore.Store, key string, ref state.Ref, most int64) ([]byte, error) {
	if ref.Size > most {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that are read", key, ref.Size, most)
	}
	body, _, err := store.Get(ctx, key, objstore.GetOptions{})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var data bytes.Buffer
	if _, err := io.Copy(&data, io.LimitReader(body, ref.Size+1)); err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	if sha256.Sum256(data.Bytes()) != ref.SHA256 {
		return nil, fmt.Errorf("%s is damaged: its SHA-256 is not the one in the log", key)
	}
	return data.Bytes(), nil
}
