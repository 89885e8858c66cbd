package clustertest_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// provedRun runs a job in one process and returns the folder of its outputs.
func provedRun(t *testing.T, kind, input, params, kept string) string {
	t.Helper()
	home := t.TempDir()
	spec := fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":"proved"},"spec":{"input":{"uri":%q,
		"format":"csv","label":1,"shard_bytes":"4KiB"},"output":{},"params":%s,"repro":{"seed":3},"run":{"proof":%q}}}`,
		kind, "file://"+input, params, kept)
	file := filepath.Join(home, "spec.json")
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := clustertest.Run(t.Context(), t, home, nil, nil, "run", "-f", file, "-o", "json",
		"--out", filepath.Join(home, "out"))
	var view struct{ ID string }
	if code != 0 || json.Unmarshal([]byte(stdout), &view) != nil {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	return filepath.Join(home, "out", view.ID)
}

// proofReader reads a proof and says what of it does not fit.
type proofReader struct {
	t      *testing.T
	folder string
	seen   map[string]bool // files that the proof names
}

// file reads a file and compares its digest.
func (r *proofReader) file(name string, want proof.Digest) []byte {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.folder, filepath.FromSlash(name)))
	if err != nil {
		r.t.Fatal(err)
	}
	if got := proof.Digest(sha256.Sum256(data)); got != want {
		r.t.Errorf("%s has the digest %s, not %s", name, got, want)
	}
	r.seen[name] = true
	return data
}

// round checks that each node of a round has its partial, where all are kept, and that what a merged partial lists of
// the nodes beneath it is what the record lists.
func (r *proofReader) round(record *proof.Record, kept string) {
	for i, leaves := range record.Trees {
		tree := protocol.Tree(leaves)
		for node := range proof.PostOrder(tree) {
			digest := record.Node(i, node)
			if kept != proof.Full {
				continue
			}
			arrays, err := jobs.Decode(r.file(proof.PartialFile(digest), digest))
			if err != nil {
				r.t.Fatal(err)
			}
			left, right, ok := tree.Children(node)
			if !ok {
				continue
			}
			beneath, err := jobs.Get[uint8](arrays, "proof.nodes", -1, 32)
			if err != nil {
				r.t.Fatal(err)
			}
			first, end := tree.Range(node)
			one, two := record.Node(i, left), record.Node(i, right)
			if len(beneath) != 32*(2*(end-first)-2) || proof.Digest(beneath[len(beneath)-32:]) != two ||
				!strings.Contains(string(beneath), string(one[:])) {
				r.t.Errorf("round %d, tree %d, node %v lists %d bytes of digests", record.Round, i, node, len(beneath))
			}
		}
	}
}

// A finished job keeps what its spec asks for, and nothing else; every digest fits, and rounds hang together.
func TestProofOfAJob(t *testing.T) {
	t.Parallel()
	input := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(input, []byte(strings.Join(cutRows(1000), "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, params := range map[string]string{"KMeans": `{"k":4}`, "NearestMean": `{}`, "KernelMatrix": `{}`} {
		for _, kept := range []string{proof.Digests, proof.States, proof.Full} {
			t.Run(kind+"/"+kept, func(t *testing.T) {
				r := &proofReader{t, provedRun(t, kind, input, params, kept), map[string]bool{}}
				r.check(kept)
			})
		}
	}
}

func (r *proofReader) check(kept string) {
	t := r.t
	var provenance struct {
		SpecHash string `json:"spec_sha256"`
		Proof    struct {
			Root     proof.Digest
			Manifest struct{ SHA256 proof.Digest }
			Kept     string
		}
	}
	data, err := os.ReadFile(filepath.Join(r.folder, "provenance.json"))
	if err != nil || json.Unmarshal(data, &provenance) != nil {
		t.Fatal(err)
	}
	m, err := proof.ReadManifest(r.file(proof.ManifestFile, provenance.Proof.Manifest.SHA256))
	if err != nil {
		t.Fatal(err)
	}
	if m.Root != provenance.Proof.Root || m.Kept != kept || m.Spec.SHA256.String() != provenance.SpecHash {
		t.Errorf("manifest %+v, provenance %+v", m, provenance)
	}
	r.file(proof.SpecFile, m.Spec.SHA256)
	r.file(proof.InputFile, m.Input.SHA256)
	r.file(proof.PlanFile, m.Plan.SHA256)
	r.file("model.safetensors", m.Model.SHA256)
	before := proof.Digest{}
	for _, round := range m.Rounds {
		record, err := proof.ReadRecord(r.file(proof.RoundFile(round.Round), round.Record.SHA256))
		if err != nil {
			t.Fatal(err)
		}
		if record.Before != before || record.Leaves() != round.Leaves || round.State != (kept != proof.Digests) {
			t.Errorf("round %+v, record %+v", round, record)
		}
		if before = round.Record.SHA256; round.State {
			r.file(proof.StateFile(record.State), record.State)
		}
		r.round(record, kept)
	}
	r.nothingElse()
}

// nothingElse finds files that the proof does not name.
func (r *proofReader) nothingElse() {
	root := filepath.Join(r.folder, "proof")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(r.folder, path)
		if err == nil && !entry.IsDir() && !r.seen[filepath.ToSlash(name)] {
			r.t.Errorf("%s is named nowhere", name)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}
