package outputs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/attestation/mlbom"
	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// indexName is the file that lists the parts of a folder.
const indexName = "index.json"

// Bounds on what is read whole.
const (
	maxFiles       = 1 << 20
	maxJSONBytes   = origin.MaxBytes
	maxSignedBytes = attestation.MaxBytes
)

// Folder is the folder of a job's outputs: digests of its files, and what the signatures say and the record tells.
type Folder struct {
	attestation.Folder
	Job     string
	Listed  []string // parts of results, whose digests their index lists
	Replace bool     // Sign may replace a signature by another key

	whole map[string][]byte // JSON files, read whole
}

// Read lists a folder, whose prefix ends in "/" or is empty, and digests its files. Parts of results and what a proof's
// manifest covers may be as large as the input; they are digested only if model.sig covers them. Every other file is
// read once. A folder without a model, and a file that is larger than what is read whole, is a *protocol.Fault.
func Read(ctx context.Context, store objstore.Store, prefix string) (*Folder, error) {
	names, present, err := list(ctx, store, prefix)
	if err != nil {
		return nil, err
	}
	f := &Folder{Folder: attestation.Folder{Model: origin.ModelFile}, whole: map[string][]byte{}}
	for _, name := range []string{attestation.ModelSignatureFile, attestation.ProvenanceFile} {
		if present[name] {
			if err := f.add(ctx, store, prefix, name); err != nil {
				return nil, err
			}
		}
	}
	covered := map[string]bool{}
	for _, name := range f.Covers() {
		covered[name] = true
	}
	for _, name := range names {
		index := path.Dir(name) + "/" + indexName
		part := name != index && strings.Contains(name, "/") && present[index]
		if part {
			f.Listed = append(f.Listed, name)
		}
		if (part || attestation.IsIgnored(name)) && !covered[name] {
			continue
		}
		if err := f.add(ctx, store, prefix, name); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(f.Files, func(file attestation.File) bool { return file.Name == origin.ModelFile }) {
		return nil, protocol.TaskFault(protocol.CodeCorrupt, "there is no %s in this folder", origin.ModelFile).
			In(store.String() + "/" + prefix).WithHint("Name the folder of a job's outputs")
	}
	return f, nil
}

func list(ctx context.Context, store objstore.Store, prefix string) ([]string, map[string]bool, error) {
	var names []string
	present := map[string]bool{}
	for info, err := range store.List(ctx, prefix) {
		if err != nil {
			return nil, nil, fmt.Errorf("list %s/%s: %w", store, prefix, err)
		}
		if len(names) == maxFiles {
			return nil, nil, protocol.TaskFault(protocol.CodeCorrupt, "more than %d files in this folder", maxFiles).
				In(store.String() + "/" + prefix)
		}
		name := strings.TrimPrefix(info.Key, prefix)
		names, present[name] = append(names, name), true
	}
	return names, present, nil
}

// add reads a file: signatures and small JSON whole.
func (f *Folder) add(ctx context.Context, store objstore.Store, prefix, name string) error {
	var limit int64
	switch name {
	case attestation.ModelSignatureFile, attestation.ProvenanceFile:
		limit = maxSignedBytes
	case origin.ProvenanceFile, origin.ReportFile, mlbom.File, proof.ManifestFile:
		limit = maxJSONBytes
	default:
		digest, err := digestOf(ctx, store, prefix+name)
		f.Files = append(f.Files, attestation.File{Name: name, SHA256: digest})
		return err
	}
	data, _, err := objstore.ReadAll(ctx, store, prefix+name, objstore.GetOptions{}, limit)
	if errors.Is(err, objstore.ErrTooLarge) {
		return protocol.TaskFault(protocol.CodeCorrupt, "the file has more than %d bytes", limit).
			In(store.String() + "/" + prefix + name).Because(objstore.ErrTooLarge).
			WithHint("No job leaves such a file. Remove it, or fetch the job's outputs again")
	}
	if err != nil {
		return fmt.Errorf("read %s/%s%s: %w", store, prefix, name, err)
	}
	f.Put(name, data)
	return nil
}

// Put adds a file that is known whole, or replaces it.
func (f *Folder) Put(name string, data []byte) {
	switch name {
	case attestation.ModelSignatureFile:
		f.ModelSignature = data
	case attestation.ProvenanceFile:
		f.Provenance = data
	default:
		if f.whole == nil {
			f.whole = map[string][]byte{}
		}
		f.whole[name] = data
		f.Files = slices.DeleteFunc(f.Files, func(old attestation.File) bool { return old.Name == name })
		f.Files = append(f.Files, attestation.File{Name: name, SHA256: sha256.Sum256(data)})
	}
}

func digestOf(ctx context.Context, store objstore.Store, key string) (attestation.Digest, error) {
	body, _, err := store.Get(ctx, key, objstore.GetOptions{})
	if err != nil {
		return attestation.Digest{}, err
	}
	defer body.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return attestation.Digest{}, fmt.Errorf("read %s/%s: %w", store, key, err)
	}
	return attestation.Digest(sum.Sum(nil)), nil
}

// digest returns the digest of a file, if it is present.
func (f *Folder) digest(name string) (attestation.Digest, bool) {
	for _, file := range f.Files {
		if file.Name == name {
			return file.SHA256, true
		}
	}
	return attestation.Digest{}, false
}
