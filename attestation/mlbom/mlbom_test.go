package mlbom_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/gram-compute/gram/attestation/mlbom"
)

var facts = mlbom.Facts{
	Job: "j-1", Kind: "KMeans", Build: "v1", Timestamp: "2026-11-25T06:00:00.000Z", SHA256: strings.Repeat("ab", 32),
	SpecHash: "s", Root: "r", Approach: "unsupervised", Format: "csv", Model: "model.safetensors",
	DataSets:     []mlbom.DataSet{{Field: "spec.input", URI: "s3://b/a b/*.csv", Objects: 3, Digest: "d"}},
	InitialModel: &mlbom.Initial{URI: "s3://m/old", SHA256: strings.Repeat("00", 32)},
	Metrics:      []mlbom.Metric{{Type: "accuracy", Value: "0.5", Slice: "test records"}},
}

func TestEncode(t *testing.T) {
	data, err := mlbom.Encode(facts)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := mlbom.Encode(facts); err != nil || !bytes.Equal(data, again) {
		t.Error("the same facts gave other bytes")
	}
	var got struct {
		SerialNumber string
		Metadata     struct {
			Component struct {
				Name      string
				ModelCard struct {
					ModelParameters struct {
						Approach struct{ Type string }
						Datasets []struct{ Ref string }
					}
				}
			}
		}
		Components []struct {
			Ref  string `json:"bom-ref"`
			Type string
			Data []struct {
				Ref      string `json:"bom-ref"`
				Contents struct{ URL string }
			}
		}
		Dependencies []struct{ DependsOn []string }
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	card := got.Metadata.Component.ModelCard.ModelParameters
	// the serial number by Python: uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_URL,
	// "https://github.com/gram-compute/gram/mlbom"), "j-1\n" + 32 * "ab" + "\nr")
	if got.SerialNumber != "urn:uuid:f140662d-33cb-5487-ad6e-021aed6a2ae4" || got.Metadata.Component.Name != "KMeans" ||
		card.Approach.Type != "unsupervised" || card.Datasets[0].Ref != got.Components[0].Data[0].Ref ||
		got.Components[0].Data[0].Contents.URL != "s3://b/a%20b/*.csv" ||
		got.Components[1].Type != "machine-learning-model" {
		t.Errorf("%+v", got)
	}
	for i, ref := range got.Dependencies[0].DependsOn {
		if ref != got.Components[i].Ref {
			t.Errorf("depends on %s, which is no component", ref)
		}
	}
}

// What is not known is left out, and two models have two serial numbers.
func TestEncodeLittle(t *testing.T) {
	little := mlbom.Facts{Job: "j-1", Kind: "KMeans", SHA256: facts.SHA256}
	data, err := mlbom.Encode(little)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"approach", "quantitativeAnalysis", "datasets", "components\": null", "timestamp"} {
		if strings.Contains(string(data), word) {
			t.Errorf("%s is in %s", word, data)
		}
	}
	little.Job = "j-2"
	other, err := mlbom.Encode(little)
	if err != nil || bytes.Equal(data, other) {
		t.Errorf("another job has the same bill: %v", err)
	}
}

// The facts of a bill are those of the files beside the model, scores word for word.
func TestDescribe(t *testing.T) {
	record := `{"job":"j-1","spec":{"kind":"NaiveBayes","metadata":{"name":"n"},"spec":{"input":{"uri":"s3://b/x.tsv",
"format":"tsv"},"queries":{"uri":"s3://b/q"}}},"spec_sha256":"s","model":{"sha256":"m"},"manifest":{"sha256":"l"},
"object_count":2,"queries":{"object_count":3},"initial_model":{"uri":"s3://m/old","sha256":"00"},
"rounds":[{"finished":"t1"},{"finished":"t2"}],"build":"b","proof":{"root":"r"}}`
	report := `{"metrics":[{"name":"counts.records","value":4},
{"name":"evaluation","value":{"records":4,"accuracy":0.75,"macro":{"f1":0.50}}},
{"name":"evaluation.confusion","value":{"accuracy":1}},{"name":"evaluation","value":[]},
{"name":"evaluation.regression","value":{"mean_squared_error":0.125,"r2":-1.5}}]}`
	got, err := mlbom.Describe([]byte(record), []byte(report), "model.safetensors", "report.json")
	if err != nil {
		t.Fatal(err)
	}
	const on = "test records"
	want := mlbom.Facts{
		Job: "j-1", Name: "n", Kind: "NaiveBayes", Build: "b", Timestamp: "t2", SHA256: "m", SpecHash: "s", Root: "r",
		Approach: "supervised", Format: "tsv", Model: "model.safetensors",
		Beside:       []string{"report.json", "proof/manifest.json"},
		InitialModel: &mlbom.Initial{URI: "s3://m/old", SHA256: "00"},
		DataSets: []mlbom.DataSet{{Field: "spec.input", URI: "s3://b/x.tsv", Objects: 2, Digest: "l"},
			{Field: "spec.queries", URI: "s3://b/q", Objects: 3}},
		Metrics: []mlbom.Metric{
			{Type: "accuracy", Value: "0.75", Slice: on}, {Type: "macro F1", Value: "0.50", Slice: on},
			{Type: "mean squared error", Value: "0.125", Slice: on}, {Type: "R2", Value: "-1.5", Slice: on},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, pair := range [][2]string{{"{", report}, {record, "[]"}} {
		if _, err := mlbom.Describe([]byte(pair[0]), []byte(pair[1]), "m"); err == nil {
			t.Errorf("read %q and %q", pair[0], pair[1])
		}
	}
}

// Whatever the two files are, they end in a bill or an error.
func FuzzDescribe(f *testing.F) {
	f.Add([]byte(`{"spec":{"kind":"KMeans"}}`), []byte(`{"metrics":[{"name":"evaluation","value":{"accuracy":1}}]}`))
	f.Fuzz(func(t *testing.T, record, report []byte) {
		facts, err := mlbom.Describe(record, report, "m")
		if err != nil {
			return
		}
		if data, err := mlbom.Encode(facts); err != nil || !json.Valid(data) {
			t.Errorf("%q, %v", data, err)
		}
	})
}
