package main

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/runreport"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol/gramv1"
)

func metric(name, value string) jobs.Metric {
	return jobs.Metric{Name: name, Value: json.RawMessage(value)}
}

func TestMetricRows(t *testing.T) {
	rows := runreport.MetricRows([]jobs.Metric{
		metric("features.records", "1797"),
		metric("lloyd.001.distortion", "1024458.5"), metric("lloyd.002.distortion",
			"583842.25"), metric("lloyd.010.distortion", "582632.88"),
		metric("train.001.mistakes", "12"),
		metric("restart.1.lloyd.001.distortion", "7"),
		metric("kmeans.sizes", "[96,165]"), metric("kmeans.stop", `"unchanged"`),
		metric("evaluation",
			`{"records":4,"rejected":1,"accuracy":0.75,"macro":{"f1":0.5}}`),
		metric("evaluation.confusion", `{"labels":[]}`),
		metric("evaluation.mistakes", `[{"truth":"a"}]`),
		metric("evaluation.regression",
			`{"records":3,"mean_squared_error":0.125,"mean_absolute_error":0.25,"r2":-1.5}`),
		metric("evaluation.novelty", `{"normal":8,"novel":2,"auc":0.75,"top":2,"precision_at_top":0.5,"false_alarms":1,`+
			`"detected":2,"curve":[[0,0]]}`),
		metric("svm.margin.000.lo", "0.5"), metric("svm.margin.001.lo", "0.25"), metric("svm.margin.002.lo", "0"),
		metric("linear.support.000", "3"), metric("linear.support.001", "4"), metric("linear.support", "7"),
		metric("projection.measured", `{"queries":19,"recall":0.4912280701,"within":[{"eps":0.1}]}`),
		metric("deep", `{"a":[1]}`), metric("steer", `"\u001b[2J"`), metric("long", `"`+strings.Repeat("x", 100)+`"`),
	})
	var lines []string
	for _, row := range rows {
		lines = append(lines, row[0]+": "+row[1])
	}
	want := `features.records: 1797
lloyd.distortion: 1024458 ... 582633 in 3 rounds
train.mistakes: 12
kmeans.sizes: 96, 165
kmeans.stop: unchanged
evaluation: accuracy 0.7500, macro F1 0.5000, 4 test records, 1 rejected
evaluation.regression: R2 -1.5000, MSE 0.125, MAE 0.25, 3 test records
evaluation.novelty: AUC 0.7500, 0.5000 of the top 2 are novel, 1 of 8 normal records are false alarms, 2 of 2 novel ` +
		`ones are detected
svm.margin.lo: 0.5 ... 0 in 3 machines
linear.support: 3 ... 4 in 2 machines
linear.support: 7
projection.measured: queries 19, recall 0.491228
steer: \x1b[2J
long: ` + strings.Repeat("x", 49) + "..."
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("rows\n%s\nwant\n%s", got, want)
	}
}

// writeReports writes the reports of a job, and returns the job.
func writeReports(c *session) *gramv1.Job {
	c.t.Helper()
	folder := filepath.Join(c.app.dir, "models", "digits-1")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		c.t.Fatal(err)
	}
	job := jobIn("digits-1", succeeded)
	for _, file := range [][2]string{
		{"model.safetensors", "no matter"},
		{"report.json", `{"job":"digits-1","seconds":1.5,"metrics":[{"name":"kmeans.sizes","value":[1,2]}],
			"audit":{"drawn":26,"says":"no task was made twice: there was no second worker"},
			"certificate":{"verdict":"cannot be told",
			"tellable_by":"set params.psd_sample below 40, raise params.gamma, or scale the columns"}}`},
		{"report.html", "<!doctype html>the page"},
	} {
		if err := os.WriteFile(filepath.Join(folder, file[0]), []byte(file[1]), 0o600); err != nil {
			c.t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(file[1]))
		job.Outputs = append(job.Outputs,
			&gramv1.OutputFile{Name: file[0], Uri: "file://" + filepath.Join(folder, file[0]), Sha256: sum[:]})
	}
	return job
}

func TestReport(t *testing.T) {
	var job *gramv1.Job
	c := clientOf(t, &backend{get: func(string) (*gramv1.Job, error) { return job, nil }})
	job = writeReports(c)
	for _, from := range []string{"digits-1", "./models/digits-1"} {
		c.stdout.Reset()
		c.want(0, c.run("report", from))
		want := `job                      digits-1
took                     1.5s
kmeans.sizes             1, 2
certificate.verdict      cannot be told
certificate.tellable_by  set params.psd_sample below 40, raise params.gamma, or
  scale the columns
audits                   no task was made twice: there was no second worker
`
		if c.stdout.String() != want {
			t.Errorf("%s:\n%s", from, c.stdout.String())
		}
	}
	c.stdout.Reset()
	c.want(0, c.run("report", "digits-1", "-o", "json"))
	if !json.Valid(c.stdout.Bytes()) || !strings.Contains(c.stdout.String(), `"seconds":1.5`) {
		t.Errorf("%s", c.stdout.String())
	}
	c.stdout.Reset()
	c.want(0, c.run("report", "digits-1", "--page", "-"))
	c.want(0, c.run("report", "digits-1", "--page", "page.html"))
	data, err := os.ReadFile(filepath.Join(c.app.dir, "page.html"))
	if err != nil || string(data) != c.stdout.String() || !strings.Contains(string(data), "the page") {
		t.Errorf("page %q, stdout %q, %v", data, c.stdout.String(), err)
	}
	job.Outputs[2].Sha256[0]++
	c.want(exit.Failed, c.run("report", "digits-1", "--page", "-"))
	job.Outputs = job.Outputs[:2] // of a job of an older release
	c.want(exit.Failed, c.run("report", "digits-1", "--page", "-"))
	if !strings.Contains(c.stderr.String(), "left no report.html") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}
