package mlbom

import (
	"encoding/json"
	"fmt"
)

// approaches are how kinds learn, in the words of CycloneDX. Kinds that learn nothing, or in several ways, have none.
var approaches = map[string]string{
	"NaiveBayes": "supervised", "GaussianNaiveBayes": "supervised", "NearestMean": "supervised",
	"KernelNearestMean": "supervised", "KernelDensityBayes": "supervised", "Perceptron": "supervised",
	"KernelPerceptron": "supervised", "KMeans": "unsupervised",
}

// record is provenance.json, as far as the bill tells of it.
type record struct {
	Job  string `json:"job"`
	Spec struct {
		Kind     string                `json:"kind"`
		Metadata struct{ Name string } `json:"metadata"`
		Spec     struct {
			Input   source  `json:"input"`
			Queries *source `json:"queries"`
		} `json:"spec"`
	} `json:"spec"`
	SpecHash    string `json:"spec_sha256"`
	Model       digest `json:"model"`
	Manifest    digest `json:"manifest"`
	ObjectCount int    `json:"object_count"`
	Queries     *struct {
		ObjectCount int `json:"object_count"`
	} `json:"queries"`
	InitialModel *Initial `json:"initial_model"`
	Rounds       []struct {
		Finished string `json:"finished"`
	} `json:"rounds"`
	Build string `json:"build"`
	Proof *struct {
		Root string `json:"root"`
	} `json:"proof"`
}

type source struct {
	URI    string `json:"uri"`
	Format string `json:"format"`
}

type digest struct {
	SHA256 string `json:"sha256"`
}

type runReport struct {
	Metrics []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	} `json:"metrics"`
}

// Describe takes the facts from provenance.json and report.json of a job. The names are those of the files beside the
// model.
func Describe(provenance, report []byte, model string, beside ...string) (Facts, error) {
	var r record
	if err := json.Unmarshal(provenance, &r); err != nil {
		return Facts{}, fmt.Errorf("read provenance.json: %w", err)
	}
	f := Facts{
		Job: r.Job, Name: r.Spec.Metadata.Name, Kind: r.Spec.Kind, Build: r.Build, SHA256: r.Model.SHA256,
		SpecHash: r.SpecHash, Approach: approaches[r.Spec.Kind], Format: r.Spec.Spec.Input.Format,
		InitialModel: r.InitialModel, Model: model, Beside: beside,
		DataSets: []DataSet{{Field: "spec.input", URI: r.Spec.Spec.Input.URI, Objects: r.ObjectCount,
			Digest: r.Manifest.SHA256}},
	}
	if r.Queries != nil && r.Spec.Spec.Queries != nil {
		f.DataSets = append(f.DataSets, DataSet{Field: "spec.queries", URI: r.Spec.Spec.Queries.URI,
			Objects: r.Queries.ObjectCount})
	}
	if n := len(r.Rounds); n > 0 {
		f.Timestamp = r.Rounds[n-1].Finished
	}
	if r.Proof != nil {
		f.Root = r.Proof.Root
		f.Beside = append(f.Beside, proofManifest)
	}
	var err error
	f.Metrics, err = scoresIn(report)
	return f, err
}

// scoresIn are the scores on test records, the most telling first; what a job does not measure is left out.
func scoresIn(report []byte) ([]Metric, error) {
	var r runReport
	if err := json.Unmarshal(report, &r); err != nil {
		return nil, fmt.Errorf("read report.json: %w", err)
	}
	var found []Metric
	for _, m := range r.Metrics {
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
		for _, score := range []Metric{
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
	return found, nil
}
