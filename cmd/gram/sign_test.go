package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/attestation/mlbom"
	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/attestation/outputs"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// keyFiles makes a pair of keys.
func (c *session) keyFiles(name string) (private, public string) {
	c.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	private, public = filepath.Join(c.app.dir, name+".pem"), filepath.Join(c.app.dir, name+".pub")
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		c.t.Fatal(err)
	}
	open, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		c.t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		private: {Type: "PRIVATE KEY", Bytes: secret}, public: {Type: "PUBLIC KEY", Bytes: open},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	return private, public
}

// served is a cluster that has run the job of a view, as `run` printed it.
func served(t *testing.T, view show.Job, from *session) *session {
	job := jobIn(view.ID, succeeded)
	for _, o := range view.Outputs {
		sum, err := hex.DecodeString(o.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		job.Outputs = append(job.Outputs, &gramv1.OutputFile{Name: o.Name, Uri: o.URI, Sha256: sum, Size: o.Size})
	}
	c := clientOf(t, &backend{get: func(string) (*gramv1.Job, error) { return job, nil }})
	c.app.dir = from.app.dir
	return c
}

// checkFolder checks the signatures in a folder with keys.
func (c *session) checkFolder(folder string, keyFiles ...string) ([]attestation.Finding, error) {
	c.t.Helper()
	keys, err := c.app.publicKeys(keyFiles)
	if err != nil {
		c.t.Fatal(err)
	}
	store, prefix, err := openFolder(c.t.Context(), c.app.folder(folder), true)
	if err != nil {
		c.t.Fatal(err)
	}
	read, err := outputs.Read(c.t.Context(), store, prefix)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.app.checkSignatures(read.Folder, folder, true, keys)
}

func (c *session) wantSays(what string) {
	c.t.Helper()
	if got := c.stderr.String(); !strings.Contains(got, what) {
		c.t.Errorf("stderr lacks %q:\n%s", what, got)
	}
}

func TestSignAndGet(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	view := trained(t, c)
	private, public := c.keyFiles("a")
	_, other := c.keyFiles("b")
	d := served(t, view, c)
	d.want(exit.Missing, d.run("model", "get", view.ID, "--public-key", public, "--out", "g0"))
	d.wantSays("has no signature by a key of --public-key")
	d.want(0, d.run("sign", view.ID, "--key", private))
	d.want(0, d.run("model", "get", view.ID, "--out", "g1"))
	d.wantSays("warning: model.sig was not checked: no key was given")
	d.want(exit.Missing, d.run("model", "get", view.ID, "--public-key", other, "--out", "g2"))
	if _, err := os.Stat(filepath.Join(c.app.dir, "g2")); err == nil {
		t.Error("written before it was checked")
	}
	d.stdout.Reset()
	d.want(0, d.run("model", "get", view.ID, "--public-key", other, "--public-key", public, "--out", "g3", "-o",
		"json"))
	var got struct {
		Files      []fetched
		Signatures []struct{ File, Verdict string }
	}
	if err := json.Unmarshal(d.stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Files) != 8 || len(got.Signatures) != 2 || got.Signatures[0].Verdict != "valid" ||
		got.Signatures[1].Verdict != "valid" {
		t.Errorf("got %+v", got)
	}
	// the folder that was written is signed as well, and so is a signature that is made of it
	if found, err := c.checkFolder("g3", public); err != nil ||
		len(found) != 2 || found[0].Verdict != "valid" || found[0].Beside != nil {
		t.Errorf("found %+v, %v", found, err)
	}
	c.want(0, c.run("sign", "./g3", "--key", private))
	for _, name := range []string{"model.sig", "provenance.intoto.jsonl"} {
		a, err := os.ReadFile(filepath.Join(c.app.dir, "g1", name))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(c.app.dir, "g3", name)); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: the folder and its copy have other signatures: %v", name, err)
		}
	}
}

// Another key takes the place of the first only if that is asked for. A folder needs a key.
func TestSignAgain(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	view := trained(t, c)
	first, _ := c.keyFiles("a")
	second, public := c.keyFiles("b")
	folder := "models/" + view.ID
	c.want(exit.Usage, c.run("sign", folder))
	c.wantSays("a folder is signed with a key file")
	c.want(0, c.run("sign", folder, "--key", first))
	c.want(exit.Conflict, c.run("sign", folder, "--key", second))
	c.wantSays("another key has signed it")
	c.want(0, c.run("sign", folder, "--key", second, "--replace"))
	c.stdout.Reset()
	c.want(0, c.run("verify", folder, "--public-key", public))
	c.wantNarrow()
	for _, line := range []string{"provenance.intoto.jsonl:1  unchecked", "provenance.intoto.jsonl:2  valid"} {
		if !strings.Contains(c.stdout.String(), line) {
			t.Errorf("%q is not told:\n%s", line, c.stdout.String())
		}
	}
	found, err := c.checkFolder(folder, public)
	if err != nil || len(found) != 3 || found[0].Verdict != "valid" || found[1].Verdict != "unchecked" {
		t.Errorf("found %+v, %v", found, err)
	}
}

// A signature that was changed is refused with any key, and nothing is written.
func TestGetWithAChangedSignature(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	view := trained(t, c)
	private, public := c.keyFiles("a")
	folder := filepath.Join(c.app.dir, "models", view.ID)
	d := served(t, view, c)
	for _, name := range []string{"model.sig", "provenance.intoto.jsonl"} {
		c.want(0, c.run("sign", folder, "--key", private))
		path := filepath.Join(folder, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(data, []byte(`"payload":"`)) + 40
		data[at] ^= 1
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		d.want(exit.Damaged, d.run("model", "get", view.ID, "--public-key", public, "--out", "g"))
		d.wantSays("the signature in " + name + " is invalid")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// gram verify checks signatures before it computes anything.
func TestVerifyChecksSignatures(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	view := trained(t, c)
	private, public := c.keyFiles("a")
	_, other := c.keyFiles("b")
	folder := "models/" + view.ID
	c.want(0, c.run("verify", folder+"/"))
	c.want(exit.Missing, c.run("verify", folder+"/", "--public-key", public))
	c.wantSays("no key of --public-key has signed the model")
	c.want(0, c.run("sign", folder, "--key", private))
	c.stdout.Reset()
	c.want(0, c.run("verify", folder+"/"))
	if !strings.Contains(c.stdout.String(), "unchecked: no key was given") {
		t.Errorf("without a key:\n%s", c.stdout.String())
	}
	c.stdout.Reset()
	c.want(0, c.run("verify", folder+"/", "--public-key", public, "-o", "json"))
	var got struct {
		Verdict    string
		Signatures []struct{ Verdict string }
	}
	if err := json.Unmarshal(c.stdout.Bytes(), &got); err != nil || got.Verdict == "" || len(got.Signatures) != 2 ||
		got.Signatures[0].Verdict != "valid" || got.Signatures[1].Verdict != "valid" {
		t.Errorf("with the key: %+v, %v", got, err)
	}
	c.want(exit.Missing, c.run("verify", folder+"/", "--public-key", other))
	page := filepath.Join(c.app.dir, folder, "report.html")
	if err := os.WriteFile(page, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(exit.Damaged, c.run("verify", folder+"/", "--public-key", public))
	c.wantSays("The signature in model.sig is invalid")
}

// What the cluster has other digests of is not signed.
func TestSignWhatTheJobDidNotMake(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	view := trained(t, c)
	private, _ := c.keyFiles("a")
	page := filepath.Join(c.app.dir, "models", view.ID, "report.html")
	if err := os.WriteFile(page, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := served(t, view, c)
	d.want(exit.Failed, d.run("sign", view.ID, "--key", private))
	d.wantSays("is not the object that the job made")
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	d.want(exit.NotFound, d.run("sign", view.ID, "--key", private))
	model := filepath.Join(c.app.dir, "models", view.ID, "model.safetensors")
	if err := os.WriteFile(model, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(exit.Failed, c.run("sign", "models/"+view.ID, "--key", private))
	c.wantSays("the files of the folder do not belong together")
	if _, err := os.Stat(filepath.Join(filepath.Dir(model), "model.sig")); err == nil {
		t.Error("signed all the same")
	}
}

// A job that is named, and not its folder, is compared with what its cluster knows of it: the honest outputs of
// another job, and a report that was changed, are not its own.
func TestVerifyOfWhatTheJobDidNotMake(t *testing.T) {
	t.Parallel() // mostly waits for elections
	c := newClient(t)
	other, view := trained(t, c), trained(t, c)
	folder := filepath.Join(c.app.dir, "models", view.ID)
	d := served(t, view, c)
	d.want(0, d.run("verify", view.ID))
	report := filepath.Join(folder, "report.json")
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	c.replace(report, bytes.Replace(data, []byte(view.ID), []byte(other.ID), 1))
	d.want(exit.Damaged, d.run("verify", view.ID))
	d.wantSays("report.json (the cluster knows it as the one that job " + view.ID + " left)")
	d.want(exit.Damaged, d.run("diff", view.ID, "models/"+other.ID+"/"))
	d.wantSays("the folder of " + view.ID + " is not what the job left")
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(c.app.dir, "models", other.ID))); err != nil {
		t.Fatal(err)
	}
	d.want(exit.Damaged, d.run("verify", view.ID, "--all"))
	d.want(exit.Damaged, d.run("diff", view.ID, "models/"+other.ID+"/"))
	d.wantSays("the folder of " + view.ID + " is not what the job left")
}

func TestKeysThatCannotSign(t *testing.T) {
	c := newClient(t)
	_, public := c.keyFiles("a")
	c.want(exit.Usage, c.run("sign", "./x", "--key", public))
	c.wantSays("a.pub: the private key cannot be used")
	c.want(exit.NotFound, c.run("sign", "./x", "--key", "absent.pem"))
	c.want(exit.Usage, c.run("sign", "./"))
	private, _ := c.keyFiles("b")
	if err := os.Chmod(private, 0o644); err != nil {
		t.Fatal(err)
	}
	c.want(exit.Failed, c.run("sign", t.TempDir(), "--key", private))
	c.wantSays("can be read by others")
	c.wantSays("there is no model.safetensors in this folder")
}

// Every kind that is said to learn is a kind, and those that are not said to are known.
func TestApproachesOfAllKinds(t *testing.T) {
	var without []string
	for _, kind := range all.Kinds() {
		facts, err := mlbom.Describe(&origin.Provenance{Spec: []byte(`{"kind":"` + kind.Name + `"}`)}, nil, "m")
		if err != nil {
			t.Fatal(err)
		}
		if facts.Approach == "" {
			without = append(without, kind.Name)
		}
	}
	if want := []string{"KernelMatrix", "NearestNeighbors", "NeighborGraph", "Predict"}; !slices.Equal(without, want) {
		t.Errorf("no approach for %v, want %v: give a new kind its row", without, want)
	}
}
