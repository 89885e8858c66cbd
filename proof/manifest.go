package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gram-compute/gram/protocol"
)

// What is kept of a job beside the digests, which always are: the values of spec.run.proof.
const (
	Digests = protocol.ProofDigests // nothing
	States  = protocol.ProofStates  // the states that the rounds began with, while they take little of the input's size
	Full    = protocol.ProofFull    // these, however much they take, and the partials of all nodes
)

// The states of a job are kept beside its model while they are a hundredth of the input together, or this little.
const (
	statesShare = 100
	statesFloor = 1 << 20 // bytes
)

// KeepsState reports whether a state is kept that has that many bytes together with those of the rounds before it, of a
// job over that many bytes of input. It follows from the spec and the records.
func KeepsState(kept string, input, bytes int64) bool {
	switch kept {
	case Full:
		return true
	case States:
		return bytes <= max(statesFloor, input/statesShare)
	}
	return false
}

// SchemaVersion is that of Manifest.
const SchemaVersion = 1

// Manifest names what is proved, and how to find it.
type Manifest struct {
	SchemaVersion int     `json:"schema_version"`
	Job           string  `json:"job"`
	Kept          string  `json:"kept"` // Digests, States or Full
	Spec          File    `json:"spec"`
	Input         File    `json:"input"`
	Plan          File    `json:"plan"`
	Rounds        []Round `json:"rounds"`
	Model         File    `json:"model"`
	Root          Digest  `json:"root"`
}

// File is a file of the proof, or the model, by its content.
type File struct {
	SHA256 Digest `json:"sha256"`
	Size   int64  `json:"size"`
}

// Round is a round in the manifest.
type Round struct {
	Round  int64  `json:"round"` // counted from 1
	Phase  string `json:"phase"`
	Trees  int    `json:"trees"`
	Leaves int64  `json:"leaves"` // of all trees
	Record File   `json:"record"`
	State  bool   `json:"state"` // the state that the round began with is kept
}

// ComputeRoot returns what Root must be.
func (m *Manifest) ComputeRoot() Digest {
	list := []Digest{m.Spec.SHA256, m.Input.SHA256, m.Plan.SHA256}
	for _, r := range m.Rounds {
		list = append(list, r.Record.SHA256)
	}
	return Root(append(list, m.Model.SHA256))
}

// Encode writes the manifest as indented JSON, the same bytes for the same manifest.
func (m *Manifest) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the manifest of a proof: %w", err)
	}
	return append(data, '\n'), nil
}

// MaxManifestBytes bounds a manifest, in bytes.
const MaxManifestBytes = 64 << 20

// ReadManifest reads what Encode wrote, strictly: other bytes, and a root that does not follow from the rest, are a
// *protocol.Fault of CodeCorrupt.
func ReadManifest(data []byte) (*Manifest, error) {
	m, err := readManifest(data)
	if err != nil {
		return nil, protocol.TaskFault(protocol.CodeCorrupt, "the manifest of the proof cannot be used").
			In(ManifestFile).Because(err)
	}
	return m, nil
}

func readManifest(data []byte) (*Manifest, error) {
	if len(data) > MaxManifestBytes {
		return nil, fmt.Errorf("%d bytes; at most %d are read", len(data), MaxManifestBytes)
	}
	m := new(Manifest)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(m); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more data follows the value")
	}
	if m.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("schema_version is %d; this release reads %d", m.SchemaVersion, SchemaVersion)
	}
	if m.Kept != Digests && m.Kept != States && m.Kept != Full {
		return nil, fmt.Errorf("kept is %.20q, not digests, states or full", m.Kept)
	}
	for _, f := range []File{m.Model, m.Spec, m.Input, m.Plan} {
		if f.Size < 0 {
			return nil, fmt.Errorf("a file of %d bytes", f.Size)
		}
	}
	for i, r := range m.Rounds {
		if r.Round != int64(i)+1 || r.Trees < 1 || r.Leaves < int64(r.Trees) || r.Leaves > maxLeaves ||
			r.Record.Size < 0 {
			return nil, fmt.Errorf("rounds[%d] is round %d of %d trees and %d leaves", i, r.Round, r.Trees, r.Leaves)
		}
	}
	if again, err := m.Encode(); err != nil || !bytes.Equal(again, data) {
		return nil, errors.New("its JSON is not in the form in which it is written")
	}
	if root := m.ComputeRoot(); root != m.Root {
		return nil, fmt.Errorf("root is %s, and what it lists has the root %s", m.Root, root)
	}
	return m, nil
}
