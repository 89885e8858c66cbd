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

// Gate is the one door.
type Gate struct {
	lookup Lookup
	now    func() time.Time
	errors *connect.ErrorWriter
}

// New makes a gate over the cluster's tokens.
func New(lookup Lookup, now func() time.Time) *Gate {
	return &Gate{lookup: lookup, now: now, errors: connect.NewErrorWriter()}
}

// Wrap puts the gate in front of next.
func (g *Gate) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.admit(r); err != nil {
			g.deny(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *Gate) admit(r *http.Request) error {
	need, listed := Routes[r.URL.Path]
	if !listed {
		need = "" // covered by no scope; the token is checked all the same, so that a stranger learns nothing of routes
	}
	_, err := Check(g.lookup, r.Header.Get("Authorization"), need, g.now().UnixMilli())
	return err
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
