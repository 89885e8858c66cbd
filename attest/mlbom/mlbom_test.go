package mlbom_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gram-compute/gram/attest/mlbom"
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
		got.Components[0].Data[0].Contents.URL != "s3://b/a%20b/*.csv" || got.Components[1].Type != "machine-learning-model" {
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
