package clustertest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// outputFile is an output as the CLI prints it.
type outputFile struct{ Name, URI, SHA256 string }

const modelFile = "model.safetensors"

// result reads what a run left and checks every emitted part against the index.
func (p place) result(t *testing.T, c Case, outputs []outputFile) result {
	t.Helper()
	at := slices.IndexFunc(outputs, func(o outputFile) bool { return o.Name == modelFile })
	if at < 0 {
		t.Fatalf("no model among the outputs: %v", outputs)
	}
	model := outputs[at]
	if got := sha256Hex(p.read(t, model.URI)); got != model.SHA256 {
		t.Errorf("the model's bytes have the digest %s, not %s", got, model.SHA256)
	}
	folder := strings.TrimSuffix(model.URI, modelFile)
	found := result{model: model.SHA256, rounds: lastRecord(t, p.read(t, folder+proof.ManifestFile))}
	if c.Index == "" {
		return found
	}
	data := p.read(t, folder+c.Index)
	index, err := parts.ReadIndex(data)
	if err != nil {
		t.Fatalf("%s: %v", c.Index, err)
	}
	if len(index.Parts) == 0 {
		t.Errorf("%s lists no parts", c.Index)
	}
	for _, part := range index.Parts {
		if got := sha256Hex(p.read(t, folder+part.Name)); got != part.SHA256 {
			t.Errorf("the part %s has the digest %s, not %s", part.Name, got, part.SHA256)
		}
	}
	found.index = sha256Hex(data)
	return found
}

// lastRecord is the digest of the record of the last round of a proof.
func lastRecord(t *testing.T, manifest []byte) string {
	t.Helper()
	m, err := proof.ReadManifest(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return m.Rounds[len(m.Rounds)-1].Record.SHA256.String()
}

func (p place) wantResult(t *testing.T, c Case, job *pb.Job, wanted func(result) result) {
	t.Helper()
	if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("job %s ended as %v: %v", job.GetId(), job.GetState(), job.GetFailure())
	}
	var outputs []outputFile
	for _, o := range job.GetOutputs() {
		outputs = append(outputs, outputFile{o.GetName(), o.GetUri(), hex.EncodeToString(o.GetSha256())})
	}
	got := p.result(t, c, outputs)
	if want := wanted(got); got != want {
		t.Errorf("model, index and last record %s, want %s", got, want)
	}
}

// read reads an output, which lies in a directory or at this place.
func (p place) read(t *testing.T, uri string) []byte {
	t.Helper()
	var data []byte
	var err error
	if file, ok := strings.CutPrefix(uri, "file://"); ok {
		data, err = os.ReadFile(file)
	} else {
		data, err = readObject(t.Context(), p.store(t), strings.TrimPrefix(uri, p.root+"/"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readObject(ctx context.Context, store objstore.Store, key string) ([]byte, error) {
	body, _, err := store.Get(ctx, key, objstore.GetOptions{})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
