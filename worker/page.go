package worker

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/gram-compute/gram/attestation/mlbom"
	"github.com/gram-compute/gram/jobs"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report"
	"github.com/gram-compute/gram/report/style"
)

// page makes the page of a finished job and adds its figures to the facts. A job whose figures cannot
// be made has succeeded all the same: the page says that it lacks them.
func (j *job) page(facts *runReport, brief *pb.JobBrief, model []byte) ([]byte, error) {
	page := report.Page{
		Job: facts.Job, Name: facts.Name, Kind: facts.Kind, ModelSHA256: facts.ModelSHA256, Seconds: facts.Seconds,
		Metrics: facts.Metrics, Timeline: facts.Timeline, Facts: j.summary(len(model)), Audits: facts.Audit.page(),
		Run: j.run(facts, brief), Spec: report.Indented(brief.GetSpecJson()), Links: beside(facts),
	}
	page.Set, page.Defaults = report.ParamsOf(j.kind, j.spec)
	if facts.Audit != nil {
		page.Facts = append(page.Facts, [2]string{"audits", facts.Audit.Says})
	}
	if text := facts.Timeline.ForecastText(); text != "" {
		page.Facts = append(page.Facts, [2]string{"forecast", text})
	}
	for _, warning := range facts.Warnings {
		page.Facts = append(page.Facts, [2]string{"warning", warning})
	}
	for _, c := range facts.Integrity {
		page.Facts = append(page.Facts,
			[2]string{"integrity of " + strings.TrimPrefix(c.DataSet, "spec."), integrityText(c)})
	}
	for _, r := range facts.Rounds {
		page.Rounds = append(page.Rounds,
			report.Round{Number: r.Round, Phase: r.Phase, Leaves: r.Leaves, Seconds: r.Seconds})
	}
	certificate, err := j.certificate(model)
	if facts.Certificate = certificate; err != nil {
		j.w.cfg.Logger.Warn("the report has no certificate", "job", j.id, "error", err)
		page.Facts = append(page.Facts, [2]string{"certificate", "could not be made: " + err.Error()})
	}
	figures, err := j.figures(model, facts.Metrics)
	if err == nil {
		page.Figures = figures
		var whole []byte
		if whole, err = report.HTML(page); err == nil {
			facts.Figures = figures
			return whole, nil
		}
	}
	j.w.cfg.Logger.Warn("the report has no figures", "job", j.id, "error", err)
	page.Figures = nil
	page.Facts = append(page.Facts, [2]string{"figures", "could not be made: " + err.Error()})
	return report.HTML(page)
}

// figures asks the kind for the pictures of its model, and makes sure that JSON can hold them.
func (j *job) figures(model []byte, metrics []jobs.Metric) (figures []jobs.Figure, err error) {
	defer j.recovered("figures", &err)
	kind, err := j.w.cfg.Kind(j.spec.Kind)
	if err != nil || kind.Figures == nil {
		return nil, err
	}
	arrays, err := jobs.Decode(model)
	if err != nil {
		return nil, err
	}
	if figures, err = kind.Figures(arrays, metrics); err == nil {
		_, err = json.Marshal(figures)
	}
	return figures, err
}

// certificate asks the kind to check its model; nil where it does not.
func (j *job) certificate(model []byte) (certificate json.RawMessage, err error) {
	defer j.recovered("the certificate", &err)
	kind, err := j.w.cfg.Kind(j.spec.Kind)
	if err != nil || kind.Certify == nil {
		return nil, err
	}
	arrays, err := jobs.Decode(model)
	if err != nil {
		return nil, err
	}
	found, err := kind.Certify(arrays)
	if err != nil || found == nil {
		return nil, err
	}
	return json.Marshal(found)
}

// recovered turns a panic of a kind into an error: the job has succeeded before.
func (j *job) recovered(what string, err *error) {
	if cause := recover(); cause != nil {
		j.w.cfg.Logger.Error("panic in "+what, "job", j.id, "cause", cause, "stack", string(debug.Stack()))
		*err = fmt.Errorf("panic: %v", cause)
	}
}

// summary is what the page says of the job beside its name: what went in, and how much came out.
func (j *job) summary(modelBytes int) [][2]string {
	lines := [][2]string{
		{"model", sizeText(int64(modelBytes))},
		{"input", j.spec.Spec.Input.URI},
	}
	if q := j.spec.Spec.Queries; q != nil {
		lines = append(lines, [2]string{"queries", q.URI})
	}
	if j.spec.Spec.Model != "" {
		lines = append(lines, [2]string{"begins from", j.spec.Spec.Model})
	}
	if test := j.spec.Spec.Input.Split.Test; test > 0 {
		lines = append(lines, [2]string{"held out", fmt.Sprintf("%g of the records", test)})
	}
	if folds := j.spec.Spec.Input.Split.Folds; folds > 0 {
		lines = append(lines, [2]string{"folds", fmt.Sprint(folds)})
	}
	if split := j.spec.Spec.Input.Split; split.By != "" {
		lines = append(lines, [2]string{"spread evenly by", split.By})
	} else if split.Deals() {
		lines = append(lines, [2]string{"kept together by", fmt.Sprint(split.Group)})
	}
	return append(lines, [2]string{"seed", fmt.Sprint(j.spec.Spec.Repro.Seed)})
}

// sizeText is a number of bytes as people read it, and in full.
func sizeText(bytes int64) string {
	if bytes < 1024 {
		return style.Count(bytes) + " bytes"
	}
	return style.Size(bytes) + " (" + style.Count(bytes) + " bytes)"
}

// run is when, where and by what the job ran.
func (j *job) run(facts *runReport, brief *pb.JobBrief) report.Run {
	record := brief.GetRecord()
	r := report.Run{Build: j.w.cfg.Build, Go: runtime.Version()}
	if at := record.GetSubmittedUnixMs(); at > 0 {
		r.Submitted = report.Timestamp(at)
	}
	if at := record.GetStartedUnixMs(); at > 0 {
		r.Started = report.Timestamp(at)
	}
	if rounds := record.GetRounds(); len(rounds) > 0 {
		r.Ended = report.Timestamp(rounds[len(rounds)-1].GetFinishedUnixMs())
	}
	if r.Fill(facts.Timeline, brief.GetAudit()); len(r.Workers) == 0 {
		r.Workers, r.Kernels = brief.GetWorkers(), brief.GetKernels()
	}
	return r
}

// beside are the files beside the page that people look for, by their names there.
func beside(facts *runReport) []report.Link {
	links := []report.Link{
		{File: ModelFile, Says: "the model"}, {File: ProvenanceFile, Says: "spec, inputs and states"},
		{File: ReportFile, Says: "this page as data"}, {File: mlbom.File, Says: "a bill of materials"},
	}
	for _, f := range facts.Files {
		if len(links) == maxLinks {
			break
		}
		links = append(links, report.Link{File: f.Name})
	}
	return links
}

// maxLinks bounds the files that the page names.
const maxLinks = 12
