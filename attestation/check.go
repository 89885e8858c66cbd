package attestation

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
)

// Verdict is what a check found of a signature.
type Verdict string

// The verdicts of a signature.
const (
	// Valid: a trusted key made it, and every file that it names has the digest that it names. Byproducts may be
	// absent.
	Valid Verdict = "valid"
	// Unchecked: no trusted key made it, or what it covers cannot be compared here. It says nothing, good or bad.
	Unchecked Verdict = "unchecked"
	// Invalid: a trusted key's identifier is on it, but it cannot be read, is not over these bytes, or a file differs.
	Invalid Verdict = "invalid"
)

// Finding is one signature in a folder, and what a check found of it.
type Finding struct {
	File    string   `json:"file"`           // ModelSignatureFile or ProvenanceFile
	Line    int      `json:"line,omitempty"` // of ProvenanceFile, from 1
	Key     string   `json:"key,omitempty"`  // the identifier that it carries
	Verdict Verdict  `json:"verdict"`
	Why     string   `json:"why,omitempty"`     // of every verdict but Valid
	Covered int      `json:"covered,omitempty"` // files whose digests were compared
	Absent  []string `json:"absent,omitempty"`  // files that it names, and that are not in the folder
	Beside  []string `json:"beside,omitempty"`  // files of the folder that model.sig does not cover
}

// Folder is the folder of a job's outputs, as far as signatures are concerned.
type Folder struct {
	Model          string // the name of the model
	Files          []File // all files but the two signatures
	ModelSignature []byte // of ModelSignatureFile; nil if it is absent
	Provenance     []byte // of ProvenanceFile; nil if it is absent
}

// Check checks every signature of the folder with the keys that are trusted. A folder without signatures has no
// findings. The time is linear in the files for each signature.
func (f Folder) Check(trusted ...PublicKey) []Finding {
	var all []Finding
	if f.ModelSignature != nil {
		all = append(all, f.checkModel(trusted))
	}
	if f.Provenance == nil {
		return all
	}
	lines, err := splitLines(f.Provenance)
	if err != nil {
		return append(all, invalid(Finding{File: ProvenanceFile}, err))
	}
	if len(lines) == 0 {
		return append(all, invalid(Finding{File: ProvenanceFile}, errors.New("the file is empty")))
	}
	for i, line := range lines {
		all = append(all, f.checkProvenance(i+1, line, trusted))
	}
	return all
}

// ModelSigner is the identifier of the key that model.sig names; "" if it is absent or cannot be read.
func (f Folder) ModelSigner() string {
	b, err := readBundle(f.ModelSignature)
	if err != nil {
		return ""
	}
	return b.Verification.PublicKey.Hint
}

// Covers returns the names that model.sig lists, by whatever key: a check needs the digests of these files.
func (f Folder) Covers() []string {
	b, err := readBundle(f.ModelSignature)
	if err != nil {
		return nil
	}
	payload, err := base64.StdEncoding.DecodeString(b.Envelope.Payload)
	if err != nil {
		return nil
	}
	signed, _, err := filesSigned(payload)
	if err != nil {
		return nil
	}
	names := make([]string, len(signed))
	for i, file := range signed {
		names[i] = file.Name
	}
	return names
}

// Refused returns the findings that are Invalid.
func Refused(all []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return f.Verdict != Invalid })
}

// HasValid reports whether one finding is Valid and none is Invalid.
func HasValid(all []Finding) bool {
	return len(Refused(all)) == 0 && slices.ContainsFunc(all, func(f Finding) bool { return f.Verdict == Valid })
}

func (f Folder) checkModel(trusted []PublicKey) Finding {
	found := Finding{File: ModelSignatureFile}
	b, err := readBundle(f.ModelSignature)
	if err != nil && byCertificate(f.ModelSignature) {
		return unread(found, fmt.Errorf("%w: a signature by a certificate", errOther))
	}
	if err != nil {
		return invalid(found, err)
	}
	found.Key = b.Verification.PublicKey.Hint
	payload, verdict := opened(b.Envelope, found, trusted)
	if payload == nil {
		return verdict
	}
	signed, ignored, err := filesSigned(payload)
	if err != nil {
		return unread(found, err)
	}
	if _, err := f.compare(signed, true); err != nil {
		return invalid(found, err)
	}
	covered := make(map[string]bool, len(signed))
	for _, file := range signed {
		covered[file.Name] = true
	}
	for _, file := range f.Files {
		if !covered[file.Name] && !within(file.Name, ignored) {
			found.Beside = append(found.Beside, file.Name)
		}
	}
	found.Verdict, found.Covered = Valid, len(signed)
	return found
}

func (f Folder) checkProvenance(number int, line []byte, trusted []PublicKey) Finding {
	found := Finding{File: ProvenanceFile, Line: number}
	e, err := readLine(line)
	if err != nil {
		return invalid(found, err)
	}
	found.Key = e.Signatures[0].KeyID
	payload, verdict := opened(e, found, trusted)
	if payload == nil {
		return verdict
	}
	named, subjects, err := filesProvenanced(payload)
	if err != nil {
		return unread(found, err)
	}
	_, missing := f.compare(named[:subjects], true)
	absent, differs := f.compare(named[subjects:], false)
	if err := errors.Join(missing, differs); err != nil {
		return invalid(found, err)
	}
	found.Verdict, found.Covered, found.Absent = Valid, len(named)-len(absent), absent
	return found
}

// opened returns the payload of an envelope that one of the keys signed; otherwise the verdict.
func opened(e Envelope, found Finding, trusted []PublicKey) ([]byte, Finding) {
	for _, key := range trusted {
		payload, err := e.open(key)
		switch {
		case err == nil && key.id == found.Key:
			return payload, found
		case err == nil:
			return nil, invalid(found, fmt.Errorf("the key %s made it, and it names another", key.id))
		case key.id == found.Key:
			return nil, invalid(found, err)
		}
	}
	found.Verdict, found.Why = Unchecked, "none of the keys given made it"
	if len(trusted) == 0 {
		found.Why = "no key was given to check it with"
	}
	return nil, found
}

// compare compares the folder's files with those that a signature names, and returns those that are absent. If all must
// be present, none is, and the model must be among them.
func (f Folder) compare(named []File, all bool) (absent []string, err error) {
	have := make(map[string]Digest, len(f.Files))
	for _, file := range f.Files {
		have[file.Name] = file.SHA256
	}
	model := !all
	for _, file := range named {
		digest, ok := have[file.Name]
		switch {
		case !ok && all:
			return nil, fmt.Errorf("%s, which it covers, is absent", file.Name)
		case !ok:
			absent = append(absent, file.Name)
		case digest != file.SHA256:
			return nil, fmt.Errorf("%s has the SHA-256 %s, and it covers %s", file.Name, digest, file.SHA256)
		}
		model = model || file.Name == f.Model
	}
	if !model {
		return nil, fmt.Errorf("it does not cover %s", f.Model)
	}
	return absent, nil
}

// unread is the verdict on what was not understood: a payload that its key vouches for, or a bundle.
func unread(found Finding, err error) Finding {
	if errors.Is(err, errOther) {
		found.Verdict, found.Why = Unchecked, err.Error()
		return found
	}
	return invalid(found, err)
}

func invalid(found Finding, err error) Finding {
	found.Verdict, found.Why = Invalid, err.Error()
	return found
}
