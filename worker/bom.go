package worker

import (
	"encoding/json"

	"github.com/gram-compute/gram/attest/mlbom"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
)

// approaches are how kinds learn, in the words of CycloneDX; kinds that learn nothing have none.
var approaches = map[string]string{
	"NaiveBayes": "supervised", "GaussianNaiveBayes": "supervised", "NearestMean": "supervised",
	"KernelNearestMean": "supervised", "KernelDensityBayes": "supervised", "Perceptron": "supervised",
	"KernelPerceptron": "supervised", "KMeans": "unsupervised",
}

// bill is the bill of materials of the job's model.
func (j *job) bill(p provenance, facts *runReport, files []string) ([]byte, error) {
	f := mlbom.Facts{
		Job: j.id, Name: j.spec.Metadata.Name, Kind: j.spec.Kind, Build: p.Build, SHA256: p.Model.SHA256,
		SpecHash: p.SpecHash, Approach: approaches[j.spec.Kind], Format: j.spec.Spec.Input.Format,
		Model: ModelFile, Beside: files, Metrics: performance(facts.Metrics),
	}
	if n := len(p.Rounds); n > 0 {
		f.Timestamp = p.Rounds[n-1].Finished
	}
	if p.Proof != nil {
		f.Root = p.Proof.Root.String()
		f.Beside = append(f.Beside, proof.ManifestFile)
	}
	f.DataSets = []mlbom.DataSet{{Field: jobs.Input.String(), URI: j.spec.Spec.Input.URI, Objects: p.ObjectCount,
		Digest: p.Manifest.SHA256}}
	if p.Queries != nil {
		f.DataSets = append(f.DataSets, mlbom.DataSet{Field: jobs.Queries.String(), URI: j.spec.Spec.Queries.URI,
			Objects: p.Queries.ObjectCount})
	}
	if m := p.InitialModel; m != nil {
		f.InitialModel = &mlbom.Initial{URI: m.URI, SHA256: m.SHA256}
	}
	return mlbom.Encode(f)
}

// performance are the scores on test records, the most telling first; what a job does not measure is left out.
func performance(metrics []jobs.Metric) []mlbom.Metric {
	var found []mlbom.Metric
	for _, m := range metrics {
		var scores struct {
			Accuracy          json.Number
			Macro, Micro      struct{ F1, Precision, Recall json.Number }
			MeanSquaredError  json.Number `json:"mean_squared_error"`
			MeanAbsoluteError json.Number `json:"mean_absolute_error"`
			R2                json.Number
		}
		if m.Name != "evaluation" && m.Name != "evaluation.regression" || json.Unmarshal(m.Value, &scores) != nil {
			continue
		}
		for _, score := range []mlbom.Metric{
			{Type: "accuracy", Value: scores.Accuracy.String()},
			{Type: "macro F1", Value: scores.Macro.F1.String()},
			{Type: "macro precision", Value: scores.Macro.Precision.String()},
			{Type: "macro recall", Value: scores.Macro.Recall.String()},
			{Type: "micro F1", Value: scores.Micro.F1.String()},
			{Type: "mean squared error", Value: scores.MeanSquaredError.String()},
			{Type: "mean absolute error", Value: scores.MeanAbsoluteError.String()},
			{Type: "R2", Value: scores.R2.String()},
		} {
			if score.Value != "" {
				score.Slice = "test records"
				found = append(found, score)
			}
		}
	}
	return found
}
