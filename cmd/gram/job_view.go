package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// schemaVersion is of everything that -o json prints. Fields are added, never renamed.
const schemaVersion = 1

// jobView is a job as -o json prints it.
type jobView struct {
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
	Slot          string          `json:"slot,omitempty"`
	Progress      *progressView   `json:"progress,omitempty"`
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

	BackupsLaunched uint64 `json:"backups_launched"`
	BackupsWon      uint64 `json:"backups_won"`
	BackupsWasted   uint64 `json:"backups_wasted"`

	Remade *remadeView `json:"remade,omitempty"`
}

type roundView struct {
	Round   uint32  `json:"round"`
	Phase   string  `json:"phase"`
	Leaves  uint64  `json:"leaves"`
	Seconds float64 `json:"seconds"`
}

func viewJob(job *gramv1.Job) jobView {
	v := jobView{
		ID: job.GetId(), Name: job.GetName(), Kind: job.GetKind(), State: stateName(job.GetState()), Reason: job.GetReason(),
		Submitted: timestamp(job.GetSubmittedUnixMs()), Started: timestamp(job.GetStartedUnixMs()), Finished: timestamp(job.GetFinishedUnixMs()),
		Schedule: job.GetScheduleId(), Slot: timestamp(job.GetSlotUnixMs()),
		SpecHash: job.GetSpecHash(), ResultHash: job.GetResultHash(), Spec: json.RawMessage(job.GetSpecJson()),
	}
	if job.GetFinishedUnixMs() > 0 {
		v.Seconds = new(seconds(job.GetSubmittedUnixMs(), job.GetFinishedUnixMs()))
	}
	if p := job.GetProgress(); p != nil {
		v.Progress = &progressView{p.GetRound(), p.GetPhase(), p.GetLeaves(), p.GetLeavesDone(), p.GetTasksLeased()}
	}
	if f := job.GetFailure(); f != nil {
		v.Failure = &failureView{f.GetCode(), enumWord(f.GetClass().String(), "FAILURE_CLASS_"), f.GetMessage(), f.GetTask(), f.GetWorker()}
	}
	if n := job.GetCounters(); n != nil {
		b := n.GetBackups()
		v.Counters = &countersView{n.GetCommitted(), n.GetDuplicates(), n.GetSuperseded(), n.GetViolations(),
			b.GetLaunched(), b.GetWon(), b.GetWasted(), viewRemade(n.GetRemade())}
	}
	v.Audit = viewAudit(job.GetAudit())
	for _, o := range job.GetOutputs() {
		v.Outputs = append(v.Outputs, outputView{o.GetName(), o.GetUri(), hex.EncodeToString(o.GetSha256()), o.GetSize()})
	}
	for _, r := range job.GetRounds() {
		v.Rounds = append(v.Rounds, roundView{r.GetRound(), r.GetPhase(), r.GetLeaves(), seconds(r.GetStartedUnixMs(), r.GetFinishedUnixMs())})
	}
	return v
}

// stateName is a state as people know it: "Running".
func stateName(state gramv1.JobState) string { return enumWord(state.String(), "JOB_STATE_") }

func enumWord(name, prefix string) string {
	word := strings.ToLower(strings.TrimPrefix(name, prefix))
	if word == "" {
		return word
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

func seconds(fromMs, toMs int64) float64 { return float64(max(toMs-fromMs, 0)) / 1e3 }

func timestamp(unixMs int64) string {
	if unixMs == 0 {
		return ""
	}
	return time.UnixMilli(unixMs).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// progressOf is a job as the progress display knows it.
func progressOf(job *gramv1.Job) terminal.Progress {
	progress := terminal.Progress{
		Name: job.GetId(), State: stateName(job.GetState()), Reason: job.GetReason(),
		Since: time.UnixMilli(job.GetSubmittedUnixMs()),
	}
	if at := job.GetFinishedUnixMs(); at > 0 {
		progress.Until = time.UnixMilli(at)
	}
	if p := job.GetProgress(); p.GetPhase() != "" && !ended(job.GetState()) {
		progress.Done, progress.Total, progress.Leased = p.GetLeavesDone(), p.GetLeaves(), p.GetTasksLeased()
		progress.Step = fmt.Sprintf("round %d %s", p.GetRound(), p.GetPhase())
	}
	return progress
}

// printJSON prints one value, indented, for people's pipes.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(terminal.JSONWriter{W: a.out})
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printLine prints one value as one line.
func (a *app) printLine(v any) error {
	enc := json.NewEncoder(terminal.JSONWriter{W: a.out})
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// paintState colours the word of a state.
func paintState(p terminal.Palette, state string) string {
	switch state {
	case "Succeeded":
		return p.Good(state)
	case "Failed":
		return p.Bad(state)
	case "Cancelled":
		return p.Notice(state)
	}
	return state
}

// printEnds prints how jobs ended.
func (a *app) printEnds(jobs []*gramv1.Job) error {
	if a.flags.output == "json" {
		views := []jobView{}
		for _, job := range jobs {
			views = append(views, viewJob(job))
		}
		return a.printJSON(struct {
			SchemaVersion int       `json:"schema_version"`
			Jobs          []jobView `json:"jobs"`
		}{schemaVersion, views})
	}
	palette := a.palette(a.out)
	table := terminal.Table{Paint: func(_, column int, text string) string {
		if column == 1 {
			return paintState(palette, text)
		}
		return text
	}}
	for _, job := range jobs {
		took := time.Duration(job.GetFinishedUnixMs()-job.GetSubmittedUnixMs()) * time.Millisecond
		table.Row(job.GetId(), stateName(job.GetState()), terminal.Elapsed(took))
	}
	table.Write(a.out)
	return nil
}
