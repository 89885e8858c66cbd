package protocol

import "fmt"

// EndedPrefix is where the reports of a job are that failed or was cancelled: beside its other objects, since it has no
// outputs.
func EndedPrefix(jobID string) string { return JobPrefix(jobID) + "ended/" }

// EndedKey names such a report, "report.html" or "report.json", of the job that ended at a time: after a restore from a
// backup another job may have its id.
func EndedKey(jobID string, finishedUnixMs int64, name string) string {
	return fmt.Sprintf("%s%013d-%s", EndedPrefix(jobID), finishedUnixMs, name)
}

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
