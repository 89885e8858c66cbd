package origin

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// Names of files beside the proof, as workers write them.
const (
	ModelFile      = "model.safetensors"
	ProvenanceFile = "provenance.json"
	ReportFile     = "report.json"
	PageFile       = "report.html"
)

// Provenance is provenance.json: what a model was made of.
type Provenance struct {
	SchemaVersion int             `json:"schema_version"`
	Job           string          `json:"job"`
	Spec          json.RawMessage `json:"spec"` // a protocol.JobSpec, defaults written in
	SpecHash      string          `json:"spec_sha256"`
	ResultHash    string          `json:"result_sha256"`
	Model         proof.File      `json:"model"`
	Manifest      proof.File      `json:"manifest"` // of the input
	Plan          proof.File      `json:"plan"`
	DataSet                       // spec.input
	Queries       *DataSet        `json:"queries,omitempty"`
	InitialModel  *planned.Model  `json:"initial_model,omitempty"`
	Rounds        []Round         `json:"rounds"` // the last MaxRounds
	Proof         *Summary        `json:"proof,omitempty"`
	Kernels       []string        `json:"kernel_sets"`
	Workers       []string        `json:"workers"`
	Build         string          `json:"build"`
	Go            string          `json:"go"`
	Submitted     string          `json:"submitted"`
	Started       string          `json:"started"`
}

// DataSet is a data set as it was planned.
type DataSet struct {
	Shards      int      `json:"shards"`
	Objects     []Object `json:"objects"` // the first MaxObjects
	ObjectCount int      `json:"object_count"`
	Labels      []Object `json:"labels,omitempty"` // the objects of labels_uri, the first MaxObjects
	IDs         []Object `json:"ids,omitempty"`    // those of ids_uri
}

// Object is an object as it was planned, and whether what was read of it was verified.
type Object struct {
	dataset.Object
	Integrity string `json:"integrity"`
}

// Round is a round of the job.
type Round struct {
	Round    uint32     `json:"round"`
	Phase    string     `json:"phase"`
	Leaves   uint64     `json:"leaves"`
	State    proof.File `json:"state"` // that it made; of the last round, the model
	Started  string     `json:"started"`
	Finished string     `json:"finished"`
}

// MaxObjects is how many objects of a list are named.
const MaxObjects = 1000

// MaxRounds is how many rounds of a job the coordinator remembers: the newest.
const MaxRounds = 256

// MaxBytes bounds provenance.json, report.json and the bill of materials.
const MaxBytes = 64 << 20

// DataSetOf tells of a data set, cut into shards, by its manifest.
func DataSetOf(manifest dataset.Manifest, input protocol.Input, shards int) DataSet {
	objects, labels, ids := dataset.Integrity(manifest, input)
	return DataSet{Shards: shards, Objects: listed(manifest.Objects, objects), ObjectCount: len(objects),
		Labels: listed(manifest.Labels, labels), IDs: listed(manifest.IDs, ids)}
}

func listed(objects []dataset.Object, integrity []string) []Object {
	list := make([]Object, min(len(objects), MaxObjects))
	for i := range list {
		list[i] = Object{objects[i], integrity[i]}
	}
	return list
}

// ReadProvenance reads provenance.json. It rejects a file that is too large, is not JSON of that form, gives one name
// twice in an object or writes it with capital letters, or does not name a job.
func ReadProvenance(data []byte) (*Provenance, error) {
	p := new(Provenance)
	if err := readNamed(data, p, "spec"); err != nil {
		return nil, err
	}
	if !protocol.ValidJobID(p.Job) {
		return nil, fmt.Errorf("%.80q is not a job's id", p.Job)
	}
	return p, nil
}

// JobSpec reads the spec. Who repeats the job reads it strictly (protocol.ParseSpec).
func (p *Provenance) JobSpec() (spec protocol.JobSpec, err error) {
	if len(p.Spec) == 0 {
		return spec, errors.New("there is no spec")
	}
	return spec, json.Unmarshal(p.Spec, &spec)
}

// Finished is when the model was finished: at the end of the last round.
func (p *Provenance) Finished() string {
	if n := len(p.Rounds); n > 0 {
		return p.Rounds[n-1].Finished
	}
	return ""
}

// readNamed reads JSON that gives each name once, in small letters. What is inside of members of the names in free may
// have any names, such as labels.
func readNamed(data []byte, to any, free ...string) error {
	if len(data) > MaxBytes {
		return fmt.Errorf("%d bytes; at most %d are read", len(data), MaxBytes)
	}
	if err := protocol.CheckAlike(data, free...); err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}
