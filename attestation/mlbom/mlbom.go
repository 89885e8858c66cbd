// Package mlbom writes a bill of materials for a model: CycloneDX 1.6 (ECMA-424), with a component of the type
// machine-learning-model, its model card, and the data sets that it was made from. The same facts give the same bytes.
package mlbom

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/proof"
)

// File is the name of the bill beside a model.
const File = "bom.cdx.json"

// Facts are what the bill says. What is empty is left out.
type Facts struct {
	Job, Name, Kind string
	Build           string // of gram
	Timestamp       string // RFC 3339: when the model was finished
	SHA256          string // of the model, in hexadecimal
	SpecHash, Root  string // in hexadecimal
	Approach        string // supervised, unsupervised, semi-supervised, self-supervised or reinforcement-learning
	Format          string // of the input
	DataSets        []DataSet
	Metrics         []Metric // on records that the model has not learned from
	InitialModel    *Initial
	Model           string // name of the model's file
	Beside          []string
}

// DataSet is a data set that was read.
type DataSet struct {
	Field   string // of the spec: "spec.input" or "spec.queries"
	URI     string
	Objects int
	Digest  string // SHA-256 of the job's manifest, which lists its objects, in hexadecimal; "" for queries
}

// Initial is the model that a job began with.
type Initial struct {
	URI, SHA256 string
}

// Metric is a figure of the model's quality.
type Metric struct {
	Type, Value, Slice string
}

// namespace is that of serial numbers (RFC 9562, version 5).
var namespace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/gram-compute/gram/mlbom"))

type bill struct {
	Schema       string       `json:"$schema"`
	BOMFormat    string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components,omitempty"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp,omitempty"`
	Tools     tools     `json:"tools"`
	Component component `json:"component"`
}

type tools struct {
	Components []component `json:"components"`
}

type component struct {
	Type       string      `json:"type"`
	Ref        string      `json:"bom-ref,omitempty"`
	Name       string      `json:"name"`
	Version    string      `json:"version,omitempty"`
	Hashes     []hash      `json:"hashes,omitempty"`
	References []reference `json:"externalReferences,omitempty"`
	Card       *card       `json:"modelCard,omitempty"`
	Data       []data      `json:"data,omitempty"`
	Properties []property  `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type reference struct {
	URL  string `json:"url"`
	Type string `json:"type"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type card struct {
	Parameters parameters `json:"modelParameters"`
	Analysis   *analysis  `json:"quantitativeAnalysis,omitempty"`
}

type parameters struct {
	Approach     *approach `json:"approach,omitempty"`
	Architecture string    `json:"modelArchitecture"`
	DataSets     []ref     `json:"datasets,omitempty"`
	Inputs       []format  `json:"inputs,omitempty"`
}

type approach struct {
	Type string `json:"type"`
}

type format struct {
	Format string `json:"format"`
}

type ref struct {
	Ref string `json:"ref"`
}

type analysis struct {
	Metrics []performance `json:"performanceMetrics"`
}

type performance struct {
	Type  string `json:"type"`
	Value string `json:"value"`
	Slice string `json:"slice,omitempty"`
}

type data struct {
	Ref      string   `json:"bom-ref"`
	Type     string   `json:"type"`
	Name     string   `json:"name"`
	Contents contents `json:"contents"`
}

type contents struct {
	URL        string     `json:"url,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

const modelRef = "model"

// Encode writes the bill as indented JSON. Its serial number follows from the facts that name the model: the job, the
// model's digest and the root of its proof.
func Encode(f Facts) ([]byte, error) {
	b := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", BOMFormat: "CycloneDX", SpecVersion: "1.6",
		SerialNumber: "urn:uuid:" + uuid.NewSHA1(namespace, []byte(f.Job+"\n"+f.SHA256+"\n"+f.Root)).String(),
		Version:      1,
		Metadata: metadata{
			Timestamp: f.Timestamp, Component: f.model(),
			Tools: tools{[]component{{Type: "application", Name: "gram", Version: f.Build}}},
		},
	}
	depends := dependency{Ref: modelRef}
	for _, set := range f.DataSets {
		b.Components = append(b.Components, set.component())
		depends.DependsOn = append(depends.DependsOn, set.componentRef())
	}
	if m := f.InitialModel; m != nil {
		b.Components = append(b.Components, component{Type: "machine-learning-model", Ref: "initial-model", Name: m.URI,
			Hashes: []hash{{"SHA-256", m.SHA256}}})
		depends.DependsOn = append(depends.DependsOn, "initial-model")
	}
	b.Dependencies = []dependency{depends}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(b); err != nil {
		return nil, fmt.Errorf("encode the bill of materials: %w", err)
	}
	return out.Bytes(), nil
}

// model describes the model itself.
func (f Facts) model() component {
	c := component{Type: "machine-learning-model", Ref: modelRef, Name: f.Name, Version: f.Job,
		Hashes: []hash{{"SHA-256", f.SHA256}},
		Card:   &card{Parameters: parameters{Architecture: f.Kind}},
	}
	if c.Name == "" {
		c.Name = f.Kind
	}
	for _, name := range f.Beside {
		c.References = append(c.References, reference{URL: name, Type: referenceType(name)})
	}
	c.Properties = known("gram:spec_sha256", f.SpecHash, "gram:proof_root", f.Root, "gram:file", f.Model)
	if f.Approach != "" {
		c.Card.Parameters.Approach = &approach{f.Approach}
	}
	if f.Format != "" {
		c.Card.Parameters.Inputs = []format{{f.Format}}
	}
	for _, set := range f.DataSets {
		c.Card.Parameters.DataSets = append(c.Card.Parameters.DataSets, ref{set.dataRef()})
	}
	if len(f.Metrics) > 0 {
		c.Card.Analysis = new(analysis)
		for _, m := range f.Metrics {
			c.Card.Analysis.Metrics = append(c.Card.Analysis.Metrics, performance(m))
		}
	}
	return c
}

// referenceType is what CycloneDX calls a file beside the model.
func referenceType(name string) string {
	switch name {
	case origin.ProvenanceFile, proof.ManifestFile:
		return "evidence"
	case origin.ReportFile, origin.PageFile:
		return "model-card"
	}
	return "other"
}

func (s DataSet) componentRef() string { return "data:" + s.Field }
func (s DataSet) dataRef() string      { return "dataset:" + s.Field }

func (s DataSet) component() component {
	c := component{Type: "data", Ref: s.componentRef(), Name: s.URI, Data: []data{{
		Ref: s.dataRef(), Type: "dataset", Name: s.Field,
		Contents: contents{URL: iri(s.URI), Properties: known("gram:objects", fmt.Sprint(s.Objects))},
	}}}
	if s.Digest != "" {
		c.Properties = known("gram:listing_sha256", s.Digest)
	}
	return c
}

// known pairs names and values, and leaves out values that are empty.
func known(pairs ...string) []property {
	var list []property
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(list, property{pairs[i], pairs[i+1]})
		}
	}
	return list
}

// iri escapes what a URI of a store takes literally and an IRI reference must not hold.
func iri(uri string) string {
	const plain = "-._~:/@!$&'()*+,;="
	var out []byte
	for _, c := range []byte(uri) {
		switch {
		case c >= 0x80, c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z',
			bytes.IndexByte([]byte(plain), c) >= 0:
			out = append(out, c)
		default:
			out = fmt.Appendf(out, "%%%02X", c)
		}
	}
	return string(out)
}
