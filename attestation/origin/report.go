package origin

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/protocol"
)

// Report is report.json as far as programs read it. What else it has are times, counts of tasks, audits and figures.
type Report struct {
	Job         string        `json:"job"`
	Name        string        `json:"name,omitempty"`
	Kind        string        `json:"kind"`
	ModelSHA256 string        `json:"model_sha256"`
	Rounds      []ReportRound `json:"rounds"`
	Metrics     []jobs.Metric `json:"metrics"`         // in order of round
	Files       []jobs.File   `json:"files,omitempty"` // beside the model; of parts, their index
	Integrity   []Integrity   `json:"integrity"`       // of what was read, by data set
	Proof       *Summary      `json:"proof,omitempty"`
	Warnings    []string      `json:"warnings,omitempty"`
}

// ReportRound is a round in report.json.
type ReportRound struct {
	Round   uint32  `json:"round"`
	Phase   string  `json:"phase"`
	Leaves  uint64  `json:"leaves"`
	Seconds float64 `json:"seconds"`
}

// Integrity counts the objects of a data set that were verified, and those that could not be, by reason in the order of
// the objects.
type Integrity struct {
	DataSet       string       `json:"data_set"` // the field of the spec
	Objects       int          `json:"objects"`
	Verified      int          `json:"verified"`
	NotVerifiable []Unverified `json:"not_verifiable,omitempty"`
}

// Unverified counts objects that could not be verified for one reason.
type Unverified struct {
	Why     string `json:"why"`
	Objects int    `json:"objects"`
	First   string `json:"first"`
}

// ReadReport reads report.json, as strictly as ReadProvenance. The values of metrics may have any names.
func ReadReport(data []byte) (*Report, error) {
	r := new(Report)
	if err := readNamed(data, r, "value"); err != nil {
		return nil, err
	}
	return r, nil
}

// IntegrityOf counts the verified objects of all data sets of a job, by jobs.Source.
func IntegrityOf(manifests []dataset.Manifest, specs []protocol.Input) []Integrity {
	var all []Integrity
	for i, m := range manifests {
		name := jobs.Source(i).String()
		objects, labels, ids := dataset.Integrity(m, specs[i])
		all = append(all, countIntegrity(name, m.Objects, objects))
		if len(labels) > 0 {
			all = append(all, countIntegrity(name+".labels_uri", m.Labels, labels))
		}
		if len(ids) > 0 {
			all = append(all, countIntegrity(name+".ids_uri", m.IDs, ids))
		}
	}
	return all
}

func countIntegrity(name string, objects []dataset.Object, integrity []string) Integrity {
	count := Integrity{DataSet: name, Objects: len(objects)}
	for i, said := range integrity {
		why, no := strings.CutPrefix(said, "not verifiable: ")
		if !no {
			count.Verified++
			continue
		}
		at := slices.IndexFunc(count.NotVerifiable, func(u Unverified) bool { return u.Why == why })
		if at < 0 {
			at = len(count.NotVerifiable)
			count.NotVerifiable = append(count.NotVerifiable, Unverified{Why: why, First: objects[i].Key})
		}
		count.NotVerifiable[at].Objects++
	}
	return count
}

// AppendNew appends the metrics that are not in the list word for word: rounds that read the same records skip the same
// ones.
func AppendNew(all, found []jobs.Metric) []jobs.Metric {
	for _, m := range found {
		same := func(before jobs.Metric) bool { return before.Name == m.Name && bytes.Equal(before.Value, m.Value) }
		if !slices.ContainsFunc(all, same) {
			all = append(all, m)
		}
	}
	return all
}

// TakeWarnings parts the warnings from the other metrics.
func TakeWarnings(metrics []jobs.Metric) (rest []jobs.Metric, warnings []string) {
	rest = slices.DeleteFunc(metrics, func(m jobs.Metric) bool {
		var found []string
		if m.Name != jobs.WarningsMetric || json.Unmarshal(m.Value, &found) != nil {
			return false
		}
		warnings = append(warnings, found...)
		return true
	})
	return rest, warnings
}

// specsOf are the data sets of a spec that inputs have, by jobs.Source.
func specsOf(spec protocol.Spec, inputs *planned.Inputs) []protocol.Input {
	specs := jobs.DataSets(spec)
	return specs[:min(len(specs), len(inputs.Manifests))]
}
