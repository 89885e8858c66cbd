package gate

import (
	"errors"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// Routes is the whole table: what is not in it is denied. A test holds it against
// the services, so that a new procedure without an entry fails the build.
var Routes = map[string]Scope{
	gramv1connect.JobServiceSubmitProcedure:                ScopeSubmit,
	gramv1connect.JobServiceCancelProcedure:                ScopeSubmit,
	gramv1connect.JobServiceGetProcedure:                   ScopeRead,
	gramv1connect.JobServiceListProcedure:                  ScopeRead,
	gramv1connect.JobServiceWatchProcedure:                 ScopeRead,
	gramv1connect.JobServiceLogsProcedure:                  ScopeRead,
	gramv1connect.ClusterServiceStatusProcedure:            ScopeRead,
	gramv1connect.ClusterServiceMembersProcedure:           ScopeRead,
	gramv1connect.ClusterServiceJoinProcedure:              ScopeAdmin,
	gramv1connect.ClusterServiceRemoveProcedure:            ScopeAdmin,
	gramv1connect.ClusterServiceBackupProcedure:            ScopeAdmin,
	gramv1connect.ScheduleServiceGetScheduleProcedure:      ScopeRead,
	gramv1connect.ScheduleServiceListSchedulesProcedure:    ScopeRead,
	gramv1connect.ScheduleServiceCreateScheduleProcedure:   ScopeSubmit,
	gramv1connect.ScheduleServicePauseScheduleProcedure:    ScopeSubmit,
	gramv1connect.ScheduleServiceResumeScheduleProcedure:   ScopeSubmit,
	gramv1connect.ScheduleServiceTriggerScheduleProcedure:  ScopeSubmit,
	gramv1connect.ScheduleServiceBackfillScheduleProcedure: ScopeSubmit,
	gramv1connect.ScheduleServiceReleaseSchedulesProcedure: ScopeAdmin,
	gramv1connect.ScheduleServiceRemoveScheduleProcedure:   ScopeSubmit,
	gramv1connect.ModelServiceListAliasesProcedure:         ScopeRead,
	gramv1connect.ModelServiceSetAliasProcedure:            ScopeSubmit,
	gramv1connect.ModelServiceRemoveAliasProcedure:         ScopeSubmit,
	gramv1connect.ModelServiceRetireProcedure:              ScopeAdmin,
	gramv1connect.UpkeepServiceSweepProcedure:              ScopeAdmin,
	gramv1connect.WorkerServiceRegisterProcedure:           ScopeWorker,
	gramv1connect.WorkerServiceLeaseProcedure:              ScopeWorker,
	gramv1connect.WorkerServiceHeartbeatProcedure:          ScopeWorker,
	gramv1connect.WorkerServiceCompleteProcedure:           ScopeWorker,
}

// Pages besides the procedures.
const (
	HealthPage  = "/healthz"
	ReadyPage   = "/readyz"
	MetricsPage = "/metrics"
)

// Pages is the table of what is read with GET or HEAD; with another method they are not listed.
var Pages = map[string]Scope{
	HealthPage:  ScopePublic,
	ReadyPage:   ScopePublic,
	MetricsPage: ScopeRead,
}

// Gate is the one door.
type Gate struct {
	lookup Lookup
	now    func() time.Time
	errors *connect.ErrorWriter
	denied func(r *http.Request, caller Caller, reason error) // may be nil
}

// New makes a gate over the cluster's tokens.
func New(lookup Lookup, now func() time.Time) *Gate {
	return &Gate{lookup: lookup, now: now, errors: connect.NewErrorWriter()}
}

// Wrap puts the gate in front of next.
func (g *Gate) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := g.admit(r)
		if err != nil {
			if g.denied != nil {
				g.denied(r, caller, err)
			}
			g.deny(w, r, err)
			return
		}
		next.ServeHTTP(w, withCaller(r, caller))
	})
}

func (g *Gate) admit(r *http.Request) (Caller, error) {
	need := needed(r)
	if need == ScopePublic {
		return Caller{}, nil
	}
	id, err := Check(g.lookup, r.Header.Get("Authorization"), need, g.now().UnixMilli())
	return Caller{TokenID: id}, err
}

// needed is the scope that a request needs. What is not listed needs "", which no scope covers; its
// token is checked all the same, so that a stranger learns nothing of routes.
func needed(r *http.Request) Scope {
	if scope := Pages[r.URL.Path]; scope != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return scope
	}
	return Routes[r.URL.Path]
}

func (g *Gate) deny(w http.ResponseWriter, r *http.Request, err error) {
	code, status := connect.CodeUnauthenticated, http.StatusUnauthorized
	if errors.Is(err, ErrForbidden) {
		code, status = connect.CodePermissionDenied, http.StatusForbidden
	}
	if !g.errors.IsSupported(r) {
		http.Error(w, err.Error(), status)
		return
	}
	// A failed write means the client has gone; there is nobody to tell.
	_ = g.errors.Write(w, r, connect.NewError(code, err))
}
