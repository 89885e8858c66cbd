package attestation_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/attestation"
)

// keyOf is a key for tests: the same one for the same name.
func keyOf(t testing.TB, name string) *attestation.PrivateKey {
	t.Helper()
	key, err := attestation.DeriveKey(bytes.Repeat([]byte{7}, 32), name)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func file(name, content string) attestation.File {
	return attestation.File{Name: name, SHA256: sha256.Sum256([]byte(content))}
}

var (
	model    = file("model.safetensors", "weights")
	manifest = file("proof/manifest.json", "{}")
	report   = file("report.json", "{}")
)

var run = attestation.Run{
	Job: "glosses-1", Spec: json.RawMessage(`{"kind":"NaiveBayes"}`), SpecHash: strings.Repeat("ab", 32),
	Root: strings.Repeat("cd", 32), Subjects: []attestation.File{model, manifest},
	Byproducts: []attestation.File{report},
	Builder:    "https://example.org/builder", Started: "2026-11-25T06:00:00.000Z",
	Dependencies: []attestation.Resource{{URI: "s3://b/x.tsv", Digest: map[string]string{"md5": "00"}}},
}

// signed is a folder with both signatures of a key.
func signed(t testing.TB, key *attestation.PrivateKey) attestation.Folder {
	t.Helper()
	f := attestation.Folder{Model: model.Name, Files: []attestation.File{model, manifest, report}}
	var err error
	if f.ModelSignature, err = attestation.SignModel("glosses-1", f.Files, nil, key); err != nil {
		t.Fatal(err)
	}
	line, err := attestation.SignProvenance(run, key)
	if err != nil {
		t.Fatal(err)
	}
	if f.Provenance, err = attestation.AddProvenance(nil, line); err != nil {
		t.Fatal(err)
	}
	return f
}

func verdicts(all []attestation.Finding) string {
	var list []string
	for _, f := range all {
		list = append(list, string(f.Verdict))
	}
	return strings.Join(list, " ")
}

// Byproducts that are absent do not make a signature invalid. They are named, and not counted as compared.
func TestAbsentByproducts(t *testing.T) {
	key := keyOf(t, "a")
	f := signed(t, key)
	f.ModelSignature, f.Files = nil, []attestation.File{model, manifest}
	found := f.Check(key.Public())
	if len(found) != 1 || found[0].Verdict != attestation.Valid || found[0].Covered != 2 ||
		!slices.Equal(found[0].Absent, []string{"report.json"}) {
		t.Errorf("found %+v", found)
	}
	f.Files = []attestation.File{model, report}
	if found := f.Check(key.Public()); found[0].Verdict != attestation.Invalid { // a subject must be there
		t.Errorf("without the manifest: %+v", found)
	}
}

func TestSignAndCheck(t *testing.T) {
	key := keyOf(t, "a")
	f := signed(t, key)
	found := f.Check(key.Public())
	if verdicts(found) != "valid valid" || !attestation.HasValid(found) || found[0].Covered != 3 ||
		found[1].Covered != 3 {
		t.Errorf("found %+v", found)
	}
	if again := signed(t, key); !bytes.Equal(f.ModelSignature, again.ModelSignature) ||
		!bytes.Equal(f.Provenance, again.Provenance) {
		t.Error("signed twice, with other bytes")
	}
	for name, c := range map[string]struct {
		keys []attestation.PublicKey
		want string
	}{
		"no key":        {nil, "unchecked unchecked"},
		"another key":   {[]attestation.PublicKey{keyOf(t, "b").Public()}, "unchecked unchecked"},
		"both keys":     {[]attestation.PublicKey{keyOf(t, "b").Public(), key.Public()}, "valid valid"},
		"the zero key":  {[]attestation.PublicKey{{}}, "unchecked unchecked"},
		"unsigned case": {nil, ""},
	} {
		folder := f
		if c.want == "" {
			folder.ModelSignature, folder.Provenance = nil, nil
		}
		got := folder.Check(c.keys...)
		if verdicts(got) != c.want || attestation.HasValid(got) != strings.Contains(c.want, " valid") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What the statement tells, read as any other tool reads it.
func TestTheProvenanceByHand(t *testing.T) {
	line, err := attestation.SignProvenance(run, keyOf(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	var e attestation.Envelope
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"_type":"https://in-toto.io/Statement/v1","subject":[` +
		`{"name":"model.safetensors","digest":{"sha256":"` + model.SHA256.String() + `"}},` +
		`{"name":"proof/manifest.json","digest":{"sha256":"` + manifest.SHA256.String() + `"}},` +
		`{"name":"spec","digest":{"sha256":"` + run.SpecHash + `"}},` +
		`{"name":"proof","digest":{"rfc6962_sha256":"` + run.Root + `"}}],` +
		`"predicateType":"https://slsa.dev/provenance/v1","predicate":{"buildDefinition":{"buildType":"` +
		attestation.BuildType + `","externalParameters":{"spec":{"kind":"NaiveBayes"}},"resolvedDependencies":[` +
		`{"uri":"s3://b/x.tsv","digest":{"md5":"00"}}]},"runDetails":{"builder":{"id":"https://example.org/builder"},` +
		`"metadata":{"invocationId":"glosses-1","startedOn":"2026-11-25T06:00:00.000Z"},"byproducts":[` +
		`{"name":"report.json","digest":{"sha256":"` + report.SHA256.String() + `"}}]}}}`
	if string(payload) != want {
		t.Errorf("got  %s\nwant %s", payload, want)
	}
}

// Every changed bit of a signature file is refused, whichever key is trusted.
func TestEveryBitOfASignature(t *testing.T) {
	key := keyOf(t, "a")
	good := signed(t, key)
	for _, which := range []string{attestation.ModelSignatureFile, attestation.ProvenanceFile} {
		data := good.ModelSignature
		if which == attestation.ProvenanceFile {
			data = good.Provenance
		}
		for bit := range 8 * len(data) {
			changed := slices.Clone(data)
			changed[bit/8] ^= 1 << (bit % 8)
			f := good
			f.ModelSignature, f.Provenance = nil, changed
			if which == attestation.ModelSignatureFile {
				f.ModelSignature, f.Provenance = changed, nil
			}
			if found := f.Check(key.Public()); attestation.HasValid(found) {
				t.Fatalf("%s: bit %d changed, and %+v", which, bit, found)
			}
		}
	}
}

// Every changed bit of a digest, a renamed, a missing and an exchanged file are refused.
func TestEveryChangeOfTheFiles(t *testing.T) {
	key := keyOf(t, "a")
	good := signed(t, key)
	check := func(what string, files []attestation.File) {
		t.Helper()
		f := good
		f.Files = files
		if found := f.Check(key.Public()); attestation.HasValid(found) {
			t.Errorf("%s: %+v", what, found)
		}
	}
	for i, file := range good.Files {
		for bit := range 256 {
			files := slices.Clone(good.Files)
			files[i].SHA256[bit/8] ^= 1 << (bit % 8)
			check("a bit of "+file.Name, files)
		}
		check("without "+file.Name, slices.Delete(slices.Clone(good.Files), i, i+1))
		files := slices.Clone(good.Files)
		files[i].Name += "x"
		check("renamed "+file.Name, files)
	}
	f := good
	f.Files = append(slices.Clone(good.Files), file("README.md", "hello"))
	found := f.Check(key.Public())
	if !attestation.HasValid(found) || !slices.Equal(found[0].Beside, []string{"README.md"}) {
		t.Errorf("a file beside: %+v", found)
	}
}

// A signature over files of which none is the model says nothing of the model.
func TestTheModelMustBeCovered(t *testing.T) {
	key := keyOf(t, "a")
	f := signed(t, key)
	var err error
	if f.ModelSignature, err = attestation.SignModel("m", []attestation.File{report}, nil, key); err != nil {
		t.Fatal(err)
	}
	if found := f.Check(key.Public()); found[0].Verdict != attestation.Invalid {
		t.Errorf("%+v", found)
	}
	nothing := []attestation.File{file(attestation.ProvenanceFile, "x")}
	if _, err := attestation.SignModel("m", nothing, nil, key); err == nil {
		t.Error("nothing was signed")
	}
}

// A line break inside base64, which encoding/json writes as \n and encoding/base64 skips, is another file.
func TestLineBreaksInBase64(t *testing.T) {
	key := keyOf(t, "a")
	for _, name := range []string{`"payload":"`, `"sig":"`} {
		f := signed(t, key)
		at := bytes.Index(f.ModelSignature, []byte(name)) + len(name) + 4
		f.ModelSignature = slices.Insert(slices.Clone(f.ModelSignature), at, []byte(`\n`)...)
		if found := f.Check(key.Public()); found[0].Verdict != attestation.Invalid {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// Signatures of other kinds than these are not checked, and say so: nobody knows whether they are good.
func TestSignaturesOfOtherKinds(t *testing.T) {
	key := keyOf(t, "a")
	f := signed(t, key)
	f.ModelSignature = []byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":` +
		`{"certificate":{"rawBytes":"AA=="},"tlogEntries":[]},"dsseEnvelope":{}}`)
	f.Provenance = nil
	found := f.Check(key.Public())
	if len(found) != 1 || found[0].Verdict != attestation.Unchecked || !strings.Contains(found[0].Why, "certificate") {
		t.Errorf("by a certificate: %+v", found)
	}
	for _, text := range []string{`{"mediaType":"x","verificationMaterial":{"certificate":{}}}`, `{}`, ``, `[1]`,
		`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{}}`} {
		f.ModelSignature = []byte(text)
		if found := f.Check(key.Public()); found[0].Verdict != attestation.Invalid {
			t.Errorf("%q: %+v", text, found)
		}
	}
}

// One line for each key; each is checked alone.
func TestLinesOfSeveralKeys(t *testing.T) {
	a, b := keyOf(t, "a"), keyOf(t, "b")
	f := signed(t, a)
	line, err := attestation.SignProvenance(run, b)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // again in its own place
		if f.Provenance, err = attestation.AddProvenance(f.Provenance, line); err != nil {
			t.Fatal(err)
		}
	}
	if got := verdicts(f.Check(b.Public())); got != "unchecked unchecked valid" {
		t.Error(got)
	}
	if got := verdicts(f.Check(b.Public(), a.Public())); got != "valid valid valid" {
		t.Error(got)
	}
	if _, err := attestation.AddProvenance(nil, []byte("{}")); err == nil {
		t.Error("a line that is no envelope was added")
	}
}

// Whatever is read as a signature is Valid only for the files that were signed.
func FuzzCheck(f *testing.F) {
	key := keyOf(f, "a")
	good := signed(f, key)
	f.Add(good.ModelSignature, good.Provenance)
	f.Add([]byte(`{"mediaType":""}`), []byte("\n"))
	f.Fuzz(func(t *testing.T, bundle, lines []byte) {
		folder := attestation.Folder{Model: model.Name, Files: good.Files, ModelSignature: bundle, Provenance: lines}
		for _, found := range folder.Check(key.Public()) {
			same := bytes.Equal(bytes.TrimSuffix(bundle, []byte("\n")), good.ModelSignature)
			if found.File == attestation.ProvenanceFile {
				same = bytes.Contains(lines, bytes.TrimSuffix(good.Provenance, []byte("\n")))
			}
			if found.Verdict == attestation.Valid && !same {
				t.Errorf("%+v for %q, %q", found, bundle, lines)
			}
		}
	})
}
