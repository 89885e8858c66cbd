package workload

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/chaos/history"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// callLimit bounds one call. A member that knows of no leader answers after five seconds.
const callLimit = 7 * time.Second

// Member is whom clients call.
type Member struct {
	Name string
	API  string // host:port
}

// client makes one call at a time and records each.
type client struct {
	id      int
	rng     *rand.Rand
	rec     *history.Recorder
	members []Member
	http    *http.Client
	options connect.ClientOption
	at      int // the member it calls
}

// turn chooses whom to call next: mostly who answered last.
func (c *client) turn(answered bool) {
	if !answered || c.rng.IntN(8) == 0 {
		c.at = c.rng.IntN(len(c.members))
	}
}

func (c *client) jobs() gramv1connect.JobServiceClient {
	return gramv1connect.NewJobServiceClient(c.http, "https://"+c.members[c.at].API, c.options)
}

func (c *client) schedules() gramv1connect.ScheduleServiceClient {
	return gramv1connect.NewScheduleServiceClient(c.http, "https://"+c.members[c.at].API, c.options)
}

func (c *client) cluster() gramv1connect.ClusterServiceClient {
	return gramv1connect.NewClusterServiceClient(c.http, "https://"+c.members[c.at].API, c.options)
}

// call makes a call and records it; do fills in what was answered.
func (c *client) call(ctx context.Context, op history.Operation,
	do func(context.Context, *history.Operation) error) history.Operation {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), callLimit) // a call begun is waited for
	defer cancel()
	op.Client, op.Member, op.Invoked = c.id, c.members[c.at].Name, c.rec.Now()
	err := do(limited, &op)
	op.Returned = c.rec.Now()
	op.Outcome = outcome(err)
	if err != nil {
		op.Code, op.Error = connect.CodeOf(err).String(), err.Error()
	}
	c.rec.Add(op)
	c.turn(op.Outcome != history.Unknown)
	return op
}

// refusals are the codes that say that nothing was done.
var refusals = []connect.Code{connect.CodeNotFound, connect.CodeAlreadyExists, connect.CodeInvalidArgument,
	connect.CodeFailedPrecondition, connect.CodeResourceExhausted, connect.CodePermissionDenied,
	connect.CodeUnauthenticated}

func outcome(err error) history.Outcome {
	switch {
	case err == nil:
		return history.OK
	case slices.Contains(refusals, connect.CodeOf(err)) && connect.IsWireError(err):
		return history.Refused
	}
	return history.Unknown
}

func (c *client) submit(ctx context.Context, id string, s Spec) history.Operation {
	op := history.Operation{Kind: history.Submit, Job: id, SpecHash: s.Hash, Spec: s.Name}
	return c.call(ctx, op, func(ctx context.Context, op *history.Operation) error {
		res, err := c.jobs().Submit(ctx, connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: s.JSON}))
		if err == nil {
			op.Created, op.Seen = res.Msg.GetCreated(), seen(res.Msg.GetJob())
		}
		return err
	})
}

func (c *client) get(ctx context.Context, id string) history.Operation {
	return c.call(ctx, history.Operation{Kind: history.Get, Job: id},
		func(ctx context.Context, op *history.Operation) error {
			res, err := c.jobs().Get(ctx, connect.NewRequest(&pb.GetRequest{Id: id}))
			if err == nil {
				op.Seen = seen(res.Msg.GetJob())
			}
			return err
		})
}

func (c *client) cancel(ctx context.Context, id string) history.Operation {
	return c.call(ctx, history.Operation{Kind: history.Cancel, Job: id},
		func(ctx context.Context, op *history.Operation) error {
			res, err := c.jobs().Cancel(ctx, connect.NewRequest(&pb.CancelRequest{Id: id}))
			if err == nil {
				op.Seen = seen(res.Msg.GetJob())
			}
			return err
		})
}

func (c *client) list(ctx context.Context) history.Operation {
	return c.call(ctx, history.Operation{Kind: history.List}, func(ctx context.Context, op *history.Operation) error {
		res, err := c.jobs().List(ctx, connect.NewRequest(&pb.ListRequest{Limit: 50}))
		if err == nil {
			for _, job := range res.Msg.GetJobs() {
				op.Listed = append(op.Listed, *seen(job))
			}
		}
		return err
	})
}

func (c *client) status(ctx context.Context) history.Operation {
	return c.call(ctx, history.Operation{Kind: history.Status}, func(ctx context.Context, op *history.Operation) error {
		res, err := c.cluster().Status(ctx, connect.NewRequest(&pb.StatusRequest{}))
		if err == nil {
			m := res.Msg
			op.Status = &history.Position{Leader: m.GetLeader(), Term: m.GetTerm(), Index: m.GetAppliedIndex(),
				Digest: hex.EncodeToString(m.GetStateSha256())}
		}
		return err
	})
}

func (c *client) createSchedule(ctx context.Context, definition *pb.ScheduleDefinition) history.Operation {
	op := history.Operation{Kind: history.CreateSchedule, Schedule: definition.GetId()}
	return c.call(ctx, op, func(ctx context.Context, op *history.Operation) error {
		res, err := c.schedules().CreateSchedule(ctx,
			connect.NewRequest(&pb.CreateScheduleRequest{Definition: definition}))
		if err == nil {
			op.Created, op.Ticks = res.Msg.GetCreated(), ticks(res.Msg.GetSchedule())
		}
		return err
	})
}

func (c *client) getSchedule(ctx context.Context, id string) history.Operation {
	op := history.Operation{Kind: history.GetSchedule, Schedule: id}
	return c.call(ctx, op, func(ctx context.Context, op *history.Operation) error {
		res, err := c.schedules().GetSchedule(ctx, connect.NewRequest(&pb.GetScheduleRequest{Id: id}))
		if err == nil {
			op.Ticks = ticks(res.Msg.GetSchedule())
		}
		return err
	})
}

func ticks(s *pb.Schedule) *history.TickState {
	return &history.TickState{LastTick: s.GetLastTickUnixMs(), Fired: s.GetFired(), Skipped: s.GetSkipped()}
}

func seen(job *pb.Job) *history.Job {
	out := &history.Job{ID: job.GetId(), SpecHash: job.GetSpecHash(), Round: job.GetProgress().GetRound(),
		Remade:  job.GetCounters().GetRemade().GetChanges(),
		State:   history.State(strings.ToLower(strings.TrimPrefix(job.GetState().String(), "JOB_STATE_"))),
		Failure: job.GetFailure().GetCode(), Schedule: job.GetScheduleId(), Tick: job.GetTickUnixMs()}
	for _, f := range job.GetOutputs() {
		if f.GetName() == "model.safetensors" {
			out.Model = hex.EncodeToString(f.GetSha256())
		}
	}
	return out
}
