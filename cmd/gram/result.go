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
	"github.com/gram-compute/gram/jobs/evaluation"
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
	metrics, err := reportedMetrics(ctx, job)
	if err != nil {
		return err
	}
	took := time.Duration(job.GetFinishedUnixMs()-job.GetSubmittedUnixMs()) * time.Millisecond
	table := terminal.Table{}
	table.Row("job", job.GetId())
	table.Row("took", terminal.Elapsed(took))
	for _, m := range metrics {
		if text := metricText(m); text != "" {
			table.Row(m.Name, text)
		}
	}
	table.Write(a.out)
	a.printOutputs(job)
	return nil
}

// reportedMetrics reads the metrics out of the job's report, and holds it against its digest.
func reportedMetrics(ctx context.Context, job *gramv1.Job) ([]jobs.Metric, error) {
	for _, o := range job.GetOutputs() {
		if o.GetName() != worker.ReportFile {
			continue
		}
		data, err := readObject(ctx, o.GetUri(), maxReportBytes, hex.EncodeToString(o.GetSha256()))
		if err != nil {
			return nil, err
		}
		var report struct {
			Metrics []jobs.Metric `json:"metrics"`
		}
		if err := json.Unmarshal(data, &report); err != nil {
			return nil, fmt.Errorf("report %s: %w", o.GetUri(), err)
		}
		return report.Metrics, nil
	}
	return nil, nil
}

// metricText is a metric in one short line; lists and objects are left to the report.
func metricText(m jobs.Metric) string {
	var e evaluation.Report
	if m.Name == "evaluation" && json.Unmarshal(m.Value, &e) == nil {
		return fmt.Sprintf("accuracy %.4f, macro F1 %.4f, %d test records, %d rejected", e.Accuracy, e.Macro.F1, e.Records, e.Rejected)
	}
	if text := string(m.Value); !strings.ContainsAny(text[:min(1, len(text))], "[{") {
		return terminal.Shorten(text, 50)
	}
	return ""
}
