package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
)

const maxReportBytes = 64 << 20

// printResult prints what a finished job found and where its outputs are.
func (a *app) printResult(ctx context.Context, job *gramv1.Job) error {
	if a.flags.output == "json" {
		view := viewJob(job)
		view.SchemaVersion = schemaVersion
		return a.printJSON(view)
	}
	var report runReport
	if data, err := readOutput(ctx, job, worker.ReportFile); err != nil {
		return err
	} else if report, err = parseReport(data); err != nil {
		return err
	}
	took := time.Duration(job.GetFinishedUnixMs()-job.GetSubmittedUnixMs()) * time.Millisecond
	a.printFound(report, job.GetId(), took)
	a.printOutputs(job)
	return nil
}

// printFound prints what a report says of a job.
func (a *app) printFound(report runReport, job string, took time.Duration) {
	table := terminal.Table{}
	table.Row("job", job)
	table.Row("took", terminal.Elapsed(took))
	for _, row := range metricRows(report.Metrics) {
		table.Row(row[0], row[1])
	}
	for _, row := range certificateRows(report.Certificate) {
		table.Row(row[0], row[1])
	}
	if report.Audit.Says != "" {
		table.Row("audits", report.Audit.Says)
	}
	var rows strings.Builder
	table.Write(&rows)
	fmt.Fprint(a.out, terminal.Wrap(rows.String(), maxColumns))
	a.printPairs(report.Metrics)
	for _, w := range report.Warnings {
		fmt.Fprintln(a.out, terminal.Wrap("warning: "+terminal.Clean(w), maxColumns))
	}
}

// readOutput reads one of a job's outputs, and compares it with its digest.
func readOutput(ctx context.Context, job *gramv1.Job, name string) ([]byte, error) {
	for _, o := range job.GetOutputs() {
		if o.GetName() == name {
			return readObject(ctx, o.GetUri(), maxReportBytes, hex.EncodeToString(o.GetSha256()))
		}
	}
	return nil, fmt.Errorf("job %s left no %s", job.GetId(), name)
}

// runReport is what is read of report.json.
type runReport struct {
	Job     string        `json:"job"`
	Kind    string        `json:"kind"`
	Seconds float64       `json:"seconds"`
	Metrics []jobs.Metric `json:"metrics"`

	Audit struct {
		Says string `json:"says"`
	} `json:"audit"`

	Warnings []string `json:"warnings"`

	Certificate json.RawMessage `json:"certificate"`
}

func parseReport(data []byte) (r runReport, err error) {
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s is not a run report: %w", worker.ReportFile, err)
	}
	return r, nil
}

// reportSource is a job, in a cluster or in the store of one, or the folder that a URI names.
type reportSource struct {
	a           *app
	from, store string
}

// read reads a file of a job's report.
func (s reportSource) read(ctx context.Context, name string) ([]byte, error) {
	a, from := s.a, s.from
	if s.store != "" {
		return a.leftOutput(ctx, s.store, from, name)
	}
	if strings.ContainsAny(from, "./") {
		return readObject(ctx, a.folder(from)+name, maxReportBytes, "")
	}
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	job, err := c.find(ctx, from)
	if err != nil {
		return nil, err
	}
	if _, err := modelOf(job); err != nil {
		return nil, err // it says why there is none yet
	}
	return readOutput(ctx, job, name)
}
