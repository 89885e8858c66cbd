package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/attestation/outputs"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
)

// signatures are those beside a model, and what a check found of each.
type signatures struct {
	folder attestation.Folder
	found  []attestation.Finding
}

// files are the signatures as files.
func (s *signatures) files() []outputs.Signature {
	var files []outputs.Signature
	if s.folder.ModelSignature != nil {
		files = append(files, outputs.Signature{Name: attestation.ModelSignatureFile, Data: s.folder.ModelSignature})
	}
	if s.folder.Provenance != nil {
		files = append(files, outputs.Signature{Name: attestation.ProvenanceFile, Data: s.folder.Provenance})
	}
	return files
}

// publicKeys reads the keys that a person trusts.
func (a *app) publicKeys(names []string) ([]attestation.PublicKey, error) {
	var keys []attestation.PublicKey
	for _, name := range names {
		text, err := os.ReadFile(a.within(name))
		if err != nil {
			return nil, keyFailure(name, err)
		}
		key, err := attestation.ReadPublicKey(text)
		if err != nil {
			return nil, keyFailure(name, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// signaturesOf reads the signatures beside the model of a job, and checks them with the digests that the cluster has of
// the outputs: nothing is downloaded before. Without keys of its own it takes that of the cluster.
func (a *app) signaturesOf(
	ctx context.Context, c *client.Cluster, job *gramv1.Job, keyFiles []string,
) (*signatures, error) {
	keys, err := a.publicKeys(keyFiles)
	if err != nil {
		return nil, err
	}
	model, err := modelOf(job)
	if err != nil {
		return nil, err
	}
	what, folder := "the model of job "+job.GetId(), attestation.Folder{Model: worker.ModelFile}
	for _, o := range job.GetOutputs() {
		if len(o.GetSha256()) == len(attestation.Digest{}) {
			folder.Files = append(folder.Files,
				attestation.File{Name: o.GetName(), SHA256: attestation.Digest(o.GetSha256())})
		}
	}
	base := strings.TrimSuffix(model.GetUri(), model.GetName())
	read := func(name string) ([]byte, error) {
		data, err := a.readSignature(ctx, base+name)
		if errors.Is(err, objstore.ErrTooLarge) {
			err = invalidSignature(what, tooLarge(name))
		}
		return data, err
	}
	if folder.ModelSignature, err = read(attestation.ModelSignatureFile); err != nil {
		return nil, err
	}
	if folder.Provenance, err = read(attestation.ProvenanceFile); err != nil {
		return nil, err
	}
	if len(keyFiles) == 0 && (folder.ModelSignature != nil || folder.Provenance != nil) {
		if key, err := clusterKey(ctx, c); err == nil {
			keys = append(keys, key)
		} else {
			a.note("gram: warning: the cluster does not tell its key: %s", exit.Of(c.Explain(err)).What)
		}
	}
	s := &signatures{folder: folder}
	s.found, err = a.checkSignatures(folder, what, len(keyFiles) > 0, keys)
	return s, err
}

// readSignature reads a file of signatures; nil if it is absent. A store may deny what is absent to those who may not
// list it.
func (a *app) readSignature(ctx context.Context, uri string) ([]byte, error) {
	data, err := objects.Read(ctx, uri, attestation.MaxBytes, "")
	if errors.Is(err, objstore.ErrNotFound) {
		return nil, nil
	}
	if errors.Is(err, objstore.ErrDenied) {
		a.note("gram: warning: %s may not be read, or is absent", uri)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a signature: %w", err)
	}
	return data, nil
}

// tooLarge is what a check finds of a file of signatures that is larger than any that is read.
func tooLarge(name string) attestation.Finding {
	return attestation.Finding{File: name, Verdict: attestation.Invalid,
		Why: fmt.Sprintf("it has more than %d bytes", attestation.MaxBytes)}
}

// invalidSignature is the failure of a signature that is invalid; what names what was signed.
func invalidSignature(what string, f attestation.Finding) error {
	return &exit.Failure{Code: exit.Damaged, What: what + ": the signature in " + f.File + " is invalid",
		Why: errors.New(f.Why), Hint: "The files or the signature were changed after it was signed. Do not use them."}
}

// checkSignatures checks the signatures of a folder and tells of each. One that is invalid is an error; so is a folder
// without a valid one, if a person named keys.
func (a *app) checkSignatures(
	folder attestation.Folder, what string, named bool, keys []attestation.PublicKey,
) ([]attestation.Finding, error) {
	found := append([]attestation.Finding{}, folder.Check(keys...)...)
	if refused := attestation.Refused(found); len(refused) > 0 {
		return nil, invalidSignature(what, refused[0])
	}
	if named && !attestation.HasValid(found) {
		f := &exit.Failure{Code: exit.Missing, What: what + " has no signature by a key of --public-key",
			Hint: "`gram sign` signs it."}
		if len(found) > 0 {
			f.Why = fmt.Errorf("%s: %s", found[0].File, found[0].Why)
		}
		return nil, f
	}
	for _, finding := range found {
		name := signatureName(finding, found)
		if finding.Verdict == attestation.Valid {
			text := fmt.Sprintf("gram: %s is valid: the key %.16s signed %s that %s compared", name,
				finding.Key, protocol.Counted(finding.Covered, "file"), protocol.Were(finding.Covered))
			if len(finding.Absent) > 0 {
				text += "; " + absentText(finding.Absent)
			}
			a.note("%s", text)
		} else {
			a.note("gram: warning: %s was not checked: %s (--public-key)", name, finding.Why)
		}
	}
	return found, nil
}
