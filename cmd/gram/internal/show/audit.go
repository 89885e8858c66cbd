package show

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// auditView is what came of making tasks a second time.
type auditView struct {
	Share     float64         `json:"share"`
	Drawn     uint64          `json:"drawn"`
	Agreed    uint64          `json:"agreed"`
	Waived    uint64          `json:"waived"`
	Disputed  uint64          `json:"disputed"`
	Pending   uint64          `json:"pending"`
	Repeated  uint64          `json:"repeated"`
	Convicted []convictedView `json:"convicted,omitempty"`

	Nodes       uint64        `json:"nodes"`
	OtherSets   uint64        `json:"other_kernels"`
	SelfChecked uint64        `json:"self_checked_leaves"`
	Again       uint64        `json:"again"`
	Failed      uint64        `json:"failed"`
	WaivedTasks []string      `json:"waived_tasks,omitempty"`
	Seconds     float64       `json:"seconds"`
	AllSeconds  float64       `json:"all_seconds"`
	Auditors    []auditorView `json:"auditors,omitempty"`
}

type auditorView struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Kernels   string `json:"kernels"`
	Tasks     uint64 `json:"tasks"`
	OtherSets uint64 `json:"other_kernels"`
}

type convictedView struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Task string `json:"task"`
	Job  string `json:"job"`
	Than string `json:"than"` // whose result was another
}

func viewAudit(a *gramv1.AuditSummary) *auditView {
	if a == nil {
		return nil
	}
	v := &auditView{
		Share: float64(a.GetSharePpm()) / 1e6, Drawn: a.GetDrawn(), Agreed: a.GetAgreed(), Waived: a.GetWaived(),
		Disputed: a.GetDisputed(), Pending: a.GetPending(), Repeated: a.GetRepeated(), Nodes: a.GetNodes(),
		OtherSets: a.GetOtherSets(), SelfChecked: a.GetSelfChecked(), Again: a.GetAgain(), Failed: a.GetFailed(),
		WaivedTasks: a.GetWaivedTasks(), Seconds: float64(a.GetSpentUs()) / 1e6,
		AllSeconds: float64(a.GetWorkUs()) / 1e6,
	}
	for _, w := range a.GetAuditors() {
		v.Auditors = append(v.Auditors, auditorView{w.GetId(), w.GetName(), w.GetKernels(), w.GetTasks(),
			w.GetOtherSets()})
	}
	for _, w := range a.GetConvicted() {
		v.Convicted = append(v.Convicted, convictedView{w.GetId(), w.GetName(), w.GetTask(), w.GetJobId(), than(w)})
	}
	return v
}

// than names those whose result was another than a convicted worker's.
func than(w *gramv1.ConvictedWorker) string { return cmp.Or(w.GetThan(), "two others") }

// AuditText is one line on a job's audits; empty where it has none.
func AuditText(a *gramv1.AuditSummary) string {
	if a.GetDrawn() == 0 && len(a.GetConvicted()) == 0 {
		return ""
	}
	text := fmt.Sprintf("of %s drawn, two workers agree on %d", protocol.Counted(a.GetDrawn(), "task"), a.GetAgreed())
	if n := a.GetPending(); n > 0 {
		text += fmt.Sprintf(", %d to be made", n)
	}
	if n := a.GetWaived() - a.GetFailed(); n > 0 {
		text += fmt.Sprintf(", %d left out: there was no second worker", n)
	}
	if n := a.GetFailed(); n > 0 {
		text += fmt.Sprintf(", %d left out: every other worker failed to make them", n)
	}
	if n := a.GetDisputed(); n > 0 {
		text += fmt.Sprintf(", %d disputed", n)
	}
	var names []string
	for _, w := range a.GetConvicted() {
		names = append(names, w.GetName()+" ("+w.GetTask()+", another result than "+than(w)+")")
	}
	if len(names) > 0 {
		text += "; wrong: " + strings.Join(names, ", ") + ", and what it had a part in was made again"
	}
	return text
}
