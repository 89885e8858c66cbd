package protocol_test

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// An id that follows from a secret is recognized as such, and differs from that of another secret.
func TestWorkerIDsOfSecrets(t *testing.T) {
	id := protocol.WorkerID([]byte("secret"))
	if id == protocol.WorkerID([]byte("secret2")) || id != protocol.WorkerID([]byte("secret")) {
		t.Errorf("%s does not follow from the secret alone", id)
	}
	hex := strings.TrimPrefix(id, "w-")
	for text, want := range map[string]bool{
		id: true, "w-" + strings.Repeat("09af", 8): true,
		"": false, "w-": false, "worker-1": false, hex: false, id[:len(id)-1]: false, id + "0": false, id + "00": false,
		"w-" + strings.Repeat("g", 32): false,
	} {
		if got := protocol.BoundWorkerID(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
