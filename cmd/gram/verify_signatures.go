package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/attestation/outputs"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
)

// signatures checks the signatures beside the model before anything is computed. One that is invalid is false; without
// a valid one by a key that was named, something is missing.
func (f *verifyFlags) signatures(ctx context.Context, a *app, from, folder string) ([]attestation.Finding, error) {
	none := []attestation.Finding{}
	keys, err := f.trusted(ctx, a, from)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{attestation.ModelSignatureFile, attestation.ProvenanceFile} {
		data, err := a.readSignature(ctx, folder+name)
		if err != nil {
			return nil, err
		}
		if data != nil {
			return f.checkSigned(ctx, folder, keys)
		}
	}
	if len(f.keyFiles) > 0 {
		return nil, unsigned(none)
	}
	return none, nil
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

func (f *verifyFlags) checkSigned(
	ctx context.Context, folder string, keys []attestation.PublicKey,
) ([]attestation.Finding, error) {
	store, prefix, err := openFolder(ctx, folder, true)
	if err != nil {
		return nil, err
	}
	read, err := outputs.Read(ctx, store, prefix)
	if err != nil {
		return nil, fmt.Errorf("check the signatures: %w", err)
	}
	found := append([]attestation.Finding{}, read.Check(keys...)...)
	if refused := attestation.Refused(found); len(refused) > 0 {
		return nil, &exit.Failure{Code: exit.Damaged, Why: errors.New(refused[0].Why),
			What: "not verified: the signature in " + refused[0].File + " is invalid"}
	}
	if len(f.keyFiles) > 0 && !attestation.HasValid(found) {
		return nil, unsigned(found)
	}
	return found, nil
}

func unsigned(found []attestation.Finding) error {
	failure := &exit.Failure{Code: exit.Missing, What: "not verified: no key of --public-key has signed the model"}
	if len(found) > 0 {
		failure.Why = fmt.Errorf("%s: %s", found[0].File, found[0].Why)
	}
	return failure
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

// signatureLines tell of each signature.
func signatureLines(found []attestation.Finding) [][2]string {
	var lines [][2]string
	for _, f := range found {
		text := string(f.Verdict)
		if f.Verdict == attestation.Valid {
			text += fmt.Sprintf(", by the key %.16s, over %d files", f.Key, f.Covered)
		} else {
			text += ": " + f.Why
		}
		lines = append(lines, [2]string{f.File, text})
		if len(f.Absent) > 0 {
			lines = append(lines, [2]string{"", absentText(f.Absent)})
		}
	}
	return lines
}
