package attestation

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ModelSignatureFile is the name of model_signing's signature beside a model.
const ModelSignatureFile = "model.sig"

// ModelSignatureType is the predicate type of model_signing's statements.
const ModelSignatureType = "https://model_signing/signature/v1.0"

const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// Ignored are the paths that model.sig never covers: the signatures, what model_signing leaves out by itself, and the
// files of a proof whose digests follow from its manifest, which is covered. They are listed in the signature, which is
// how model_signing knows them.
func Ignored() []string {
	return []string{
		".git", ".gitattributes", ".github", ".gitignore", ModelSignatureFile, "proof/input.json", "proof/partials",
		"proof/plan.json", "proof/rounds", "proof/spec.json", "proof/states", ProvenanceFile,
	}
}

// IsIgnored reports whether model.sig leaves out a file: it, or a folder around it, is one of Ignored.
func IsIgnored(name string) bool { return within(name, Ignored()) }

func within(name string, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return name == path || strings.HasPrefix(name, path+"/")
	})
}

// bundle is a Sigstore bundle with a signature by a bare key.
type bundle struct {
	MediaType    string       `json:"mediaType"`
	Verification verification `json:"verificationMaterial"`
	Envelope     Envelope     `json:"dsseEnvelope"`
}

type verification struct {
	PublicKey   publicKeyHint     `json:"publicKey"`
	TlogEntries []json.RawMessage `json:"tlogEntries"` // of a transparency log: none
}

type publicKeyHint struct {
	Hint string `json:"hint"`
}

type modelPredicate struct {
	Resources     []modelResource `json:"resources"`
	Serialization serialization   `json:"serialization"`
}

type modelResource struct {
	Algorithm string `json:"algorithm"`
	Digest    string `json:"digest"`
	Name      string `json:"name"`
}

type serialization struct {
	AllowSymlinks bool     `json:"allow_symlinks"`
	IgnorePaths   []string `json:"ignore_paths,omitempty"`
	Method        string   `json:"method"`
	HashType      string   `json:"hash_type"`
}

// SignModel returns the contents of ModelSignatureFile: a signature over files, which are sorted first. Left out are
// those that IsIgnored names, and the listed ones, whose digests a covered file lists. The name is for people. The time
// is linear in the files, beside sorting.
func SignModel(name string, files []File, listed []string, key *PrivateKey) ([]byte, error) {
	ignored := append(Ignored(), slices.Sorted(slices.Values(listed))...)
	files = slices.DeleteFunc(slices.Clone(files), func(f File) bool { return within(f.Name, ignored) })
	if len(files) == 0 {
		return nil, errors.New("there is no file to sign")
	}
	slices.SortFunc(files, func(a, b File) int { // as Python compares paths
		return slices.Compare(strings.Split(a.Name, "/"), strings.Split(b.Name, "/"))
	})
	predicate := modelPredicate{Serialization: serialization{
		IgnorePaths: ignored, Method: "files", HashType: "sha256",
	}}
	for _, f := range files {
		predicate.Resources = append(predicate.Resources,
			modelResource{Algorithm: "sha256", Digest: f.SHA256.String(), Name: f.Name})
	}
	subject := File{Name: name, SHA256: digestOfAll(files)}.resource()
	payload, err := encodeStatement([]Resource{subject}, ModelSignatureType, predicate)
	if err != nil {
		return nil, err
	}
	envelope, err := seal(payload, key, false)
	if err != nil {
		return nil, err
	}
	return encode(bundle{
		MediaType: bundleType, Envelope: envelope,
		Verification: verification{PublicKey: publicKeyHint{key.public.id}, TlogEntries: []json.RawMessage{}},
	})
}

// digestOfAll is the SHA-256 over the digests in their order.
func digestOfAll(files []File) Digest {
	sum := sha256.New()
	for _, f := range files {
		sum.Write(f.SHA256[:])
	}
	return Digest(sum.Sum(nil))
}

// readBundle reads ModelSignatureFile, as SignModel or model_signing 1.1 write it.
func readBundle(data []byte) (bundle, error) {
	var b bundle
	if err := readExactly(bytes.TrimSuffix(data, []byte("\n")), &b); err != nil {
		return b, err
	}
	if b.MediaType != bundleType || len(b.Verification.TlogEntries) > 0 {
		return b, corrupt(fmt.Errorf("it is not a bundle of the type %s with a signature by a key alone", bundleType))
	}
	return b, nil
}

// byCertificate reports whether data is a bundle of Sigstore that a certificate vouches for, not a bare key.
func byCertificate(data []byte) bool {
	var b struct {
		MediaType    string `json:"mediaType"`
		Verification struct {
			Certificate json.RawMessage `json:"certificate"`
			Chain       json.RawMessage `json:"x509CertificateChain"`
		} `json:"verificationMaterial"`
	}
	return len(data) <= MaxBytes && json.Unmarshal(data, &b) == nil &&
		strings.HasPrefix(b.MediaType, "application/vnd.dev.sigstore.bundle") &&
		(b.Verification.Certificate != nil || b.Verification.Chain != nil)
}

// errOther is a signature that is good, over something that is not compared here.
var errOther = errors.New("this release does not check what it signs")

var errOtherHash = fmt.Errorf("%w: digests other than those of whole files by SHA-256", errOther)

// filesSigned returns the files that a payload covers, and the paths that it leaves out.
func filesSigned(payload []byte) (files []File, ignored []string, err error) {
	s, err := readStatement(payload, ModelSignatureType)
	if err != nil {
		return nil, nil, err
	}
	var predicate modelPredicate
	if err := json.Unmarshal(s.Predicate, &predicate); err != nil {
		return nil, nil, fmt.Errorf("its predicate cannot be read: %w", err)
	}
	if predicate.Serialization.Method != "files" || predicate.Serialization.HashType != "sha256" {
		return nil, nil, errOtherHash
	}
	for _, r := range predicate.Resources {
		digest, err := ParseDigest(r.Digest)
		if err != nil || r.Algorithm != "sha256" {
			return nil, nil, errOtherHash
		}
		files = append(files, File{r.Name, digest})
	}
	if len(s.Subject) != 1 || s.Subject[0].Digest["sha256"] != digestOfAll(files).String() {
		return nil, nil, errors.New("the digest of its subject does not follow from its files")
	}
	return files, predicate.Serialization.IgnorePaths, nil
}
