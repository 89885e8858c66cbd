package mlbom_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/gram-compute/gram/attestation/mlbom"
	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
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

// made reads a small job's provenance.json and metrics. The digests of the model, the manifest and the root are 64
// times a, b and c.
func made(t testing.TB) (*origin.Provenance, []jobs.Metric) {
	t.Helper()
	digest := func(digit string) string { return strings.Repeat(digit, 64) }
	p, err := origin.ReadProvenance([]byte(`{"job":"j-1","spec":{"kind":"NaiveBayes","metadata":{"name":"n"},"spec":{
"input":{"uri":"s3://b/x.tsv","format":"tsv"},"queries":{"uri":"s3://b/q"}}},"spec_sha256":"s",
"model":{"sha256":"` + digest("a") + `"},"manifest":{"sha256":"` + digest("b") + `"},
"object_count":2,"queries":{"object_count":3},"initial_model":{"uri":"s3://m/old","sha256":"00"},
"rounds":[{"finished":"t1"},{"finished":"t2"}],"build":"b","proof":{"root":"` + digest("c") + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := origin.ReadReport([]byte(`{"metrics":[{"name":"counts.records","value":4},
{"name":"evaluation","value":{"records":4,"accuracy":0.75,"macro":{"f1":0.50}}},
{"name":"evaluation.confusion","value":{"accuracy":1}},{"name":"evaluation","value":[]},
{"name":"evaluation.regression","value":{"mean_squared_error":0.125,"r2":-1.5}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return p, r.Metrics
}

// The facts of a bill are those of the files beside the model, scores word for word.
func TestDescribe(t *testing.T) {
	p, metrics := made(t)
	got, err := mlbom.Describe(p, metrics, "model.safetensors", "report.json")
	if err != nil {
		t.Fatal(err)
	}
	const on = "test records"
	want := mlbom.Facts{
		Job: "j-1", Name: "n", Kind: "NaiveBayes", Build: "b", Timestamp: "t2", SHA256: strings.Repeat("a", 64),
		SpecHash: "s", Root: strings.Repeat("c", 64), Approach: "supervised", Format: "tsv", Model: "model.safetensors",
		Beside:       []string{"report.json", "proof/manifest.json"},
		InitialModel: &mlbom.Initial{URI: "s3://m/old", SHA256: "00"},
		DataSets: []mlbom.DataSet{
			{Field: "spec.input", URI: "s3://b/x.tsv", Objects: 2, Digest: strings.Repeat("b", 64)},
			{Field: "spec.queries", URI: "s3://b/q", Objects: 3}},
		Metrics: []mlbom.Metric{
			{Type: "accuracy", Value: "0.75", Slice: on}, {Type: "macro F1", Value: "0.50", Slice: on},
			{Type: "mean squared error", Value: "0.125", Slice: on}, {Type: "R2", Value: "-1.5", Slice: on},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	p.Spec = []byte("[]")
	if _, err := mlbom.Describe(p, metrics, "m"); err == nil {
		t.Error("a list was read as a spec")
	}
}

// A bill is compared with the one that follows, and the path of what was changed is named.
func TestCompare(t *testing.T) {
	p, metrics := made(t)
	bill, err := mlbom.Of(p, metrics)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := mlbom.Compare(bill, p, metrics); err != nil || len(found) > 0 {
		t.Errorf("nothing was changed: %v, %v", found, err)
	}
	for _, c := range []struct{ old, now, path string }{
		{strings.Repeat("a", 64), strings.Repeat("d", 64), "metadata.component.hashes[0].content"},
		{strings.Repeat("b", 64), strings.Repeat("d", 64), "components[0].properties[0].value"},
		{`"0.75"`, `"0.95"`, "metadata.component.modelCard.quantitativeAnalysis.performanceMetrics[0].value"},
		{`"version": 1,`, `"version": 1, "note": "x",`, "note"},
	} {
		changed := strings.Replace(string(bill), c.old, c.now, 1)
		found, err := mlbom.Compare([]byte(changed), p, metrics)
		if err != nil || len(found) != 1 || found[0].File != "bom.cdx.json" || found[0].Path != c.path {
			t.Errorf("%s in the place of %s: %+v, %v", c.now, c.old, found, err)
		}
	}
	twice := strings.Replace(string(bill), `"version": 1,`, `"version": 2, "version": 1,`, 1)
	for _, changed := range []string{"{", twice} {
		if _, err := mlbom.Compare([]byte(changed), p, metrics); err == nil {
			t.Errorf("read %.40s", changed)
		}
	}
}

// Whatever the two files are, they end in a bill or an error.
func FuzzDescribe(f *testing.F) {
	f.Add([]byte(`{"job":"j","spec":{"kind":"KMeans"}}`),
		[]byte(`{"metrics":[{"name":"evaluation","value":{"accuracy":1}}]}`))
	f.Fuzz(func(t *testing.T, record, report []byte) {
		p, err := origin.ReadProvenance(record)
		if err != nil {
			return
		}
		r, err := origin.ReadReport(report)
		if err != nil {
			return
		}
		facts, err := mlbom.Describe(p, r.Metrics, "m")
		if err != nil {
			return
		}
		if data, err := mlbom.Encode(facts); err != nil || !json.Valid(data) {
			t.Errorf("%q, %v", data, err)
		}
	})
}
