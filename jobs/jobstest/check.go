package jobstest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Digest is the SHA-256 of the arrays' bytes, in hexadecimal.
func Digest(a jobs.Arrays) string {
	sum := sha256.Sum256(a.Encode())
	return hex.EncodeToString(sum[:])
}

// DrawGrouping draws which nodes are tasks and in which order siblings run.
func DrawGrouping(t *rapid.T) Grouping {
	draw := func(label string) func(int, protocol.Node) bool {
		return func(int, protocol.Node) bool { return rapid.Bool().Draw(t, label) }
	}
	return Grouping{Cut: draw("cut"), RightFirst: draw("right first")}
}

// CheckGrouping holds that any grouping into tasks and any size of blocks
// gives the model, the emitted files and the metrics of the run in one task, to the byte.
func CheckGrouping(t *testing.T, algorithm jobs.Algorithm, spec protocol.JobSpec, shards [][]Record, ops *kernelops.Set,
	opts ...Option) {
	t.Helper()
	want, err := Run(t.Context(), algorithm, spec, Shards(shards, 1), ops, Grouping{},
		append(slices.Clip(opts), blockRecords(1))...)
	if err != nil {
		t.Fatal(err)
	}
	wantModel, wantMetrics := want.Model.Encode(), metricsJSON(t, want)
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 8).Draw(rt, "records per block")
		got, err := Run(t.Context(), algorithm, spec, Shards(shards, size), ops, DrawGrouping(rt),
			append(slices.Clip(opts), blockRecords(9-size))...)
		if err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(got.Model.Encode(), wantModel) {
			rt.Fatalf("model %s, not %s", Digest(got.Model), Digest(want.Model))
		}
		if !maps.EqualFunc(got.Files, want.Files, bytes.Equal) {
			rt.Fatalf("other files were emitted: %d, not %d", len(got.Files), len(want.Files))
		}
		if metrics := metricsJSON(rt, got); !bytes.Equal(metrics, wantMetrics) {
			rt.Fatalf("metrics %s\nnot %s", metrics, wantMetrics)
		}
	})
}

// CheckAssociative holds that Merge gives the same bytes in whatever way a row of
// partials is bracketed. It fits phases that merge integers or order; sums of floats have only their tree.
func CheckAssociative(t *testing.T, merge func(left, right jobs.Arrays) (jobs.Arrays, error), partials []jobs.Arrays) {
	t.Helper()
	var want []byte
	rapid.Check(t, func(rt *rapid.T) {
		row := append([]jobs.Arrays(nil), partials...)
		for len(row) > 1 {
			i := rapid.IntRange(0, len(row)-2).Draw(rt, "merge")
			merged, err := merge(row[i], row[i+1])
			if err != nil {
				rt.Fatal(err)
			}
			row = append(append(row[:i:i], merged), row[i+2:]...)
		}
		got := row[0].Encode()
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			rt.Fatal("another bracketing gives other bytes")
		}
	})
}

func metricsJSON(t rapid.TB, r Result) []byte {
	t.Helper()
	data, err := json.Marshal(r.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
