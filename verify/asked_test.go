package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/gram-compute/gram/objstore/mem"
)

// Of three files that a job is known to have left, one is the same, one is another and one is absent.
func TestLeft(t *testing.T) {
	store := mem.New("m")
	var asked Asked
	for name, content := range map[string]string{"same": "a", "changed": "b", "gone": "c"} {
		sum := sha256.Sum256([]byte(content))
		if err := asked.Add(name, hex.EncodeToString(sum[:])); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{"same": "a", "changed": "B", "beside": "d"} {
		if _, err := store.Put(t.Context(), "models/j/"+name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	wrong, missing, err := Left(t.Context(), store, "models/j/", asked)
	if err != nil || len(wrong) != 1 || wrong[0].File != "changed" || len(missing) != 1 || missing[0].File != "gone" {
		t.Errorf("wrong %+v, missing %+v, %v", wrong, missing, err)
	}
}
