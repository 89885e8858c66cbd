package protocol

import "fmt"

// EndKey is where the final task of a job says what it has left, in the cluster's store, so that it is
// found without the cluster. Nobody lists a store to learn of results.
func EndKey(jobID string) string { return fmt.Sprintf("jobs/%s/end.json", jobID) }

// EndRecord is that object. It is written after the outputs, and before the job succeeds.
type EndRecord struct {
	SchemaVersion int         `json:"schema_version"`
	Job           string      `json:"job"`
	Name          string      `json:"name,omitempty"`
	Kind          string      `json:"kind"`
	SpecHash      string      `json:"spec_sha256"`
	ResultHash    string      `json:"result_sha256"`
	Outputs       []EndOutput `json:"outputs"`
}

// EndOutput is one file that a job left.
type EndOutput struct {
	Name   string `json:"name"`
	Key    string `json:"key,omitempty"` // in the store of this record, wherever that is now
	URI    string `json:"uri,omitempty"` // where the spec named another place
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}
