package coordinator

import (
	"bytes"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

func signTest(t *testing.T, c *Coordinator, id string) (*pb.SignResponse, error) {
	t.Helper()
	res, err := c.services.Models.Sign(t.Context(), connect.NewRequest(&pb.SignRequest{Id: id}))
	if err != nil {
		return nil, outcome.Wire(err)
	}
	return res.Msg, nil
}

// endWith makes a job succeed with some outputs.
func (r run) endWith(model byte, names ...string) {
	r.t.Helper()
	out := &pb.TaskOutput{}
	for i, name := range append([]string{protocol.ModelFile}, names...) {
		key := protocol.OutputPrefix(r.id) + name
		r.put(key)
		out.Files = append(out.Files, &pb.OutputFile{Name: name, Uri: r.c.cfg.StoreURI + "/" + key,
			Sha256: object(model + byte(i)).GetSha256(), Size: 1})
	}
	r.complete(pb.TaskKind_TASK_KIND_REPORT, 1, out)
}

// The cluster signs what its log holds of a job: digests that a folder must have.
func TestTheClusterSigns(t *testing.T) {
	c := startTest(t, testConfig(t.TempDir()))
	submitTest(t, c, "a")
	if _, err := signTest(t, c, "a"); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a job that has not ended: %v", err)
	}
	if _, err := signTest(t, c, "nobody"); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("no job: %v", err)
	}
	run{t, c, "a"}.plan().round(1, true)
	run{t, c, "a"}.endWith(11, "report.json", "proof/manifest.json")
	signed, err := signTest(t, c, "a")
	if err != nil {
		t.Fatal(err)
	}
	key, err := attestation.ReadPublicKey([]byte(signed.GetPublicKey()))
	if err != nil {
		t.Fatal(err)
	}
	folder := attestation.Folder{
		Model: protocol.ModelFile, ModelSignature: signed.GetModelSignature(), Provenance: signed.GetProvenance(),
		Files: []attestation.File{
			{Name: protocol.ModelFile, SHA256: [32]byte(object(11).GetSha256())},
			{Name: "report.json", SHA256: [32]byte(object(12).GetSha256())},
			{Name: "proof/manifest.json", SHA256: [32]byte(object(13).GetSha256())},
		},
	}
	found := folder.Check(key)
	if len(found) != 2 || !attestation.HasValid(found) || found[0].Covered != 3 || found[1].Covered != 3 {
		t.Errorf("found %+v", found)
	}
	folder.Files[0].SHA256[5]++
	if found := folder.Check(key); len(attestation.Refused(found)) != 2 {
		t.Errorf("another model: %+v", found)
	}
	again, err := signTest(t, c, "a")
	if err != nil || !bytes.Equal(again.GetModelSignature(), signed.GetModelSignature()) ||
		!bytes.Equal(again.GetProvenance(), signed.GetProvenance()) {
		t.Errorf("signed again with other bytes: %v", err)
	}
}

// A worker that reports another model than the steps made gets no signature.
func TestAnotherModelIsNotSigned(t *testing.T) {
	c := startTest(t, testConfig(""))
	submitTest(t, c, "a")
	run{t, c, "a"}.plan().round(1, true)
	report := &pb.TaskOutput{Files: []*pb.OutputFile{{Name: protocol.ModelFile,
		Uri: "mem://m/models/a/model.safetensors", Sha256: object(77).GetSha256(), Size: 1}}}
	_, err := c.leads.Log().Complete(t.Context(), &pb.Completion{Id: &pb.TaskID{JobId: "a", Round: 1,
		Kind: pb.TaskKind_TASK_KIND_REPORT}, Output: report})
	if _, signed := signTest(t, c, "a"); signed == nil {
		t.Errorf("signed; the report was taken: %v", err)
	}
}

// The key stays when the cluster starts again from a snapshot, and another cluster has another. A token to read learns
// the public key; only a token to submit has something signed.
func TestTheClustersKey(t *testing.T) {
	cfg := testConfig(t.TempDir())
	c := startTest(t, cfg)
	keyOf := func(c *Coordinator) string {
		res, err := c.services.Models.SigningKey(t.Context(), connect.NewRequest(&pb.SigningKeyRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		return res.Msg.GetPublicKey()
	}
	first := keyOf(c)
	if other := keyOf(startTest(t, testConfig(""))); other == first {
		t.Error("two clusters have one key")
	}
	snapshotNow(t, c)
	if err := c.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := keyOf(startTest(t, cfg)); again != first {
		t.Error("the key changed with a restart")
	}
	if gate.Routes[gramv1connect.ModelServiceSignProcedure] != gate.ScopeSubmit ||
		gate.Routes[gramv1connect.ModelServiceSigningKeyProcedure] != gate.ScopeRead {
		t.Error("other scopes")
	}
}
