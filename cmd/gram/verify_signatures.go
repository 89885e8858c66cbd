package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/attestation/outputs"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/verify"
)

// signedCheck is what a check of the signatures found. If something of it is false or missing, nothing else is checked.
type signedCheck struct {
	found   []attestation.Finding
	wrong   []verify.Finding
	missing []verify.Finding // at most one: none by a key that was named
}

// ended is the result of a check that ends with the signatures; nil if it goes on.
func (s signedCheck) ended(job string) *verify.Result {
	r := &verify.Result{Job: job, False: append([]verify.Finding{}, s.wrong...),
		Missing: append([]verify.Finding{}, s.missing...)}
	switch {
	case len(s.wrong) > 0:
		r.Verdict, r.Says = verify.False, []string{"A signature is invalid. So nothing else was checked."}
	case len(s.missing) > 0:
		r.Verdict, r.Says = verify.Incomplete, []string{"A signature is missing. So nothing else was checked."}
	default:
		return nil
	}
	return r
}

// invalid adds a signature that is invalid.
func (s *signedCheck) invalid(f attestation.Finding) {
	s.wrong = append(s.wrong, verify.Finding{Of: verify.OfSignature, File: f.File,
		Says: fmt.Sprintf("The signature in %s is invalid: %s.", f.File, f.Why)})
}

// unsigned notes that no key that was named has signed the model.
func (s *signedCheck) unsigned() {
	says := "The model has no signature by a key of --public-key"
	file := attestation.ModelSignatureFile
	if len(s.found) > 0 {
		file = s.found[0].File
		says += fmt.Sprintf("; %s: %s", file, s.found[0].Why)
	}
	s.missing = append(s.missing, verify.Finding{Of: verify.OfSignature, File: file, Says: says + "."})
}

// signatures checks the signatures beside the model before anything is computed. One that is invalid is false; without
// a valid one by a key that was named, something is missing.
func (f *verifyFlags) signatures(ctx context.Context, a *app, from, folder string) (signedCheck, error) {
	s := signedCheck{found: []attestation.Finding{}}
	keys, err := f.trusted(ctx, a, from)
	if err != nil {
		return s, err
	}
	var signed []string
	for _, name := range []string{attestation.ModelSignatureFile, attestation.ProvenanceFile} {
		data, err := a.readSignature(ctx, folder+name)
		if errors.Is(err, objstore.ErrTooLarge) {
			found := tooLarge(name)
			s.found = append(s.found, found)
			s.invalid(found)
			continue
		}
		if err != nil {
			return s, err
		}
		if data != nil {
			signed = append(signed, name)
		}
	}
	if len(signed) > 0 && len(s.wrong) == 0 {
		if err := s.check(ctx, folder, signed, keys); err != nil {
			return s, err
		}
	}
	if len(f.keyFiles) > 0 && len(s.wrong) == 0 && !attestation.HasValid(s.found) {
		s.unsigned()
	}
	return s, nil
}

// trusted are the keys that were named, or else that of the cluster, if one is asked for the job.
func (f *verifyFlags) trusted(ctx context.Context, a *app, from string) ([]attestation.PublicKey, error) {
	keys, err := a.publicKeys(f.keyFiles)
	if err != nil || len(keys) > 0 || f.store != "" || strings.ContainsAny(from, "./") {
		return keys, err
	}
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	if key, err := clusterKey(ctx, c); err == nil {
		return []attestation.PublicKey{key}, nil
	}
	return nil, nil // an older cluster: signatures are told as unchecked
}

// check checks the signatures in a folder. In one that cannot be read as a job's outputs they are unchecked: what is
// wrong with it comes out later.
func (s *signedCheck) check(ctx context.Context, folder string, signed []string, keys []attestation.PublicKey) error {
	store, prefix, err := openFolder(ctx, folder, true)
	if err != nil {
		return err
	}
	read, err := outputs.Read(ctx, store, prefix)
	if _, isFault := errors.AsType[*protocol.Fault](err); isFault || errors.Is(err, objstore.ErrTooLarge) {
		for _, name := range signed {
			s.found = append(s.found, attestation.Finding{File: name, Verdict: attestation.Unchecked, Why: err.Error()})
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("check the signatures: %w", err)
	}
	s.found = append(s.found, read.Check(keys...)...)
	for _, refused := range attestation.Refused(s.found) {
		s.invalid(refused)
	}
	return nil
}

// maxAbsent is how many absent files are named to people; JSON has all.
const maxAbsent = 3

// absentText names files that a signature covers, and that were not compared.
func absentText(names []string) string {
	text := fmt.Sprintf("not compared, as absent: %s", strings.Join(names[:min(len(names), maxAbsent)], ", "))
	if more := len(names) - maxAbsent; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// signatureName is the file of a signature, with its line if others are in the same file.
func signatureName(f attestation.Finding, found []attestation.Finding) string {
	for _, other := range found {
		if other.File == f.File && other.Line != f.Line {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
	}
	return f.File
}

// signatureLines tell of each signature.
func signatureLines(found []attestation.Finding) [][2]string {
	var lines [][2]string
	for _, f := range found {
		text := string(f.Verdict)
		switch f.Verdict {
		case attestation.Valid:
			text += fmt.Sprintf(", by the key %.16s, over %s", f.Key, protocol.Counted(f.Covered, "file"))
		case attestation.Unchecked:
			text += ": " + f.Why
		default: // a finding says why
		}
		lines = append(lines, [2]string{signatureName(f, found), text})
		if len(f.Absent) > 0 {
			lines = append(lines, [2]string{"", absentText(f.Absent)})
		}
	}
	return lines
}
