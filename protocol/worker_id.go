package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// workerPrefix marks the ids of workers that follow from a secret.
const workerPrefix = "w-"

// WorkerID is the id of the worker that holds a secret: nobody else can call under it.
func WorkerID(secret []byte) string {
	sum := sha256.Sum256(append([]byte("gram worker id\x00"), secret...))
	return workerPrefix + hex.EncodeToString(sum[:16])
}

// BoundWorkerID reports whether an id is one that follows from a secret.
func BoundWorkerID(id string) bool {
	rest, ok := strings.CutPrefix(id, workerPrefix)
	if !ok || len(rest) != 32 {
		return false
	}
	_, err := hex.DecodeString(rest)
	return err == nil
}
