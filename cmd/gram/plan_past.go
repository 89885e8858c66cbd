package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/cmd/gram/internal/estimate"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/worker"
)

// readPasts reads the reports of jobs of the spec's kind, and compares their specs with it.
func readPasts(
	ctx context.Context, a *app, spec protocol.JobSpec, from []string,
) (pasts []*estimate.Past, err error) {
	for _, name := range from {
		past, err := readPast(ctx, a, name)
		if err != nil {
			return nil, err
		}
		if past.Kind != spec.Kind {
			return nil, &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("%s is the report of a job of kind %s, and "+
				"the spec is of kind %s", name, past.Kind, spec.Kind), Hint: "Name the report of a job like this one."}
		}
		provenance, why := provenanceOf(ctx, a, name)
		if err := past.Compare(provenance, why, spec); err != nil {
			return nil, err
		}
		pasts = append(pasts, past)
	}
	return pasts, nil
}

// readPast reads the report of a job: of a file, a folder or a job of the cluster.
func readPast(ctx context.Context, a *app, from string) (*estimate.Past, error) {
	data, err := readBeside(ctx, a, from, "")
	if err != nil && strings.ContainsAny(from, "./") { // the others name their job
		return nil, &exit.Failure{Code: exit.Of(err).Code, What: "no report can be read at " + from,
			Why: err, Cause: err, Hint: "Name the report.json of a finished job, the folder that it lies in, or a job."}
	}
	if err != nil {
		return nil, err
	}
	past, err := estimate.ReadPast(data)
	if err != nil {
		return nil, &exit.Failure{Code: exit.Usage, What: from + " is no report to forecast from",
			Why: flawOf(data, err), Cause: err, Hint: "Name the report.json that a finished job left beside its model."}
	}
	return past, nil
}

// flawOf says what is wrong with a report.
func flawOf(data []byte, err error) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	other, mistyped := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case mistyped && other.Field == "":
		return fmt.Errorf("its JSON is no object but %s", other.Value)
	case mistyped:
		return fmt.Errorf("its field %s is %s", other.Field, other.Value)
	case len(bytes.TrimSpace(data)) == 0:
		return errors.New("the file is empty")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), ok && syntax.Offset >= int64(len(data)):
		return fmt.Errorf("it is cut off: its JSON does not end within its %d bytes", len(data))
	case ok:
		return fmt.Errorf("it is not JSON: %w at byte %d", err, syntax.Offset)
	}
	return err
}

// readBeside takes a file or its URI as such, and all else as `gram report` does. A name is that of another file in the
// folder of the report, "" the report itself.
func readBeside(ctx context.Context, a *app, from, name string) ([]byte, error) {
	if !strings.HasSuffix(from, ".json") {
		if name == "" {
			name = worker.ReportFile
		}
		return reportSource{a: a, from: from}.read(ctx, name)
	}
	uri := specfile.AbsoluteURI(from, a.dir)
	if name != "" {
		uri = uri[:strings.LastIndexByte(uri, '/')+1] + name
	}
	return objects.Read(ctx, uri, objects.MaxReportBytes, "")
}

// provenanceOf reads what lies beside a report, or says why it did not.
func provenanceOf(ctx context.Context, a *app, from string) (p *origin.Provenance, why string) {
	data, err := readBeside(ctx, a, from, worker.ProvenanceFile)
	if err == nil {
		p, err = origin.ReadProvenance(data)
	}
	switch {
	case errors.Is(err, objstore.ErrNotFound):
		return nil, "no " + worker.ProvenanceFile + " is beside its report"
	case err != nil:
		return nil, fmt.Sprintf("its %s cannot be read: %v", worker.ProvenanceFile, err)
	}
	return p, ""
}
