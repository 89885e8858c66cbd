package worker

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report"
)

// auditReport describes a job's audits: which share of its tasks two workers have made, what came of it, and what it
// cost.
type auditReport struct {
	Share     float64 `json:"share"` // of the nodes, as the spec asks
	Drawn     uint64  `json:"drawn"`
	Nodes     uint64  `json:"nodes"` // of those drawn; the others are steps and the plan
	Agreed    uint64  `json:"agreed"`
	OtherSets uint64  `json:"other_kernels"` // of those agreed: with different kernel sets
	Waived    uint64  `json:"waived"`
	// of those waived: every worker that could make them failed to
	Failed      uint64            `json:"failed,omitempty"`
	WaivedTasks []string          `json:"waived_tasks,omitempty"`
	Disputed    uint64            `json:"disputed"`
	Again       uint64            `json:"again,omitempty"` // results made again by their own worker
	Repeated    uint64            `json:"repeated"`
	SelfChecked uint64            `json:"self_checked_leaves"` // by their own worker, with another kernel set
	Seconds     float64           `json:"seconds"`             // of workers, for audits
	AllSeconds  float64           `json:"all_seconds"`         // of workers, for all tasks but the report
	Waited      float64           `json:"waited_seconds"`      // from the model to the last audit's end
	Auditors    []auditor         `json:"auditors,omitempty"`
	Convicted   []convictedWorker `json:"convicted,omitempty"`
	Says        string            `json:"says"`
}

// auditor is a worker that made tasks a second time; those without a name are counted together.
type auditor struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Kernels   string `json:"kernels,omitempty"`
	Tasks     uint64 `json:"tasks"`
	OtherSets uint64 `json:"other_kernels"` // whose first maker has another kernel set
}

type convictedWorker struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Task string `json:"task"`
	Job  string `json:"job"`
	Than string `json:"than"` // whose result was another
}

// auditFrom is the audits of a job whose model was made at a time; nil for a coordinator of an older release.
func auditFrom(jobID string, a *pb.AuditSummary, modelAt int64) *auditReport {
	if a == nil {
		return nil
	}
	r := &auditReport{
		Share: float64(a.GetSharePpm()) / 1e6, Drawn: a.GetDrawn(), Nodes: a.GetNodes(), Agreed: a.GetAgreed(),
		OtherSets: a.GetOtherSets(), Waived: a.GetWaived(), Failed: a.GetFailed(), WaivedTasks: a.GetWaivedTasks(),
		Disputed: a.GetDisputed(), Again: a.GetAgain(), Repeated: a.GetRepeated(), SelfChecked: a.GetSelfChecked(),
		Seconds: float64(a.GetSpentUs()) / 1e6, AllSeconds: float64(a.GetWorkUs()) / 1e6,
	}
	if a.GetEndedUnixMs() > modelAt {
		r.Waited = seconds(a.GetEndedUnixMs() - modelAt)
	}
	for _, w := range a.GetAuditors() {
		r.Auditors = append(r.Auditors, auditor{w.GetId(), w.GetName(), w.GetKernels(), w.GetTasks(), w.GetOtherSets()})
	}
	for _, w := range a.GetConvicted() {
		than := cmp.Or(w.GetThan(), "two others")
		r.Convicted = append(r.Convicted, convictedWorker{w.GetId(), w.GetName(), w.GetTask(), w.GetJobId(), than})
	}
	r.Says = strings.Join(r.says(jobID), "; ")
	return r
}

// says is the findings in words: who was wrong, what agrees, and what nobody made a second time.
func (r *auditReport) says(jobID string) (found []string) {
	for _, w := range r.Convicted {
		task := w.Task
		if w.Job != jobID {
			task += " of job " + w.Job
		}
		found = append(found, fmt.Sprintf(
			"worker %s made another result of %s than %s; what it had a part in was made again",
			w.Name, task, w.Than))
	}
	switch {
	case r.Share == 0:
		found = append(found, "no task was audited: spec.run.audit is 0")
	case r.Agreed == 0 && r.Waived > 0 && r.Failed == 0:
		return append(found, "no task was made twice: there was no second worker")
	case r.Agreed == 0 && r.Drawn > 0:
		found = append(found, "no task was made twice")
	case r.Waived == 0 && len(r.Convicted) == 0:
		found = append(found, allAgree(r.Agreed))
	default:
		found = append(found, "two workers agree on "+protocol.Counted(r.Agreed, "task"))
	}
	if alone := r.Waived - r.Failed; alone > 0 {
		found = append(found, fmt.Sprintf("%d more %s drawn, and there was no second worker to make %s",
			alone, oneOrMany(alone, "was", "were"), oneOrMany(alone, "it", "them")))
	}
	if r.Failed > 0 {
		found = append(found, fmt.Sprintf(
			"%d more %s drawn, and every other worker failed to make %s, so that nobody verified %[3]s (%[4]s)",
			r.Failed, oneOrMany(r.Failed, "was", "were"), oneOrMany(r.Failed, "it", "them"), r.waivedText()))
	}
	return found
}

func (r *auditReport) waivedText() string {
	text := strings.Join(r.WaivedTasks, "; ")
	if more := r.Failed - uint64(len(r.WaivedTasks)); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// page is the audits as the page shows them.
func (r *auditReport) page() *report.Audits {
	if r == nil {
		return nil
	}
	p := &report.Audits{Says: r.Says}
	fact := func(name, format string, args ...any) {
		p.Facts = append(p.Facts, [2]string{name, fmt.Sprintf(format, args...)})
	}
	if r.Share > 0 {
		fact("drawn", "%s: %s (%.3g%% of them, and one of each phase), and %d steps and plans",
			protocol.Counted(r.Drawn, "task"), protocol.Counted(r.Nodes, "node"), 100*r.Share, r.Drawn-r.Nodes)
		if r.Agreed > 0 {
			fact("agreed", "%d, of them %d with different kernel sets", r.Agreed, r.OtherSets)
		}
	}
	if r.Waived > 0 {
		fact("waived", "%d, which no second worker made", r.Waived)
	}
	if r.Failed > 0 {
		fact("failed", "%d of these: %s", r.Failed, r.waivedText())
	}
	if r.Disputed > 0 {
		fact("disputed", "%d, with two results; %s made again by their own worker", r.Disputed,
			protocol.Counted(r.Again, "result")+oneOrMany(r.Again, " was", " were"))
		fact("taken back", "%s, since a worker that was wrong had a part in %s", protocol.Counted(r.Repeated, "result"),
			oneOrMany(r.Repeated, "it", "them"))
	}
	fact("self-check", "%d %s own worker with a second kernel set", r.SelfChecked,
		oneOrMany(r.SelfChecked, "leaf was computed by its", "leaves were computed by their"))
	if r.AllSeconds > 0 {
		fact("cost", "%s of the %s that workers took (%.2g%%); the report waited %s",
			span(r.Seconds), span(r.AllSeconds), 100*r.Seconds/r.AllSeconds, span(r.Waited))
	}
	for _, w := range r.Auditors {
		name := w.Name
		if w.ID == "" {
			name = "others"
		}
		p.Auditors = append(p.Auditors, report.Auditor{
			Name: name, Kernels: w.Kernels, Tasks: w.Tasks, OtherSets: w.OtherSets,
		})
	}
	for _, w := range r.Convicted {
		p.Convicted = append(p.Convicted,
			report.Convicted{Name: w.Name, ID: w.ID, Task: w.Task, Job: w.Job, Than: w.Than})
	}
	return p
}

func allAgree(n uint64) string {
	if n == 1 {
		return "two workers agree on the one task that was drawn"
	}
	return fmt.Sprintf("two workers agree on all %d tasks that were drawn", n)
}

func oneOrMany(n uint64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// span is a time in seconds as people read it.
func span(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Millisecond).String()
}
