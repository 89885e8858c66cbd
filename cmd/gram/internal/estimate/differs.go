package estimate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/protocol"
)

// told are the fields of a spec that rounds and the times of tasks depend on, beside the data.
var told = []string{"spec.params", "spec.input.split", "spec.evaluation"}

// Compare notes in which params, split and evaluation a spec differs from that of the job that ran. A nil provenance,
// or one of another job, tells nothing of them.
func (p *Past) Compare(provenance *origin.Provenance, spec protocol.JobSpec) error {
	if provenance == nil || provenance.Job != p.Job {
		return nil
	}
	now, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("encode the spec: %w", err)
	}
	fields, err := origin.Fields(provenance.Spec, now)
	if err != nil {
		return nil // a spec that cannot be read tells nothing
	}
	p.compared = true
	for _, f := range fields {
		for _, prefix := range told {
			if f.Path == prefix || strings.HasPrefix(f.Path, prefix+".") || strings.HasPrefix(f.Path, prefix+"[") {
				p.differs = append(p.differs, f)
			}
		}
	}
	return nil
}

// shownFields is how many fields of a job are told to people; JSON has all.
const shownFields = 3

// text says what a job had otherwise; "" where it had all of it alike.
func (r *Report) text() string {
	switch {
	case !r.Compared:
		return fmt.Sprintf("whether %s had these params is not known: its provenance.json is not beside its report",
			r.Job)
	case len(r.Differs) == 0:
		return ""
	}
	var list []string
	for _, f := range r.Differs[:min(len(r.Differs), shownFields)] {
		list = append(list, fmt.Sprintf("%s %s in place of %s", f.Path, cmp.Or(f.Left, "not given"),
			cmp.Or(f.Right, "none")))
	}
	text := fmt.Sprintf("%s is not the job of this spec: it had %s", r.Job, strings.Join(list, ", "))
	if more := len(r.Differs) - shownFields; more > 0 {
		text += fmt.Sprintf(", and %s more", protocol.Counted(int64(more), "other field"))
	}
	return text + "; its rounds and times may be others"
}
