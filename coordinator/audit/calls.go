package audit

import (
	"errors"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
)

// unaudited are what a token may call that changes something, and that leaves a line only when the gate
// refuses it: the workers' ceaseless traffic, whose results the log and the provenance hold.
var unaudited = map[string]bool{
	"/gram.v1.WorkerService/Lease":     true,
	"/gram.v1.WorkerService/Heartbeat": true,
	"/gram.v1.WorkerService/Complete":  true,
}

// Audited reports whether calls of a procedure leave a line: all do that need more than reading.
func Audited(procedure string) bool {
	scope := gate.Routes[procedure]
	return scope != "" && scope != gate.ScopeRead && !unaudited[procedure]
}

// Trails writes the lines of one member.
type Trails struct {
	Log    *Log // nil writes none
	Member string
	Now    func() time.Time
}

// Calls leaves one line for each audited call that this member answers itself; one that it
// hands on leaves its line at the leader.
func (trails Trails) Calls(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Audited(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		t := &Trail{}
		defer func() { trails.Log.Write(trails.record(r, gate.CallerOf(r.Context()), t)) }()
		next.ServeHTTP(w, r.WithContext(With(r.Context(), t)))
	})
}

func (trails Trails) record(r *http.Request, caller gate.Caller, t *Trail) Record {
	from := gate.OriginOf(r)
	rec := Record{
		Time: trails.Now(), Member: trails.Member, Who: who(caller), What: ProcedureName(r.URL.Path), Object: t.object,
		Result: OK, Source: from.Address, Via: from.Via, RaftIndex: t.Index,
	}
	switch {
	case !t.served:
		rec.Result, rec.Reason = Refused, "the request could not be read"
	case t.err != nil:
		rec.Result, rec.Reason = Refused, reasonOf(t.code, t.err)
		if errors.Is(t.err, outcome.ErrUnknownOutcome) {
			rec.Result = Unknown
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
	for _, known := range []error{outcome.ErrNotLeader, outcome.ErrUnknownOutcome, outcome.ErrShutdown,
		outcome.ErrEntryTooBig, gate.ErrForbidden, gate.ErrUnknownPath, gate.ErrTooManyCalls, gate.ErrUnauthenticated} {
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

// ProcedureName is short for a route: "JobService.Submit". What is no route is told as the request said it.
func ProcedureName(route string) string {
	if gate.Routes[route] == "" {
		return route
	}
	return strings.TrimPrefix(path.Base(path.Dir(route)), "gram.v1.") + "." + path.Base(route)
}

// Denied writes down what the gate refused; code is the reason in a word.
func (trails Trails) Denied(r *http.Request, caller gate.Caller, reason error, code string) {
	rec := trails.record(r, caller, &Trail{served: true, err: reason, code: code})
	rec.Result = Refused
	trails.Log.Write(rec)
}
