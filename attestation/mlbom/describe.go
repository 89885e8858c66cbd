package mlbom

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
)

// approaches are how kinds learn, in the words of CycloneDX. Kinds that learn nothing, or in several ways, have none.
var approaches = map[string]string{
	"NaiveBayes": "supervised", "GaussianNaiveBayes": "supervised", "NearestMean": "supervised",
	"KernelNearestMean": "supervised", "KernelDensityBayes": "supervised", "Perceptron": "supervised",
	"KernelPerceptron": "supervised", "LinearModel": "supervised",
	"SupportVectorMachine": "supervised", "KMeans": "unsupervised",
	"NoveltyDetector": "unsupervised",
}

// approachOf is how a job learned: kinds have a mode that takes no labels.
func approachOf(kind string, params json.RawMessage) string {
	var p struct {
		Mode string `json:"mode"`
	}
	if err := json.Unmarshal(params, &p); err == nil && p.Mode == "one_class" {
		return "unsupervised"
	}
	return approaches[kind]
}

// Of writes the bill of a job whose files have their usual names. It follows from provenance.json and the metrics of
// report.json alone.
func Of(p *origin.Provenance, metrics []jobs.Metric) ([]byte, error) {
	facts, err := Describe(p, metrics, origin.ModelFile, origin.ProvenanceFile, origin.ReportFile, origin.PageFile)
	if err != nil {
		return nil, err
	}
	return Encode(facts)
}

// Compare compares a bill with the one that follows from provenance.json and the metrics of report.json, and returns
// the fields that differ.
func Compare(bill []byte, p *origin.Provenance, metrics []jobs.Metric) ([]origin.Mismatch, error) {
	want, err := Of(p, metrics)
	if err != nil || bytes.Equal(bill, want) {
		return nil, err
	}
	const by = origin.ProvenanceFile + " and " + origin.ReportFile
	found, err := origin.Mismatches(File, bill, want, by)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s has the right fields in another form", File)
	}
	return found, err
}

// Describe takes the facts from provenance.json and the metrics of report.json. The names are those of the files beside
// the model.
func Describe(p *origin.Provenance, metrics []jobs.Metric, model string, beside ...string) (Facts, error) {
	job, err := p.JobSpec()
	if err != nil {
		return Facts{}, fmt.Errorf("read the spec in %s: %w", origin.ProvenanceFile, err)
	}
	spec := job.Spec
	f := Facts{
		Job: p.Job, Name: job.Metadata.Name, Kind: job.Kind, Build: p.Build, SHA256: p.Model.SHA256.String(),
		SpecHash: p.SpecHash, Approach: approachOf(job.Kind, spec.Params), Format: spec.Input.Format,
		Timestamp: p.Finished(),
		Metrics:   scoresIn(metrics), Model: model, Beside: beside,
		DataSets: []DataSet{{Field: "spec.input", URI: spec.Input.URI, Objects: p.ObjectCount,
			Digest: p.Manifest.SHA256.String()}},
	}
	if m := p.InitialModel; m != nil {
		f.InitialModel = &Initial{URI: m.URI, SHA256: m.SHA256}
	}
	if p.Queries != nil && spec.Queries != nil {
		f.DataSets = append(f.DataSets, DataSet{Field: "spec.queries", URI: spec.Queries.URI,
			Objects: p.Queries.ObjectCount})
	}
	if p.Proof != nil {
		f.Root = p.Proof.Root.String()
		f.Beside = append(f.Beside, proof.ManifestFile)
	}
	return f, nil
}

// judged are the metrics of evaluations.
var judged = map[string]bool{"evaluation": true, "evaluation.regression": true, "evaluation.novelty": true}

// scoresIn are the scores on test records, the most telling first; what a job does not measure is left out.
func scoresIn(metrics []jobs.Metric) (found []Metric) {
	for _, m := range metrics {
		var scores struct {
			Accuracy          json.Number
			Macro, Micro      struct{ F1, Precision, Recall json.Number }
			MeanSquaredError  json.Number `json:"mean_squared_error"`
			MeanAbsoluteError json.Number `json:"mean_absolute_error"`
			R2                json.Number
			AUC               json.Number
			FalseAlarmRate    json.Number `json:"false_alarm_rate"`
			DetectionRate     json.Number `json:"detection_rate"`
		}
		if !judged[m.Name] || json.Unmarshal(m.Value, &scores) != nil {
			continue
		}
		for _, score := range []Metric{
			{Type: "accuracy", Value: scores.Accuracy.String()},
			{Type: "macro F1", Value: scores.Macro.F1.String()},
			{Type: "macro precision", Value: scores.Macro.Precision.String()},
			{Type: "macro recall", Value: scores.Macro.Recall.String()},
			{Type: "micro F1", Value: scores.Micro.F1.String()},
			{Type: "mean squared error", Value: scores.MeanSquaredError.String()},
			{Type: "mean absolute error", Value: scores.MeanAbsoluteError.String()},
			{Type: "R2", Value: scores.R2.String()},
			{Type: "AUC", Value: scores.AUC.String()},
			{Type: "false alarm rate", Value: scores.FalseAlarmRate.String()},
			{Type: "detection rate", Value: scores.DetectionRate.String()},
		} {
			if score.Value != "" {
				score.Slice = "test records"
				found = append(found, score)
			}
		}
	}
	return found
}
