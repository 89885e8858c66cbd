package gate

import (
	"net/http"

	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// Routes is the whole table: what is not in it is denied. A test checks it against
// the services, so that a new procedure without an entry fails the build.
var Routes = map[string]Scope{
	gramv1connect.JobServiceSubmitProcedure:                ScopeSubmit,
	gramv1connect.JobServiceCancelProcedure:                ScopeSubmit,
	gramv1connect.JobServiceGetProcedure:                   ScopeRead,
	gramv1connect.JobServiceListProcedure:                  ScopeRead,
	gramv1connect.JobServiceWatchProcedure:                 ScopeRead,
	gramv1connect.JobServiceLogsProcedure:                  ScopeRead,
	gramv1connect.JobServiceLeavesProcedure:                ScopeRead,
	gramv1connect.JobServiceTimelineProcedure:              ScopeRead,
	gramv1connect.JobServiceMetricsProcedure:               ScopeRead,
	gramv1connect.JobServiceReportProcedure:                ScopeRead,
	gramv1connect.CompareServiceCompareJobsProcedure:       ScopeRead,
	gramv1connect.ClusterServiceStatusProcedure:            ScopeRead,
	gramv1connect.ClusterServiceMembersProcedure:           ScopeRead,
	gramv1connect.ClusterServiceJoinProcedure:              ScopeAdmin,
	gramv1connect.ClusterServiceRemoveProcedure:            ScopeAdmin,
	gramv1connect.ClusterServiceAcceptClockProcedure:       ScopeAdmin,
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
	gramv1connect.ModelServiceListModelsProcedure:          ScopeRead,
	gramv1connect.ModelServiceListAliasesProcedure:         ScopeRead,
	gramv1connect.ModelServiceSetAliasProcedure:            ScopeSubmit,
	gramv1connect.ModelServiceRemoveAliasProcedure:         ScopeSubmit,
	gramv1connect.ModelServiceRetireProcedure:              ScopeAdmin,
	gramv1connect.ModelServiceSignProcedure:                ScopeSubmit,
	gramv1connect.ModelServiceSigningKeyProcedure:          ScopeRead,
	gramv1connect.UpkeepServiceSweepProcedure:              ScopeAdmin,
	gramv1connect.TokenServiceListTokensProcedure:          ScopeAdmin,
	gramv1connect.TokenServiceCreateTokenProcedure:         ScopeAdmin,
	gramv1connect.TokenServiceRevokeTokenProcedure:         ScopeAdmin,
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

// unmetered calls are admitted at any rate: what ends work must not wait for it.
var unmetered = map[string]bool{gramv1connect.JobServiceCancelProcedure: true}

// isUnmetered reports whether a request is such a call, or the form of a page that makes it.
func isUnmetered(r *http.Request) bool {
	return unmetered[r.URL.Path] || r.Method == http.MethodPost && sitePattern(r) == "POST /jobs/{id}/cancel"
}

// finishes names the calls that go on when their token is revoked: the one that revokes it.
var finishes = map[string]bool{gramv1connect.TokenServiceRevokeTokenProcedure: true}
