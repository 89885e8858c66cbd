package protocol

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// ValidJobID reports whether id may name a job: it becomes part of object keys.
func ValidJobID(id string) bool {
	if len(id) == 0 || len(id) > maxJobID || id[0] == '-' {
		return false
	}
	for _, c := range []byte(id) {
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

const maxJobID = 63

// What is the cluster's own in its store: job objects and logs, and the outputs of jobs whose specs name no place.
const (
	JobsPrefix   = "jobs/"
	ModelsPrefix = "models/"
)

// JobPrefix is where everything of a job lives that is the cluster's own.
func JobPrefix(jobID string) string { return JobsPrefix + jobID + "/" }

// ObjectKey is where an immutable object that a job's round made lives in the cluster's store; round 0
// is the plan. The two digits in front let stores split a busy prefix. The round is part of the key so that
// an object nobody refers to any more stays so: the same bytes made by a later round have another key.
func ObjectKey(jobID string, round uint32, sha256 [32]byte) string {
	digest := hex.EncodeToString(sha256[:])
	return fmt.Sprintf("%s%s/%s-%d", JobPrefix(jobID), digest[:2], digest, round)
}

// ParseObjectKey takes an ObjectKey of a job apart; ok is false for every other key.
func ParseObjectKey(jobID, key string) (round uint32, sha256 [32]byte, ok bool) {
	name := key[strings.LastIndexByte(key, '/')+1:]
	digest, number, _ := strings.Cut(name, "-")
	sum, err := hex.DecodeString(digest)
	n, numberErr := strconv.ParseUint(number, 10, 32)
	if err != nil || numberErr != nil || len(sum) != len(sha256) {
		return 0, sha256, false
	}
	round, sha256 = uint32(n), [32]byte(sum)
	return round, sha256, key == ObjectKey(jobID, round, sha256)
}

// LogPrefix is where a job's log segments live, in order of key.
func LogPrefix(jobID string) string { return JobPrefix(jobID) + "logs/" }

// LogKey names one log segment: by time first, so that keys sort as they were written.
func LogKey(jobID string, unixMilli int64, worker string, sequence uint64) string {
	return fmt.Sprintf("%s%013d-%s-%06d.jsonl", LogPrefix(jobID), unixMilli, worker, sequence)
}

// OutputPrefix is where a job's outputs go in the cluster's store when its spec names no place.
func OutputPrefix(jobID string) string { return ModelsPrefix + jobID + "/" }
