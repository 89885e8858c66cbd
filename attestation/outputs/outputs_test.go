package outputs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/attestation/mlbom"
	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/attestation/outputs"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// files are a small job's outputs, which agree with each other.
func files(t testing.TB) map[string][]byte {
	t.Helper()
	text := `{"apiVersion":"v1","kind":"KMeans","spec":{"input":{"uri":"s3://data/x/*.csv","format":"csv",` +
		`"labels_uri":"s3://data/","ids_uri":"s3://data/ids/"},"queries":{"uri":"s3://data"},"model":"s3://m/old"}}`
	var spec protocol.JobSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatal(err)
	}
	canonical, err := spec.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	model, input, plan := []byte("weights"), []byte("input"), []byte("plan")
	fileOf := func(data []byte) proof.File {
		return proof.File{SHA256: sha256.Sum256(data), Size: int64(len(data))}
	}
	m := proof.Manifest{SchemaVersion: proof.SchemaVersion, Job: "j-1", Kept: proof.Digests, Spec: fileOf(canonical),
		Input: fileOf(input), Plan: fileOf(plan), Model: fileOf(model), Rounds: []proof.Round{
			{Round: 1, Phase: "a", Trees: 1, Leaves: 3}, {Round: 2, Phase: "b", Trees: 1, Leaves: 4}}}
	m.Root = m.ComputeRoot()
	manifest, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	result, err := spec.ResultHash()
	if err != nil {
		t.Fatal(err)
	}
	index := []byte(`{"parts":[]}`)
	p, err := origin.ReadProvenance([]byte(`{"job":"j-1","objects":[{"key":"a.csv","size":3,"etag":"e",
 "digest":"md5:00ff","integrity":"verified"}],"object_count":1,"labels":[{"key":"l.csv","etag":"f","version_id":"v"}],
 "ids":[{"key":"i.csv"}],"queries":{"objects":[{"key":"q.csv"}]},"initial_model":{"uri":"s3://m/old","sha256":"00"},
 "rounds":[{"round":1,"phase":"a","leaves":3,"finished":"t1"},{"round":2,"phase":"b","leaves":4,"finished":"t2"}],
 "build":"b","go":"g","started":"t0"}`))
	if err != nil {
		t.Fatal(err)
	}
	p.Spec, p.SpecHash, p.ResultHash, p.Rounds[1].State = canonical, sum(canonical), result, m.Model
	p.Model, p.Manifest, p.Plan, p.Proof = m.Model, m.Input, m.Plan, origin.SummaryOf(&m, fileOf(manifest))
	report, err := origin.ReadReport([]byte(`{"job":"j-1","kind":"KMeans","model_sha256":"` + sum(model) + `",
 "metrics":[{"name":"evaluation","value":{"accuracy":0.5}}],"files":[{"name":"result/index.json",
 "sha256":"` + sum(index) + `"},{"name":"absent.csv","sha256":"00"}],
 "rounds":[{"round":1,"phase":"a","leaves":3,"seconds":7},{"round":2,"phase":"b","leaves":4}]}`))
	if err != nil {
		t.Fatal(err)
	}
	report.Proof = p.Proof
	bill, err := mlbom.Of(p, report.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"model.safetensors": model, "provenance.json": encode(t, p), "report.json": encode(t, report),
		"bom.cdx.json": bill,
		"report.html":  []byte("<html>"), "proof/manifest.json": manifest, "proof/spec.json": canonical,
		"proof/states/00.safetensors": []byte("large"), "result/index.json": index,
		"result/part-000000.csv": []byte("large too"),
	}
}

func encode(t testing.TB, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func read(t testing.TB, content map[string][]byte) *outputs.Folder {
	t.Helper()
	store := mem.New("m")
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if _, err := store.Put(t.Context(), "models/j-1/"+name, content[name]); err != nil {
			t.Fatal(err)
		}
	}
	f, err := outputs.Read(t.Context(), store, "models/j-1/")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func keyOf(t testing.TB, name string) *attestation.PrivateKey {
	t.Helper()
	key, err := attestation.DeriveKey(bytes.Repeat([]byte{7}, 32), name)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestSignAFolder(t *testing.T) {
	content, key := files(t), keyOf(t, "a")
	signed, err := read(t, content).Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range signed {
		content[s.Name] = s.Data
	}
	f := read(t, content)
	found := f.Check(key.Public())
	if len(found) != 2 || !attestation.HasValid(found) || found[0].Covered != 7 || len(found[0].Beside) != 0 {
		t.Errorf("found %+v", found)
	}
	if again, err := f.Sign(key); err != nil || !bytes.Equal(again[0].Data, signed[0].Data) ||
		!bytes.Equal(again[1].Data, signed[1].Data) {
		t.Errorf("signed again with other bytes: %v", err)
	}
	// what was copied without parts and without the files of the proof is the same folder
	for _, name := range []string{"proof/spec.json", "proof/states/00.safetensors", "result/part-000000.csv"} {
		delete(content, name)
	}
	if found := read(t, content).Check(key.Public()); !attestation.HasValid(found) {
		t.Errorf("a part of the folder: %+v", found)
	}
	for name, data := range content { // each other file counts
		if name == attestation.ModelSignatureFile || name == attestation.ProvenanceFile {
			continue
		}
		content[name] = append(slices.Clone(data), 'x')
		if found := read(t, content).Check(key.Public()); attestation.HasValid(found) {
			t.Errorf("%s was changed: %+v", name, found)
		}
		content[name] = data
	}
}

// A signature by another program may cover files that Sign leaves out: they are compared as well.
func TestSignaturesThatCoverMore(t *testing.T) {
	content, key := files(t), keyOf(t, "a")
	var all []attestation.File
	for _, name := range []string{"model.safetensors", "result/part-000000.csv"} {
		all = append(all, attestation.File{Name: name, SHA256: sha256.Sum256(content[name])})
	}
	var err error
	if content[attestation.ModelSignatureFile], err = attestation.SignModel("j", all, nil, key); err != nil {
		t.Fatal(err)
	}
	f := read(t, content)
	found := f.Check(key.Public())
	if !attestation.HasValid(found) || found[0].Covered != 2 || len(found[0].Beside) != 6 {
		t.Errorf("found %+v", found)
	}
	if _, err := f.Sign(key); err != nil {
		t.Error(err)
	}
	content["result/part-000000.csv"] = []byte("other rows")
	if found := read(t, content).Check(key.Public()); attestation.HasValid(found) {
		t.Errorf("a part was changed: %+v", found)
	}
}

// The objects that were read are named by their URIs.
func TestDependencies(t *testing.T) {
	signed, err := read(t, files(t)).Sign(keyOf(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	var e attestation.Envelope
	if err := json.Unmarshal(signed[1].Data, &e); err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"name":"spec.input/a.csv","uri":"s3://data/x/a.csv","digest":{"md5":"00ff"},` +
			`"annotations":{"etag":"e","integrity":"verified","size":3}}`,
		`{"name":"spec.input.labels_uri/l.csv","uri":"s3://data/l.csv",`,
		`{"name":"spec.input.ids_uri/i.csv","uri":"s3://data/ids/i.csv",`, `"uri":"s3://data/q.csv"`,
		`{"name":"model","uri":"s3://m/old","digest":{"sha256":"00"}}`, `"finishedOn":"t2"`,
	} {
		if !strings.Contains(string(payload), want) {
			t.Errorf("%s is not in %s", want, payload)
		}
	}
}

// Another key's signature is replaced only if that is asked for; its line of provenance stays.
func TestASignatureOfAnotherKey(t *testing.T) {
	content := files(t)
	signed, err := read(t, content).Sign(keyOf(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range signed {
		content[s.Name] = s.Data
	}
	f := read(t, content)
	_, err = f.Sign(keyOf(t, "b"))
	if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Code != protocol.CodeOutputTaken {
		t.Errorf("replaced: %v", err)
	}
	f.Replace = true
	if signed, err = f.Sign(keyOf(t, "b")); err != nil || bytes.Count(signed[1].Data, []byte("\n")) != 2 {
		t.Errorf("%s, %v", signed[1].Data, err)
	}
	content[attestation.ModelSignatureFile] = []byte("rubbish")
	if _, err := read(t, content).Sign(keyOf(t, "b")); err == nil {
		t.Error("a file that is no signature was replaced")
	}
}

// Files that do not belong together are not signed.
func TestFilesThatDisagree(t *testing.T) {
	change := func(name, from, to string) func(map[string][]byte) {
		return func(content map[string][]byte) {
			content[name] = bytes.ReplaceAll(content[name], []byte(from), []byte(to))
		}
	}
	for what, spoil := range map[string]func(map[string][]byte){
		"another model":           change("model.safetensors", "w", "W"),
		"another spec":            change("provenance.json", "KMeans", "KMedian"),
		"a name in two cases":     change("provenance.json", `"kind":"KMeans"`, `"kind":"x","Kind":"KMeans"`),
		"another job":             change("provenance.json", `"job":"j-1"`, `"job":"j-2"`),
		"a job that has no id":    change("provenance.json", `"job":"j-1"`, `"job":"../x"`),
		"another manifest":        change("proof/manifest.json", `"kept": "digests"`, `"kept": "states"`),
		"a broken manifest":       change("proof/manifest.json", `"root"`, `"toor"`),
		"no manifest":             func(c map[string][]byte) { delete(c, "proof/manifest.json") },
		"a record without proof":  change("provenance.json", `"proof":`, `"poof":`),
		"a record without a plan": change("provenance.json", `"plan":`, `"plum":`),
		"no record":               func(c map[string][]byte) { delete(c, "provenance.json") },
		"a broken record":         func(c map[string][]byte) { c["provenance.json"] = []byte("{") },
		"a report of another job": change("report.json", "j-1", "j-2"),
		"a broken report":         func(c map[string][]byte) { c["report.json"] = []byte("[]") },
		"another index":           change("result/index.json", "parts", "party"),
		"another count of rounds": change("provenance.json", `"rounds":2`, `"rounds":3`),
		"another phase":           change("provenance.json", `"phase":"a"`, `"phase":"c"`),
		"another initial model":   change("provenance.json", `"uri":"s3://m/old"`, `"uri":"s3://m/new"`),
		"another phase reported":  change("report.json", `"phase":"a"`, `"phase":"c"`),
		"better figures":          change("report.json", `"accuracy":0.5`, `"accuracy":0.9`),
		"a better bill":           change("bom.cdx.json", `"0.5"`, `"0.9"`),
		"a bill of another job":   change("bom.cdx.json", "j-1", "j-2"),
		"a broken bill":           func(c map[string][]byte) { c["bom.cdx.json"] = []byte("{") },
	} {
		content := files(t)
		before := maps.Clone(content)
		spoil(content)
		if maps.EqualFunc(before, content, bytes.Equal) {
			t.Errorf("%s: nothing was changed", what)
		}
		_, err := read(t, content).Sign(keyOf(t, "a"))
		if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := outputs.Read(t.Context(), mem.New("m"), ""); err == nil {
		t.Error("a folder without a model was read")
	}
}

// The paths that are left out are those of package proof.
func TestWhatOfAProofIsLeftOut(t *testing.T) {
	for _, name := range []string{
		proof.SpecFile, proof.InputFile, proof.PlanFile, proof.RoundFile(1), proof.StateFile(proof.Digest{}),
		proof.PartialFile(proof.Digest{}),
	} {
		if !attestation.IsIgnored(name) {
			t.Errorf("%s is signed, and not in every copy", name)
		}
	}
	if attestation.IsIgnored(proof.ManifestFile) {
		t.Error("the manifest is not signed")
	}
}

// Whatever provenance.json and report.json are, they end in a signature or a fault.
func FuzzAgree(f *testing.F) {
	content := files(f)
	f.Add(content["provenance.json"], content["report.json"], content["proof/manifest.json"])
	key := keyOf(f, "a")
	f.Fuzz(func(t *testing.T, record, report, manifest []byte) {
		folder := &outputs.Folder{}
		folder.Put("model.safetensors", content["model.safetensors"])
		folder.Put("provenance.json", record)
		folder.Put("report.json", report)
		folder.Put("proof/manifest.json", manifest)
		signed, err := folder.Sign(key)
		if err != nil {
			return
		}
		for _, s := range signed {
			folder.Put(s.Name, s.Data)
		}
		folder.Model = origin.ModelFile
		if found := folder.Check(key.Public()); !attestation.HasValid(found) {
			t.Errorf("signed, and %+v", found)
		}
	})
}
