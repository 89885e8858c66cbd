package attestation

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// StatementType is the type of in-toto statements.
const StatementType = "https://in-toto.io/Statement/v1"

// Digest is a SHA-256. Its text is hexadecimal, in JSON too.
type Digest [32]byte

// String is the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// ParseDigest reads 64 hexadecimal digits in lower case.
func ParseDigest(text string) (d Digest, err error) {
	if n, err := hex.Decode(d[:], []byte(text[:min(len(text), 64)])); err != nil || n != len(d) || d.String() != text {
		return Digest{}, fmt.Errorf("%.80q is not a SHA-256 in lower-case hexadecimal", text)
	}
	return d, nil
}

// File is a file of the folder of a job's outputs, by its content. The name has slashes and is below the folder.
type File struct {
	Name   string
	SHA256 Digest
}

// statement is an in-toto statement, version 1.
type statement struct {
	Type          string          `json:"_type"`
	Subject       []Resource      `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

// Resource is an in-toto resource descriptor, version 1.
type Resource struct {
	Name        string            `json:"name,omitempty"`
	URI         string            `json:"uri,omitempty"`
	Digest      map[string]string `json:"digest,omitempty"` // by algorithm, in hexadecimal
	Annotations map[string]any    `json:"annotations,omitempty"`
}

// resource describes a file.
func (f File) resource() Resource {
	return Resource{Name: f.Name, Digest: map[string]string{"sha256": f.SHA256.String()}}
}

// encodeStatement writes a statement about subjects.
func encodeStatement(subjects []Resource, predicateType string, predicate any) ([]byte, error) {
	data, err := encode(predicate)
	if err != nil {
		return nil, err
	}
	return encode(statement{Type: StatementType, Subject: subjects, PredicateType: predicateType, Predicate: data})
}

// readStatement reads a payload that its signature vouches for.
func readStatement(payload []byte, predicateType string) (statement, error) {
	var s statement
	switch err := json.Unmarshal(payload, &s); {
	case err != nil:
		return s, fmt.Errorf("its payload is not a statement: %w", err)
	case s.Type != StatementType:
		return s, fmt.Errorf("its payload is of type %.60q, not %s", s.Type, StatementType)
	case s.PredicateType != predicateType:
		return s, fmt.Errorf("%w: a predicate of type %.60q", errOther, s.PredicateType)
	}
	return s, nil
}
