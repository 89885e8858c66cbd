package origin

import (
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
	anew := len(r.Rounds) > 0 && int(r.Rounds[len(r.Rounds)-1].Round) > len(rounds)
	want := *r
	want.Metrics, want.Files = []jobs.Metric{}, nil
	for _, round := range rounds[max(0, len(rounds)-len(r.Rounds)):] {
		stored, err := asStored(round.Metrics)
		if err != nil {
			return nil, err
		}
		want.Metrics = AppendNew(want.Metrics, stored)
		for _, f := range round.Files {
			if !slices.Contains(want.Files, f) {
				want.Files = append(want.Files, f)
			}
		}
	}
	want.Metrics, want.Warnings = TakeWarnings(want.Metrics)
	for _, w := range r.Warnings[min(len(want.Warnings), len(r.Warnings)):] {
		if strings.HasPrefix(w, AuditsWarning) {
			want.Warnings = append(want.Warnings, w)
		}
	}
	if anew {
		has, err := asStored(r.Metrics)
		if err != nil {
			return nil, err
		}
		want.Metrics, want.Files = AppendNew(has, want.Metrics), appendMissing(r.Files, want.Files)
		want.Warnings = appendMissing(r.Warnings, want.Warnings)
	}
	return mismatches(ReportFile, r, want, by)
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
