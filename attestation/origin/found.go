package origin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// AuditsWarning begins a warning of the report that follows from audits, and not from the data.
const AuditsWarning = "audits: "

// Found is what a step found and wrote.
type Found struct {
	Metrics []jobs.Metric
	Files   []jobs.File // for which IsListed
}

// IsListed reports whether a report lists a file that a step wrote: tables and indexes, not parts.
func IsListed(name string) bool {
	return !strings.Contains(name, "/") || strings.HasSuffix(name, "/"+jobs.IndexName)
}

// CompareFound compares metrics, warnings and files of a report with what the steps of the proof's rounds found, in
// order of round, and returns the fields that differ. by says where that comes from. A report has the metrics of the
// rounds that it lists, which are the newest; that of a job that began anew may have more metrics, warnings and files.
func (r *Report) CompareFound(rounds []Found, by string) ([]Mismatch, error) {
	metrics, files := []jobs.Metric{}, []jobs.File{}
	for _, round := range rounds[max(0, len(rounds)-len(r.Rounds)):] {
		stored, err := asStored(round.Metrics)
		if err != nil {
			return nil, err
		}
		metrics, files = AppendNew(metrics, stored), appendMissing(files, round.Files)
	}
	metrics, warnings := TakeWarnings(metrics)
	for _, w := range r.Warnings[min(len(warnings), len(r.Warnings)):] {
		if strings.HasPrefix(w, AuditsWarning) {
			warnings = append(warnings, w)
		}
	}
	told, err := asStored(r.Metrics)
	if err != nil {
		return nil, err
	}
	if r.BeganAnew(len(rounds)) {
		metrics, files = AppendNew(slices.Clone(told), metrics), appendMissing(r.Files, files)
		warnings = appendMissing(r.Warnings, warnings)
	}
	found, err := compareMetrics(told, metrics, by)
	if err != nil {
		return nil, err
	}
	more, err := mismatches(ReportFile, Report{Warnings: r.Warnings, Files: r.Files},
		Report{Warnings: warnings, Files: files}, by)
	return append(found, more...), err
}

// BeganAnew reports whether the job began anew, by the rounds that the report lists: a proof has only those since then.
func (r *Report) BeganAnew(proved int) bool {
	n := len(r.Rounds)
	return n > 0 && int64(r.Rounds[n-1].Round) > int64(proved)
}

// compareMetrics compares metrics one at a time, up to the first that differs: after it, one may be left out or added.
func compareMetrics(told, metrics []jobs.Metric, by string) ([]Mismatch, error) {
	for i := range max(len(told), len(metrics)) {
		has, err := json.Marshal(told[min(i, len(told)):min(i+1, len(told))])
		if err != nil {
			return nil, fmt.Errorf("compare metrics: %w", err)
		}
		wants, err := json.Marshal(metrics[min(i, len(metrics)):min(i+1, len(metrics))])
		if err != nil {
			return nil, fmt.Errorf("compare metrics: %w", err)
		}
		found, err := Mismatches(ReportFile, has, wants, by)
		if err == nil && len(found) == 0 && !bytes.Equal(has, wants) {
			found = []Mismatch{{File: ReportFile, By: by}} // of the same paths, in another form
		}
		for j := range found {
			found[j].Path = fmt.Sprintf("metrics[%d]%s", i, strings.TrimPrefix(found[j].Path, "[0]"))
		}
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, nil
}

// asStored are metrics in the form in which they are stored between a step and the report.
func asStored(metrics []jobs.Metric) (stored []jobs.Metric, err error) {
	data, err := json.Marshal(metrics)
	if err == nil {
		err = json.Unmarshal(data, &stored)
	}
	if err != nil {
		return nil, fmt.Errorf("encode metrics: %w", err)
	}
	return stored, nil
}

func appendMissing[T comparable](has, want []T) []T {
	all := slices.Clone(has)
	for _, v := range want {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}
