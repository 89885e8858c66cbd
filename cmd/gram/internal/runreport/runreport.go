// Package runreport prints what a finished job found, as its report.json says.
package runreport

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/report"
)

// Report is what is read of report.json: what follows from the job, and what only people want to know.
type Report struct {
	origin.Report
	Seconds  float64          `json:"seconds"`
	Timeline *report.Timeline `json:"timeline"`

	Audit struct {
		Says string `json:"says"`
	} `json:"audit"`

	Certificate json.RawMessage `json:"certificate"`

	// Of a job that did not succeed.
	State   string          `json:"state"`
	Failure *report.Failure `json:"failure"`
}

// Parse reads a report.json, as strictly as origin.ReadReport.
func Parse(data []byte) (r Report, err error) {
	if _, err = origin.ReadReport(data); err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("%s is not a run report: %w", origin.ReportFile, err)
	}
	return r, nil
}

// Print prints what a report says of a job.
func Print(out io.Writer, r Report, job string, took time.Duration) {
	table := terminal.Table{}
	table.Row("job", job)
	table.Row("took", terminal.Elapsed(took))
	if r.State != "" {
		table.Row("state", terminal.Clean(r.State))
	}
	if f := r.Failure; f != nil {
		table.Row("why", terminal.Clean(f.Message))
		if f.Task != "" {
			table.Row("task", terminal.Clean(f.Task+", "+f.Worker))
		}
	}
	for _, row := range MetricRows(r.Metrics) {
		table.Row(row[0], row[1])
	}
	for _, row := range certificateRows(r.Certificate) {
		table.Row(row[0], row[1])
	}
	if text := r.Timeline.ForecastText(); text != "" {
		table.Row("forecast", text)
	}
	if r.Audit.Says != "" {
		table.Row("audits", r.Audit.Says)
	}
	var rows strings.Builder
	table.Write(&rows)
	fmt.Fprint(out, terminal.Wrap(rows.String(), terminal.Columns))
	printPairs(out, r.Metrics)
	for _, w := range r.Warnings {
		fmt.Fprintln(out, terminal.Wrap("warning: "+terminal.Clean(w), terminal.Columns))
	}
}
