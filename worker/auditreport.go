package worker

import (
	"fmt"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// auditReport says which share of a job's tasks two workers have made, and what came of it.
type auditReport struct {
	Share     float64         `json:"share"` // of the nodes, as the spec asks
	Drawn     uint64          `json:"drawn"`
	Agreed    uint64          `json:"agreed"`
	Waived    uint64          `json:"waived"`
	Disputed  uint64          `json:"disputed"`
	Repeated  uint64          `json:"repeated"`
	Convicted []auditedWorker `json:"convicted,omitempty"`
	Says      string          `json:"says"`
}

type auditedWorker struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Task string `json:"task"`
	Job  string `json:"job"`
}

func auditFrom(a *pb.AuditSummary) *auditReport {
	if a == nil { // of a coordinator of an older release
		return nil
	}
	r := &auditReport{
		Share: float64(a.GetSharePpm()) / 1e6, Drawn: a.GetDrawn(), Agreed: a.GetAgreed(), Waived: a.GetWaived(), Disputed: a.GetDisputed(), Repeated: a.GetRepeated(),
	}
	for _, w := range a.GetConvicted() {
		r.Convicted = append(r.Convicted, auditedWorker{w.GetId(), w.GetName(), w.GetTask(), w.GetJobId()})
	}
	r.Says = r.says()
	return r
}

// says is the finding in words.
func (r *auditReport) says() string {
	switch {
	case len(r.Convicted) > 0:
		return fmt.Sprintf("worker %s made another result of %s than two others; what it had a part in was made again", r.Convicted[0].Name, r.Convicted[0].Task)
	case r.Share == 0:
		return "no task was made twice: spec.run.audit is 0"
	case r.Waived > 0 && r.Agreed == 0:
		return "no task was made twice: there was no second worker"
	case r.Waived > 0:
		return fmt.Sprintf("two workers agree on %d tasks; %d more were drawn, and no second worker could make them", r.Agreed, r.Waived)
	}
	return fmt.Sprintf("two workers agree on all %d tasks that were drawn", r.Agreed)
}
