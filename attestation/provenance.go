package attestation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ProvenanceFile is the name of the file of signed provenance beside a model. Other names that in-toto knows end alike.
const ProvenanceFile = "provenance.intoto.jsonl"

// ProvenanceType is the predicate type of SLSA provenance, version 1.
const ProvenanceType = "https://slsa.dev/provenance/v1"

// BuildType says how to read the parameters of a provenance.
const BuildType = "https://github.com/gram-compute/gram/blob/main/docs/provenance.md#build-type-v1"

// RootAlgorithm names the Merkle root of a proof among digests: RFC 6962, section 2.1, with SHA-256.
const RootAlgorithm = "rfc6962_sha256"

// Names of subjects that are not files.
const (
	SpecSubject = "spec"  // the job's spec as canonical JSON (RFC 8785)
	RootSubject = "proof" // the Merkle root of the job's proof
)

// Run is a finished job, as its provenance tells of it. What is zero is left out.
type Run struct {
	Job      string
	Spec     json.RawMessage
	SpecHash string // SHA-256 in hexadecimal
	Root     string // of the job's proof, in hexadecimal

	Subjects   []File // the model and the manifest of the proof
	Byproducts []File // the other files

	Internal     map[string]any // what no spec sets, such as kernel sets and the number of objects
	Dependencies []Resource     // objects that were read, and the model that the job began with

	Builder           string // URI of what vouches for the run
	Versions          map[string]string
	Started, Finished string // RFC 3339, UTC
}

type provenance struct {
	BuildDefinition buildDefinition `json:"buildDefinition"`
	RunDetails      runDetails      `json:"runDetails"`
}

type buildDefinition struct {
	BuildType            string         `json:"buildType"`
	ExternalParameters   external       `json:"externalParameters"`
	InternalParameters   map[string]any `json:"internalParameters,omitempty"`
	ResolvedDependencies []Resource     `json:"resolvedDependencies,omitempty"`
}

type external struct {
	Spec json.RawMessage `json:"spec"`
}

type runDetails struct {
	Builder    builder    `json:"builder"`
	Metadata   metadata   `json:"metadata"`
	Byproducts []Resource `json:"byproducts,omitempty"`
}

type builder struct {
	ID      string            `json:"id"`
	Version map[string]string `json:"version,omitempty"`
}

type metadata struct {
	InvocationID string `json:"invocationId"`
	StartedOn    string `json:"startedOn,omitempty"`
	FinishedOn   string `json:"finishedOn,omitempty"`
}

// SignProvenance returns one line of ProvenanceFile, without the line break: a signed statement with the provenance.
func SignProvenance(run Run, key *PrivateKey) ([]byte, error) {
	subjects := resources(run.Subjects)
	if run.SpecHash != "" {
		subjects = append(subjects, Resource{Name: SpecSubject, Digest: map[string]string{"sha256": run.SpecHash}})
	}
	if run.Root != "" {
		subjects = append(subjects, Resource{Name: RootSubject, Digest: map[string]string{RootAlgorithm: run.Root}})
	}
	payload, err := encodeStatement(subjects, ProvenanceType, provenance{
		BuildDefinition: buildDefinition{
			BuildType: BuildType, ExternalParameters: external{run.Spec},
			InternalParameters: run.Internal, ResolvedDependencies: run.Dependencies,
		},
		RunDetails: runDetails{
			Builder:    builder{ID: run.Builder, Version: run.Versions},
			Metadata:   metadata{InvocationID: run.Job, StartedOn: run.Started, FinishedOn: run.Finished},
			Byproducts: resources(run.Byproducts),
		},
	})
	if err != nil {
		return nil, err
	}
	envelope, err := seal(payload, key, true)
	if err != nil {
		return nil, err
	}
	return encode(envelope)
}

func resources(files []File) []Resource {
	var list []Resource
	for _, f := range files {
		list = append(list, f.resource())
	}
	return list
}

// maxLines bounds the envelopes of ProvenanceFile.
const maxLines = 1000

// AddProvenance puts a line into ProvenanceFile, in place of a line that has the same key's identifier.
func AddProvenance(file, line []byte) ([]byte, error) {
	added, err := readLine(line)
	if err != nil {
		return nil, err
	}
	lines, err := splitLines(file)
	if err != nil {
		return nil, err
	}
	lines = slices.DeleteFunc(lines, func(old []byte) bool {
		e, err := readLine(old)
		return err == nil && e.Signatures[0].KeyID == added.Signatures[0].KeyID
	})
	return append(bytes.Join(append(lines, line), []byte("\n")), '\n'), nil
}

func splitLines(file []byte) ([][]byte, error) {
	if len(file) > MaxBytes {
		return nil, corrupt(fmt.Errorf("%d bytes; at most %d are read", len(file), MaxBytes))
	}
	if len(file) == 0 {
		return nil, nil
	}
	lines := bytes.Split(bytes.TrimSuffix(file, []byte("\n")), []byte("\n"))
	if len(lines) > maxLines {
		return nil, corrupt(fmt.Errorf("%d lines; at most %d are read", len(lines), maxLines))
	}
	return lines, nil
}

// readLine reads a line of ProvenanceFile.
func readLine(line []byte) (Envelope, error) {
	var e Envelope
	if err := readExactly(line, &e); err != nil {
		return e, err
	}
	if len(e.Signatures) != 1 {
		return e, corrupt(errors.New("an envelope has other than one signature"))
	}
	return e, nil
}

// filesProvenanced returns the files that a provenance names, subjects first, and how many are subjects.
func filesProvenanced(payload []byte) (files []File, subjects int, err error) {
	s, err := readStatement(payload, ProvenanceType)
	if err != nil {
		return nil, 0, err
	}
	var p provenance
	if err := json.Unmarshal(s.Predicate, &p); err != nil {
		return nil, 0, fmt.Errorf("its predicate cannot be read: %w", err)
	}
	if p.BuildDefinition.BuildType != BuildType {
		return nil, 0, fmt.Errorf("%w: a build of type %.80q", errOther, p.BuildDefinition.BuildType)
	}
	for i, r := range slices.Concat(s.Subject, p.RunDetails.Byproducts) {
		digest, err := ParseDigest(r.Digest["sha256"])
		if err != nil || i < len(s.Subject) && r.Name == SpecSubject {
			continue
		}
		files = append(files, File{r.Name, digest})
		if i < len(s.Subject) {
			subjects++
		}
	}
	return files, subjects, nil
}
