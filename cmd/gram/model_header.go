package main

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/records"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/objstore"
)

// headerBeside reports whether the spec in the provenance beside a model says header: true. A model without its
// provenance has no spec.
func headerBeside(ctx context.Context, uri, sha256 string) (bool, error) {
	folder := uri[:strings.LastIndexByte(uri, '/')+1]
	data, err := objects.Read(ctx, folder+origin.ProvenanceFile, objects.MaxReportBytes, "")
	if errors.Is(err, objstore.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	p, err := origin.ReadProvenance(data)
	if err != nil || p.Model.SHA256.String() != sha256 {
		return false, nil // of another model
	}
	spec, err := p.JobSpec()
	return err == nil && spec.Spec.Input.Header, nil
}

// afterHeader leaves out the first line of stdin when the model's spec says that its files begin with one, and says
// so. A line that is a vector of numbers is a record.
func afterHeader(a *app, lines iter.Seq2[string, error], form records.Form) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		first := true
		for line, err := range lines {
			if first && err == nil && records.IsHeader(line, form) {
				if err := form.CheckHeader(line); err != nil {
					yield("", err)
					return
				}
				a.note("gram: the first line is left out as a header, as the model's spec has header: true "+
					"(--header=false reads it): %s",
					terminal.Shorten(line, records.LabelColumns))
				first = false
				continue
			}
			if first = false; !yield(line, err) {
				return
			}
		}
	}
}
