package estimate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/protocol"
)

// comparedFields are the fields of a spec that rounds and the times of tasks depend on, beside the data.
var comparedFields = []string{"spec.params", "spec.input.split", "spec.evaluation"}

// Compare notes in which params, split and evaluation a spec differs from that of the job that ran. Where there is no
// provenance, why says so.
func (p *Past) Compare(provenance *origin.Provenance, why string, spec protocol.JobSpec) error {
	switch {
	case provenance == nil:
		p.why = why
		return nil
	case provenance.Job != p.Job:
		p.why = "the provenance beside its report is of job " + provenance.Job
		return nil
	}
	now, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("encode the spec: %w", err)
	}
	fields, err := origin.Fields(provenance.Spec, now)
	if err != nil {
		p.why = fmt.Sprintf("the spec in its provenance cannot be read: %v", err)
		return nil
	}
	p.compared = true
	for _, f := range fields {
		for _, prefix := range comparedFields {
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
		return fmt.Sprintf("whether %s had these params is not known: %s", r.Job, r.Unknown)
	case len(r.Differs) == 0:
		return ""
	}
	var list []string
	for _, f := range r.Differs[:min(len(r.Differs), shownFields)] {
		list = append(list, fmt.Sprintf("%s %s in place of %s", f.Path, cmp.Or(f.Left, "unset"),
			cmp.Or(f.Right, "unset")))
	}
	text := fmt.Sprintf("%s is not the job of this spec: it had %s", r.Job, strings.Join(list, ", "))
	if more := len(r.Differs) - shownFields; more > 0 {
		text += fmt.Sprintf(", and %s more", protocol.Counted(int64(more), "other field"))
	}
	return text + "; its rounds and times may differ"
}
