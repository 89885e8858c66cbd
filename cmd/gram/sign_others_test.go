//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
)

// tools are programs of others, which make check-signing installs.
type tools struct {
	*testing.T
	dir string
}

func otherTools(t *testing.T) tools {
	dir := os.Getenv("GRAM_SIGNING_TOOLS")
	if dir == "" {
		t.Skip("NOT RUN: make check-signing installs model_signing and runs this")
	}
	return tools{t, dir}
}

func (o tools) run(program string, args ...string) (string, error) {
	out, err := exec.CommandContext(o.Context(), program, args...).CombinedOutput()
	return string(out), err
}

// accepts runs model_signing on a folder.
func (o tools) accepts(folder, public string) (string, error) {
	return o.run(filepath.Join(o.dir, "model_signing"), "verify", "key", "--signature",
		filepath.Join(folder, "model.sig"), "--public_key", public, folder)
}

// model_signing accepts what gram signed, and refuses it after any change; gram accepts what model_signing signed.
func TestOtherToolsModelSigning(t *testing.T) {
	o, c := otherTools(t), newClient(t)
	view := trained(t, c)
	folder := filepath.Join(c.app.dir, "models", view.ID)
	private, public := c.keyFiles("a")
	_, other := c.keyFiles("b")
	c.want(0, c.run("sign", "models/"+view.ID+"/", "--key", private))
	if out, err := o.accepts(folder, public); err != nil {
		t.Fatalf("refused: %v\n%s", err, out)
	}
	if out, err := o.accepts(folder, other); err == nil {
		t.Errorf("accepted with another key:\n%s", out)
	}
	covered := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, path)
		below := strings.HasPrefix(name, "proof/") && name != "proof/manifest.json" // the manifest's root covers these
		if err != nil || d.IsDir() || below || name == "provenance.intoto.jsonl" {
			return err
		}
		covered++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		changed := append([]byte{data[0] ^ 1}, data[1:]...)
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			return err
		}
		if out, err := o.accepts(folder, public); err == nil {
			t.Errorf("accepted with a changed bit in %s:\n%s", name, out)
		}
		return os.WriteFile(path, data, 0o600)
	})
	if err != nil || covered != 7 {
		t.Errorf("%d files were changed: %v", covered, err)
	}
	o.wantOnlyTheseFiles(folder, public)
	if out, err := o.run(filepath.Join(o.dir, "model_signing"), "sign", "key", "--signature",
		filepath.Join(folder, "model.sig"), "--private_key", private,
		"--ignore-paths", filepath.Join(folder, "provenance.intoto.jsonl"), folder); err != nil {
		t.Fatalf("model_signing cannot sign: %v\n%s", err, out)
	}
	found, err := c.checkFolder(folder, public)
	if err != nil || len(found) != 2 || found[0].Verdict != "valid" {
		t.Errorf("gram refuses what model_signing signed: %+v, %v", found, err)
	}
}

// model_signing accepts what gram model get fetches: signed with a key file, and by a cluster.
func TestOtherToolsFetched(t *testing.T) {
	o, c := otherTools(t), newClient(t)
	view := trained(t, c)
	private, public := c.keyFiles("a")
	d := served(t, view, c)
	d.want(0, d.run("sign", view.ID, "--key", private))
	d.want(0, d.run("model", "get", view.ID, "--public-key", public, "--out", "fetched"))
	if out, err := o.accepts(filepath.Join(c.app.dir, "fetched"), public); err != nil {
		t.Errorf("refused: %v\n%s", err, out)
	}
	l := newLaptop(t)
	l.start()
	id := strings.TrimSpace(l.gram("submit", "-f", "spec.yaml"))
	l.gram("wait", "--timeout", "1m", id)
	l.wantSigned(id)
	folder, public := filepath.Join(l.home, "kept"), filepath.Join(l.home, "cluster.pub")
	if out, err := o.accepts(folder, public); err != nil {
		t.Errorf("refused what the cluster signed: %v\n%s", err, out)
	}
	line := filepath.Join(folder, "provenance.intoto.jsonl")
	if out, err := o.run(filepath.Join(o.dir, "python"), "-c", checkDSSE, line, public); err != nil ||
		!strings.Contains(out, "subjects 3") {
		t.Errorf("the cluster's provenance: %v\n%s", err, out)
	}
	if err := l.dev.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = l.dev.Wait() // says that it was killed
	<-l.silent
}

// wantOnlyTheseFiles adds a file and removes one.
func (o tools) wantOnlyTheseFiles(folder, public string) {
	extra, report := filepath.Join(folder, "extra.py"), filepath.Join(folder, "report.html")
	if err := os.WriteFile(extra, []byte("x"), 0o600); err != nil {
		o.Fatal(err)
	}
	if out, err := o.accepts(folder, public); err == nil {
		o.Errorf("accepted with a file more:\n%s", out)
	}
	if err := os.Remove(extra); err != nil {
		o.Fatal(err)
	}
	if err := os.Rename(report, report+".away"); err != nil {
		o.Fatal(err)
	}
	if out, err := o.accepts(folder, public); err == nil {
		o.Errorf("accepted with a file less:\n%s", out)
	}
	if err := os.Rename(report+".away", report); err != nil {
		o.Fatal(err)
	}
	if out, err := o.accepts(folder, public); err != nil {
		o.Errorf("refused as it was: %v\n%s", err, out)
	}
}

// checkDSSE verifies a line of provenance with securesystemslib, and reads its statement.
const checkDSSE = `
import json, sys
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
line = json.loads(open(sys.argv[1]).readline())
public = load_pem_public_key(open(sys.argv[2], "rb").read())
key = SSlibKey.from_crypto(public, keyid=line["signatures"][0]["keyid"])
envelope = Envelope.from_dict(line)
envelope.verify([key], 1)
from google.protobuf import json_format
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1 import statement_pb2
pb = json_format.Parse(envelope.payload, statement_pb2.Statement())
Statement.copy_from_pb(pb).validate()
from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
p = json_format.ParseDict(json_format.MessageToDict(pb)["predicate"], provenance_pb2.Provenance())
assert p.run_details.metadata.started_on.seconds > 0 and p.build_definition.external_parameters["spec"]["kind"]
print("subjects", len(pb.subject))
`

func TestOtherToolsDSSE(t *testing.T) {
	o, c := otherTools(t), newClient(t)
	view := trained(t, c)
	private, public := c.keyFiles("a")
	_, other := c.keyFiles("b")
	c.want(0, c.run("sign", "models/"+view.ID+"/", "--key", private))
	file := filepath.Join(c.app.dir, "models", view.ID, "provenance.intoto.jsonl")
	if out, err := o.run(filepath.Join(o.dir, "python"), "-c", checkDSSE, file, public); err != nil ||
		!strings.Contains(out, "subjects 4") {
		t.Errorf("securesystemslib refuses the envelope, or in-toto the statement: %v\n%s", err, out)
	}
	if out, err := o.run(filepath.Join(o.dir, "python"), "-c", checkDSSE, file, other); err == nil {
		t.Errorf("accepted with another key:\n%s", out)
	}
}

// checkBill validates a bill of materials with CycloneDX's schema.
const checkBill = `
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(str(error) if error else 0)
`

func TestOtherToolsBillOfMaterials(t *testing.T) {
	o, c := otherTools(t), newClient(t)
	view := trained(t, c)
	file := filepath.Join(c.app.dir, "models", view.ID, "bom.cdx.json")
	if out, err := o.run(filepath.Join(o.dir, "python"), "-c", checkBill, file); err != nil {
		t.Errorf("the schema refuses %s: %v\n%s", file, err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var bill map[string]any
	if err := json.Unmarshal(data, &bill); err != nil {
		t.Fatal(err)
	}
	bill["components"] = []any{map[string]any{"type": "modell", "name": "x"}}
	wrong := filepath.Join(t.TempDir(), "wrong.json")
	if err := os.WriteFile(wrong, fmt.Appendf(nil, "%s", must(json.Marshal(bill))), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := o.run(filepath.Join(o.dir, "python"), "-c", checkBill, wrong); err == nil {
		t.Errorf("the schema takes any type of component:\n%s", out)
	}
	c.want(exit.NotFound, c.run("sign", "./nowhere/", "--key", "absent.pem"))
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}
