package main

import (
	"fmt"
	"strings"

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
}

type convictedView struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Task string `json:"task"`
	Job  string `json:"job"`
}

func viewAudit(a *gramv1.AuditSummary) *auditView {
	if a == nil {
		return nil
	}
	v := &auditView{Share: float64(a.GetSharePpm()) / 1e6, Drawn: a.GetDrawn(), Agreed: a.GetAgreed(), Waived: a.GetWaived(), Disputed: a.GetDisputed(),
		Pending: a.GetPending(), Repeated: a.GetRepeated()}
	for _, w := range a.GetConvicted() {
		v.Convicted = append(v.Convicted, convictedView{w.GetId(), w.GetName(), w.GetTask(), w.GetJobId()})
	}
	return v
}

// auditText is one line on a job's audits; empty where it has none.
func auditText(a *gramv1.AuditSummary) string {
	if a.GetDrawn() == 0 && len(a.GetConvicted()) == 0 {
		return ""
	}
	text := fmt.Sprintf("of %d tasks made twice %d agree", a.GetDrawn(), a.GetAgreed())
	if n := a.GetPending(); n > 0 {
		text += fmt.Sprintf(", %d to be made", n)
	}
	if n := a.GetWaived(); n > 0 {
		text += fmt.Sprintf(", %d left out: no second worker could make them", n)
	}
	if n := a.GetDisputed(); n > 0 {
		text += fmt.Sprintf(", %d disputed", n)
	}
	var names []string
	for _, w := range a.GetConvicted() {
		names = append(names, w.GetName()+" ("+w.GetTask()+")")
	}
	if len(names) > 0 {
		text += "; wrong: " + strings.Join(names, ", ") + ", and what it had a part in was made again"
	}
	return text
}
