// Package planned reads and writes what the plan of a job says: the objects that it reads, pinned, their shards, and
// the model that it begins from. It is stored as two objects of JSON, the manifest and the plan.
package planned

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// Model is the model that a job began from, as the plan task read it.
type Model struct {
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// PinModel names a model by its bytes.
func PinModel(uri string, data []byte) *Model {
	sum := sha256.Sum256(data)
	return &Model{URI: uri, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
}

func (m *Model) check() error {
	sum, err := hex.DecodeString(m.SHA256)
	if err != nil || len(sum) != sha256.Size || m.URI == "" || m.Size < 0 {
		return errors.New("the model is not pinned by its SHA-256")
	}
	return nil
}

// storedManifest is a job's manifest object: what it reads, pinned.
type storedManifest struct {
	Input   json.RawMessage `json:"input"` // as package dataset writes it
	Queries json.RawMessage `json:"queries,omitempty"`
	Model   *Model          `json:"model,omitempty"`
}

// storedPlan is a job's plan object: the shards of each data set.
type storedPlan struct {
	Input   json.RawMessage `json:"input"`
	Queries json.RawMessage `json:"queries,omitempty"`
}

// Inputs is what a job reads, as it was planned.
type Inputs struct {
	Manifests []dataset.Manifest // by jobs.Source
	Shards    [][]dataset.Shard
	Model     *Model // that the job begins from; nil for none
}

// Marshal writes the manifest and the plan, the same bytes for the same ones.
func (p Inputs) Marshal() (manifest, plan []byte, err error) {
	var manifests, plans [2]json.RawMessage
	for i, m := range p.Manifests {
		if manifests[i], err = dataset.MarshalManifest(m); err != nil {
			return nil, nil, err
		}
		if plans[i], err = dataset.MarshalPlan(m, p.Shards[i]); err != nil {
			return nil, nil, err
		}
	}
	manifest, err = json.Marshal(storedManifest{Input: manifests[jobs.Input], Queries: manifests[jobs.Queries],
		Model: p.Model})
	if err != nil {
		return nil, nil, fmt.Errorf("encode the manifest: %w", err)
	}
	if plan, err = json.Marshal(storedPlan{plans[jobs.Input], plans[jobs.Queries]}); err != nil {
		return nil, nil, fmt.Errorf("encode the plan: %w", err)
	}
	return manifest, plan, nil
}

// Unmarshal reads what Marshal wrote, strictly, and compares both with each other. The spec has inputs data sets, and a
// model to begin from if withModel. Other bytes are a *protocol.Fault.
func Unmarshal(manifest, plan []byte, inputs int, withModel bool) (Inputs, error) {
	var m storedManifest
	var p storedPlan
	if err := dataset.DecodeStored(manifest, inputs*dataset.MaxManifestBytes+1<<20, &m); err != nil {
		return Inputs{}, dataset.StoredFault("manifest", err)
	}
	if err := dataset.DecodeStored(plan, inputs*dataset.MaxPlanBytes+1<<20, &p); err != nil {
		return Inputs{}, dataset.StoredFault("plan", err)
	}
	hasQueries := inputs > int(jobs.Queries)
	if (m.Queries != nil) != hasQueries || (p.Queries != nil) != hasQueries || (m.Model != nil) != withModel {
		return Inputs{}, dataset.StoredFault("manifest", errors.New("it lists other inputs than the spec"))
	}
	if m.Model != nil {
		if err := m.Model.check(); err != nil {
			return Inputs{}, dataset.StoredFault("manifest", err)
		}
	}
	all := Inputs{Model: m.Model}
	manifests, plans := []json.RawMessage{m.Input, m.Queries}, []json.RawMessage{p.Input, p.Queries}
	for i := range inputs {
		manifest, err := dataset.UnmarshalManifest(manifests[i])
		if err != nil {
			return Inputs{}, err
		}
		shards, err := dataset.UnmarshalPlan(plans[i], manifest)
		if err != nil {
			return Inputs{}, err
		}
		all.Manifests, all.Shards = append(all.Manifests, manifest), append(all.Shards, shards)
	}
	return all, nil
}
