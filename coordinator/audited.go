package coordinator

import (
	"context"
	"errors"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/audit"
	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// AuditFile is the audit log's name in the data directory.
const AuditFile = "audit.jsonl"

// AuditOff as Config.Audit writes none.
const AuditOff = "off"

// openAudit opens the audit log that the configuration asks for.
func (c *Coordinator) openAudit() error {
	to := c.cfg.AuditTo
	file := c.cfg.Audit
	if file == "" && c.cfg.DataDir != "" {
		file = filepath.Join(c.cfg.DataDir, AuditFile)
	}
	if to == nil && file != "" && file != AuditOff {
		opened, err := audit.OpenFile(file)
		if err != nil {
			return err
		}
		to = opened
	}
	if to != nil {
		c.audit = audit.New(to, c.cfg.Logger)
	}
	return nil
}

// unaudited are what a token may call that changes something, and that leaves a line only when the gate
// refuses it: the workers' ceaseless traffic, whose results the log and the provenance hold.
var unaudited = map[string]bool{
	"/gram.v1.WorkerService/Lease":     true,
	"/gram.v1.WorkerService/Heartbeat": true,
	"/gram.v1.WorkerService/Complete":  true,
}

// audited reports whether calls of a procedure leave a line: all do that need more than reading.
func audited(procedure string) bool {
	scope := gate.Routes[procedure]
	return scope != "" && scope != gate.ScopeRead && !unaudited[procedure]
}

// trail gathers what is known of a call on its way through.
type trail struct {
	object string
	index  uint64 // of the last entry it became
	code   string // of its error; "" is none
	err    error
	served bool // it reached its service
}

type trailKey struct{}

func trailOf(ctx context.Context) *trail {
	t, _ := ctx.Value(trailKey{}).(*trail)
	return t
}

// writeTrails leaves one line for each audited call that this member answers itself; one that it
// hands on leaves its line at the leader.
func (c *Coordinator) writeTrails(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !audited(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		t := &trail{}
		defer func() { c.audit.Write(c.record(r, gate.CallerOf(r.Context()), t)) }()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), trailKey{}, t)))
	})
}

func (c *Coordinator) record(r *http.Request, caller gate.Caller, t *trail) audit.Record {
	from := originOf(r)
	rec := audit.Record{
		Time: c.wall(), Member: c.cfg.NodeID, Who: who(caller), What: procedureName(r.URL.Path), Object: t.object,
		Result: audit.OK, Source: from.address, Via: from.via, RaftIndex: t.index,
	}
	switch {
	case !t.served:
		rec.Result, rec.Reason = audit.Refused, "the request could not be read"
	case t.err != nil:
		rec.Result, rec.Reason = audit.Refused, reasonOf(t.code, t.err)
		if errors.Is(t.err, outcome.ErrUnknownOutcome) {
			rec.Result = audit.Unknown
		}
	}
	return rec
}

// reasonOf tells what may be told: an error's code, and of the messages those alone that are made of
// ids and numbers. Others quote specs.
func reasonOf(code string, err error) string {
	var rejection *state.Rejection
	if errors.As(err, &rejection) {
		return code + ": " + rejection.Message
	}
	for _, known := range []error{outcome.ErrNotLeader, outcome.ErrUnknownOutcome, outcome.ErrShutdown, outcome.ErrEntryTooBig, gate.ErrForbidden, gate.ErrUnknownPath, gate.ErrTooManyCalls, gate.ErrUnauthenticated} {
		if errors.Is(err, known) {
			return code + ": " + known.Error()
		}
	}
	return code
}

func who(caller gate.Caller) string {
	switch {
	case caller.TokenID != "":
		return "token " + caller.TokenID
	case caller.Role != "":
		return "certificate " + string(caller.Role)
	}
	return "stranger"
}

// procedureName is short for a route: "JobService.Submit". What is no route is told as the request said it.
func procedureName(route string) string {
	if gate.Routes[route] == "" {
		return route
	}
	return strings.TrimPrefix(path.Base(path.Dir(route)), "gram.v1.") + "." + path.Base(route)
}

// denied counts and writes down what the gate refused.
func (c *Coordinator) denied(r *http.Request, caller gate.Caller, reason error) {
	c.meters.denied.WithLabelValues(denial(reason)).Inc()
	if errors.Is(reason, gate.ErrUnauthenticated) || errors.Is(reason, gate.ErrTooManyCalls) {
		bounds.Waste(r.Context())
	}
	rec := c.record(r, caller, &trail{served: true, err: reason, code: denial(reason)})
	rec.Result = audit.Refused
	c.audit.Write(rec)
}

// followTrails is the interceptor that tells a call's trail its object and its end.
type followTrails struct{}

// WrapUnary implements connect.Interceptor.
func (followTrails) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		res, err := next(ctx, req)
		if t := trailOf(ctx); t != nil {
			t.end(err)
			if m, ok := req.Any().(proto.Message); ok {
				t.object = objectOf(m.ProtoReflect(), 2)
			}
			if t.object == "" && err == nil {
				if m, ok := res.Any().(proto.Message); ok {
					t.object = objectOf(m.ProtoReflect(), 2)
				}
			}
		}
		return res, err
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (followTrails) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		err := next(ctx, conn)
		if t := trailOf(ctx); t != nil {
			t.end(err)
		}
		return err
	}
}

// WrapStreamingClient implements connect.Interceptor: there are no such clients here.
func (followTrails) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// entered notes that a call became an entry of the log.
func (t *trail) entered(index uint64) {
	if t != nil {
		t.index = index
	}
}

func (t *trail) end(err error) {
	t.served, t.err = true, err
	if err != nil {
		t.code = connect.CodeOf(err).String()
	}
}

// objectOf finds the id of what a message is about: the first field so called, in it or in the
// messages within.
func objectOf(m protoreflect.Message, depth int) string {
	for _, name := range []protoreflect.Name{"id", "job_id", "schedule_id", "worker_id", "alias", "name"} {
		if f := m.Descriptor().Fields().ByName(name); f != nil && f.Kind() == protoreflect.StringKind && !f.IsList() && m.Get(f).String() != "" {
			return m.Get(f).String()
		}
	}
	if depth == 0 {
		return ""
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Kind() == protoreflect.MessageKind && !f.IsList() && !f.IsMap() && m.Has(f) {
			if id := objectOf(m.Get(f).Message(), depth-1); id != "" {
				return id
			}
		}
	}
	return ""
}

// decided writes down a command that this leader proposed by itself; nothing else needs to be done for
// a new one. Completions are left out: they are many, and the workers'.
func (c *Coordinator) decided(cmd *pb.Command, reply state.Reply, index uint64, err error) {
	body := cmd.ProtoReflect().WhichOneof(cmd.ProtoReflect().Descriptor().Oneofs().ByName("body"))
	if body == nil || cmd.GetComplete() != nil {
		return
	}
	rec := audit.Record{
		Time: time.UnixMilli(cmd.GetNowUnixMs()), Member: c.cfg.NodeID, Who: "leader", What: string(body.Name()),
		Object: objectOf(cmd.ProtoReflect().Get(body).Message(), 0), Result: audit.OK, RaftIndex: index,
	}
	if err == nil && reply.Err != nil {
		err = reply.Err
	}
	switch {
	case errors.Is(err, outcome.ErrUnknownOutcome):
		rec.Result, rec.Reason = audit.Unknown, reasonOf("unavailable", err)
	case err != nil:
		rec.Result, rec.Reason = audit.Refused, reasonOf("refused", err)
	}
	if fire := cmd.GetFireSlot(); fire != nil {
		describeSlot(&rec, fire, reply)
	}
	if len(reply.Retired) > 0 {
		rec.Object = "jobs " + strings.Join(reply.Retired, " ")
	}
	c.audit.Write(rec)
}

// describeSlot tells which slot, and its job.
func describeSlot(rec *audit.Record, fire *pb.FireSlot, reply state.Reply) {
	rec.Who = "schedule " + fire.GetScheduleId()
	rec.Object = "slot " + utc(fire.GetSlotUnixMs()).Format(time.RFC3339Nano)
	switch {
	case rec.Result != audit.OK:
	case fire.GetJob() == nil:
		rec.Reason = "skipped: " + skipName(fire.GetSkip())
	case reply.Schedule != nil && len(reply.Schedule.Recent) > 0:
		rec.Object += ", job " + reply.Schedule.Recent[len(reply.Schedule.Recent)-1].JobID
	}
}
