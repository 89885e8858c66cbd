package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Failure is why a job failed. Its JSON is in the report of the job.
type Failure struct {
	Code    string `json:"code"`
	Class   string `json:"class"` // "task", "input" or "infrastructure"
	Message string `json:"message"`
	Task    string `json:"task,omitempty"`
	Worker  string `json:"worker,omitempty"`
	Advice  string `json:"-"` // what to do
}

// classes are the names of what is done about a fault, and what people can do.
var classes = map[pb.FailureClass][2]string{
	pb.FailureClass_FAILURE_CLASS_INPUT: {"input", "The same input and spec fail in the same way each time. " +
		"Change what the message names, then submit the job under another id."},
	pb.FailureClass_FAILURE_CLASS_TASK: {"task", "The task was tried again, on other workers where there were any, " +
		"and failed each time. The job's log has every attempt: gram logs JOB."},
	pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE: {"infrastructure", "What the cluster stands on failed, not the " +
		"job. Mend what the message names, then submit the job under another id."},
}

// advices are of codes that ask for something else than their class does.
var advices = map[protocol.Code]string{
	protocol.CodeNeedFailed: "A job that this one needs did not succeed. Its page says why; submit that one first.",
	protocol.CodeNoWorkerFits: "Start a worker with more memory (gram worker --memory), or make the job's state " +
		"smaller: fewer columns, classes or centers.",
	protocol.CodeWorkerDied: "Workers ended while they were at work on this task alone. Their own logs, or those of " +
		"their machines, say why; often memory ran out.",
	protocol.CodeDeterminism: "Two workers made different results of one task. Audit the machines: gram verify JOB " +
		"computes it again.",
	protocol.CodeInternal: "This is a defect of Gram. Its log has more: gram logs JOB.",
	protocol.CodePanic:    "This is a defect of Gram. Its log has more: gram logs JOB.",
}

func failureOf(job *pb.Job) *Failure {
	f := job.GetFailure()
	if f == nil {
		return nil
	}
	class := classes[f.GetClass()]
	advice := cmp.Or(advices[protocol.Code(f.GetCode())], class[1])
	return &Failure{Code: f.GetCode(), Class: class[0], Message: f.GetMessage(), Task: f.GetTask(),
		Worker: f.GetWorker(), Advice: strings.ReplaceAll(advice, "JOB", job.GetId())}
}

// endedReport is report.json of a job that did not succeed: the fields of a finished job's that it has, and why.
type endedReport struct {
	SchemaVersion int           `json:"schema_version"`
	Job           string        `json:"job"`
	Name          string        `json:"name,omitempty"`
	Kind          string        `json:"kind"`
	State         string        `json:"state"`
	Failure       *Failure      `json:"failure,omitempty"`
	Seconds       float64       `json:"seconds"` // from submission to its end
	Rounds        []endedRound  `json:"rounds"`
	Metrics       []jobs.Metric `json:"metrics"`
	Timeline      *Timeline     `json:"timeline,omitempty"`
}

type endedRound struct {
	Round   uint32  `json:"round"`
	Phase   string  `json:"phase"`
	Leaves  uint64  `json:"leaves"`
	Seconds float64 `json:"seconds"`
}

// EndedBy is Ended with the kinds that a program has.
func EndedBy(
	lookup func(kind string) (jobs.Kind, error),
) func(job *pb.Job, course *pb.Timeline) (page, data []byte, err error) {
	return func(job *pb.Job, course *pb.Timeline) (page, data []byte, err error) {
		kind, err := lookup(job.GetKind())
		if err != nil {
			kind = jobs.Kind{} // of another release: nothing is known of its params
		}
		return Ended(job, course, kind)
	}
}

// Ended makes the page and the report.json of a job that failed or was cancelled, from what its cluster knows of it.
// course is what its leader remembers; nil is nothing. The kind tells defaults from what was set; it may be the zero
// Kind.
func Ended(job *pb.Job, course *pb.Timeline, kind jobs.Kind) (page, data []byte, err error) {
	p := Page{
		Job: job.GetId(), Name: job.GetName(), Kind: job.GetKind(), State: stateName(job), Failure: failureOf(job),
		Seconds: max(0, float64(job.GetFinishedUnixMs()-job.GetSubmittedUnixMs())/1000),
		Spec:    Indented(job.GetSpecJson()), Timeline: TimelineOf(job, course),
		Run: Run{Submitted: Timestamp(job.GetSubmittedUnixMs()), Ended: Timestamp(job.GetFinishedUnixMs())},
	}
	if at := job.GetStartedUnixMs(); at > 0 {
		p.Run.Started = Timestamp(at)
	}
	p.Run.Fill(p.Timeline, job.GetAudit())
	var spec protocol.JobSpec
	if json.Unmarshal([]byte(job.GetSpecJson()), &spec) == nil {
		p.Facts = append(p.Facts, [2]string{"input", spec.Spec.Input.URI},
			[2]string{"seed", fmt.Sprint(spec.Spec.Repro.Seed)})
		p.Set, p.Defaults = ParamsOf(kind, spec)
	}
	p.Facts = append(p.Facts, openRound(job)...)
	r := endedReport{SchemaVersion: 1, Job: p.Job, Name: p.Name, Kind: p.Kind, State: p.State, Failure: p.Failure,
		Seconds: p.Seconds, Rounds: []endedRound{}, Metrics: []jobs.Metric{}, Timeline: p.Timeline}
	for _, round := range job.GetRounds() {
		seconds := float64(round.GetFinishedUnixMs()-round.GetStartedUnixMs()) / 1000
		p.Rounds = append(p.Rounds, Round{round.GetRound(), round.GetPhase(), round.GetLeaves(), seconds})
		r.Rounds = append(r.Rounds, endedRound{round.GetRound(), round.GetPhase(), round.GetLeaves(), seconds})
	}
	if data, err = Encode(r); err != nil {
		return nil, nil, err
	}
	page, err = HTML(p)
	return page, data, err
}

func stateName(job *pb.Job) string {
	return strings.ToLower(strings.TrimPrefix(job.GetState().String(), "JOB_STATE_"))
}

// openRound is the round in which the job ended; how much of it was done, an ended job does not tell.
func openRound(job *pb.Job) [][2]string {
	p := job.GetProgress()
	if p.GetPhase() == "" {
		return [][2]string{{"it came to", "no round: it was not planned"}}
	}
	return [][2]string{{"it came to", fmt.Sprintf("round %d, %s, of %s", p.GetRound(), p.GetPhase(),
		protocol.Counted(p.GetLeaves(), "leaf"))}}
}

// Fill takes the workers from the timeline, and what they spent from the audits, which count all tasks but the report,
// or else from the timeline.
func (r *Run) Fill(t *Timeline, audit *pb.AuditSummary) {
	if r.WorkSeconds = float64(audit.GetWorkUs()) / 1e6; t == nil {
		return
	}
	spent := 0.0
	for _, m := range t.Marks {
		spent += m.To - m.From
	}
	r.WorkSeconds = cmp.Or(r.WorkSeconds, spent)
	for _, w := range t.Workers {
		if w.Kernels != "" && !slices.Contains(r.Kernels, w.Kernels) {
			r.Kernels = append(r.Kernels, w.Kernels)
		}
		name := w.Name
		if w.Kernels != "" {
			name += " (" + w.Kernels + ")"
		}
		if !slices.Contains(r.Workers, name) {
			r.Workers = append(r.Workers, name)
		}
	}
	slices.Sort(r.Kernels)
	if n := len(r.Workers); n > maxWorkersNamed {
		r.Workers = append(r.Workers[:maxWorkersNamed], fmt.Sprintf("and %d more", n-maxWorkersNamed))
	}
}

// maxWorkersNamed bounds the workers that a page names.
const maxWorkersNamed = 24
