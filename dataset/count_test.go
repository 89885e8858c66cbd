package dataset

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// A count of rows that was wrong when the job was planned would rename the records of later objects: every read
// compares it, of tables whose header counts and of packed ones without a header.
func TestCountsAreCompared(t *testing.T) {
	vecs := string(datasettest.Vecs(1, float32(1))) + string(datasettest.Vecs(1, float32(2)))
	for _, c := range []struct {
		format, key, data string
		code              protocol.Code // of a count that is one too high
	}{
		{"npy", "f", string(datasettest.NPY("<f4", "(2, 1)", []float32{1, 2})), protocol.CodeInputDamaged},
		{"fvecs", "f", vecs, protocol.CodeInputDamaged},
		{"fvecs", "f.gz", zipped(vecs), protocol.CodeBadRecord}, // it ends within row 2
	} {
		in := formatInput(c.format, nil)
		store := storeOf(t, map[string]string{c.key: c.data})
		m, shards, err := Plan(t.Context(), store, "", in)
		if err != nil || !m.Counted || m.Objects[0].Rows != 2 {
			t.Fatalf("%s: %+v, %v", c.key, m, err)
		}
		m.Objects[0].Rows = 3
		s, err := NewSource(store, "", m, in)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := readRows(t.Context(), s, shards); !isCode(err, c.code) {
			t.Errorf("%s %s: %v, want %s", c.format, c.key, err, c.code)
		}
		m.Objects[0].Rows = 1
		if s, err = NewSource(store, "", m, in); err != nil {
			t.Fatal(err)
		}
		if rows, _, err := readRows(t.Context(), s, shards); err == nil {
			t.Errorf("%s %s: %d rows of one", c.format, c.key, len(rows))
		}
		m.Counted, m.Objects[0].Rows = false, 0
		if _, err := NewSource(store, "", m, in); !isCode(err, protocol.CodeCorrupt) {
			t.Errorf("%s: a manifest without counts: %v", c.key, err)
		}
	}
}

// A stored manifest whose counts cannot be is refused.
func TestCountsOfManifests(t *testing.T) {
	for says, objects := range map[string][]Object{
		`"a" has -1 rows`: {{Key: "a", Size: 1, ETag: "e", Rows: -1}},
		`"a" has 1 rows`:  {{Key: "a", ETag: "e", Rows: 1}},
		"more than 2^63": {{Key: "a", Size: 1, ETag: "e", Rows: 1 << 62},
			{Key: "b", Size: 1, ETag: "e", Rows: 1 << 62}},
	} {
		if _, err := MarshalManifest(Manifest{Objects: objects, Counted: true}); !isCode(err, protocol.CodeCorrupt) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
	if _, err := MarshalManifest(Manifest{Objects: []Object{{Key: "a", Size: 1, ETag: "e", Rows: 1}}}); err == nil {
		t.Error("rows that were not counted")
	}
}
