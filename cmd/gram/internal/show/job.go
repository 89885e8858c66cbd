package show

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// SchemaVersion is of everything that -o json prints. Fields are added, never renamed.
const SchemaVersion = 1

// Job is a job as -o json prints it.
type Job struct {
	SchemaVersion int             `json:"schema_version,omitempty"`
	ID            string          `json:"id"`
	Name          string          `json:"name,omitempty"`
	Kind          string          `json:"kind"`
	State         string          `json:"state"`
	Reason        string          `json:"reason,omitempty"`
	Submitted     string          `json:"submitted,omitempty"`
	Started       string          `json:"started,omitempty"`
	Finished      string          `json:"finished,omitempty"`
	Seconds       *float64        `json:"seconds,omitempty"` // from submitted to finished
	Schedule      string          `json:"schedule,omitempty"`
	Tick          string          `json:"tick,omitempty"`
	Progress      *progressView   `json:"progress,omitempty"`
	ETA           *ETA            `json:"eta,omitempty"`
	Failure       *failureView    `json:"failure,omitempty"`
	SpecHash      string          `json:"spec_hash,omitempty"`
	ResultHash    string          `json:"result_hash,omitempty"`
	Outputs       []outputView    `json:"outputs,omitempty"`
	Counters      *countersView   `json:"counters,omitempty"`
	Audit         *auditView      `json:"audit,omitempty"`
	Rounds        []roundView     `json:"rounds,omitempty"`
	Spec          json.RawMessage `json:"spec,omitempty"`
}

type progressView struct {
	Round       uint32 `json:"round"`
	Phase       string `json:"phase"`
	Leaves      uint64 `json:"leaves"`
	LeavesDone  uint64 `json:"leaves_done"`
	TasksLeased uint32 `json:"tasks_leased"`
}

type failureView struct {
	Code    string `json:"code"`
	Class   string `json:"class"`
	Message string `json:"message"`
	Task    string `json:"task,omitempty"`
	Worker  string `json:"worker,omitempty"`
}

type outputView struct {
	Name   string `json:"name"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

type countersView struct {
	Committed  uint64 `json:"committed"`
	Duplicates uint64 `json:"duplicates"`
	Superseded uint64 `json:"superseded"`
	Violations uint64 `json:"violations"`

	SpeculativeLaunched uint64 `json:"speculative_copies_launched"`
	SpeculativeWon      uint64 `json:"speculative_copies_won"`
	SpeculativeWasted   uint64 `json:"speculative_copies_wasted"`

	Remade *remadeView `json:"remade,omitempty"`
}

type roundView struct {
	Round   uint32  `json:"round"`
	Phase   string  `json:"phase"`
	Leaves  uint64  `json:"leaves"`
	Seconds float64 `json:"seconds"`
}

// OfJob converts a job.
func OfJob(job *gramv1.Job) Job {
	v := Job{
		ID: job.GetId(), Name: job.GetName(), Kind: job.GetKind(), State: StateName(job.GetState()),
		Reason:    job.GetReason(),
		Submitted: Timestamp(job.GetSubmittedUnixMs()), Started: Timestamp(job.GetStartedUnixMs()),
		Finished: Timestamp(job.GetFinishedUnixMs()),
		Schedule: job.GetScheduleId(), Tick: Timestamp(job.GetTickUnixMs()),
		SpecHash: job.GetSpecHash(), ResultHash: job.GetResultHash(), Spec: json.RawMessage(job.GetSpecJson()),
	}
	if job.GetFinishedUnixMs() > 0 {
		v.Seconds = new(seconds(job.GetSubmittedUnixMs(), job.GetFinishedUnixMs()))
	}
	if p := job.GetProgress(); p != nil {
		v.Progress = &progressView{p.GetRound(), p.GetPhase(), p.GetLeaves(), p.GetLeavesDone(), p.GetTasksLeased()}
	}
	v.ETA = OfETA(job.GetEta())
	if f := job.GetFailure(); f != nil {
		v.Failure = &failureView{f.GetCode(), enumWord(f.GetClass().String(), "FAILURE_CLASS_"), f.GetMessage(),
			f.GetTask(), f.GetWorker()}
	}
	if n := job.GetCounters(); n != nil {
		b := n.GetSpeculativeCopies()
		v.Counters = &countersView{n.GetCommitted(), n.GetDuplicates(), n.GetSuperseded(), n.GetViolations(),
			b.GetLaunched(), b.GetWon(), b.GetWasted(), viewRemade(n.GetRemade())}
	}
	v.Audit = viewAudit(job.GetAudit())
	for _, o := range job.GetOutputs() {
		v.Outputs = append(v.Outputs, outputView{o.GetName(), o.GetUri(), hex.EncodeToString(o.GetSha256()),
			o.GetSize()})
	}
	for _, r := range job.GetRounds() {
		v.Rounds = append(v.Rounds, roundView{r.GetRound(), r.GetPhase(), r.GetLeaves(),
			seconds(r.GetStartedUnixMs(), r.GetFinishedUnixMs())})
	}
	return v
}

// Outcome is what the end of a job means for the exit code; nil when it succeeded.
func Outcome(job *gramv1.Job) error {
	switch job.GetState() {
	case gramv1.JobState_JOB_STATE_SUCCEEDED:
		return nil
	case gramv1.JobState_JOB_STATE_CANCELLED:
		return &exit.Failure{Code: exit.Cancelled, What: "job " + job.GetId() + " was cancelled"}
	}
	f := &exit.Failure{Code: exit.Failed, What: "job " + job.GetId() + " failed"}
	if cause := job.GetFailure(); cause != nil {
		f.Why = errors.New(FailureText(cause))
		f.Hint = "`gram logs " + job.GetId() + "` shows what led to it."
	}
	return f
}

// FailureText is one line on why a job failed.
func FailureText(cause *gramv1.Failure) string {
	text := cause.GetMessage()
	if !strings.HasPrefix(text, cause.GetCode()) {
		text = cause.GetCode() + ": " + text
	}
	if cause.GetTask() != "" {
		text += " (task " + cause.GetTask()
		if cause.GetWorker() != "" {
			text += " on " + cause.GetWorker()
		}
		text += ")"
	}
	return text
}
