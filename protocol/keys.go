package protocol

import (
	"encoding/hex"
	"fmt"
)

// ValidJobID reports whether id may name a job: it becomes part of object keys.
func ValidJobID(id string) bool {
	if len(id) == 0 || len(id) > 63 || id[0] == '-' {
		return false
	}
	for _, c := range []byte(id) {
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// ObjectKey is where a job's immutable object lives in the cluster's store. The two
// digits in front let stores split a busy prefix.
func ObjectKey(jobID string, sha256 [32]byte) string {
	digest := hex.EncodeToString(sha256[:])
	return fmt.Sprintf("jobs/%s/%s/%s", jobID, digest[:2], digest)
}

// LogPrefix is where a job's log segments live, in order of key.
func LogPrefix(jobID string) string { return fmt.Sprintf("jobs/%s/logs/", jobID) }

// LogKey names one log segment: by time first, so that keys sort as they were written.
func LogKey(jobID string, unixMilli int64, worker string, sequence uint64) string {
	return fmt.Sprintf("%s%013d-%s-%06d.jsonl", LogPrefix(jobID), unixMilli, worker, sequence)
}

// OutputPrefix is where a job's outputs go in the cluster's store when its spec names no place.
func OutputPrefix(jobID string) string { return fmt.Sprintf("models/%s/", jobID) }
