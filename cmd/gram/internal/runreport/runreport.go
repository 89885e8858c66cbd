// Package runreport prints what a finished job found, as its report.json says.
package runreport

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/worker"
)

// Report is what is read of report.json.
type Report struct {
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

// Parse reads a report.json.
func Parse(data []byte) (r Report, err error) {
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s is not a run report: %w", worker.ReportFile, err)
	}
	return r, nil
}

// Print prints what a report says of a job.
func Print(out io.Writer, report Report, job string, took time.Duration) {
	table := terminal.Table{}
	table.Row("job", job)
	table.Row("took", terminal.Elapsed(took))
	for _, row := range MetricRows(report.Metrics) {
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
	fmt.Fprint(out, terminal.Wrap(rows.String(), terminal.Columns))
	printPairs(out, report.Metrics)
	for _, w := range report.Warnings {
		fmt.Fprintln(out, terminal.Wrap("warning: "+terminal.Clean(w), terminal.Columns))
	}
}
