package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"

	"github.com/gowebpki/jcs"
)

// Defaults of a spec's input and run; written in by WithDefaults.
const (
	DefaultShardBytes     = ByteSize(64 << 20)
	DefaultMaxRecordBytes = ByteSize(1 << 20)
	DefaultMaxStateBytes  = ByteSize(1 << 30)
	maxSeed               = 1<<53 - 1
)

// ParseSpec reads a job spec from JSON, strictly. It does not look at params; the kind does.
func ParseSpec(data []byte) (JobSpec, error) {
	var spec JobSpec
	if len(bytes.TrimSpace(data)) == 0 {
		return spec, specFault("the spec is empty")
	}
	if len(data) > MaxSpecBytes {
		return spec, specFault("the spec has %d bytes; at most %d are accepted", len(data), MaxSpecBytes)
	}
	err := StrictDecode(data, &spec)
	return spec, err
}

// WithDefaults returns the spec with every default written in, except the kind's own.
func (s JobSpec) WithDefaults() JobSpec {
	in := &s.Spec.Input
	setDefault(&in.Compression, "auto")
	setDefault(&in.ShardBytes, DefaultShardBytes)
	setDefault(&in.MaxRecordBytes, DefaultMaxRecordBytes)
	setDefault(&s.Spec.Run.MaxStateBytes, DefaultMaxStateBytes)
	if len(s.Spec.Params) == 0 || bytes.Equal(s.Spec.Params, []byte("null")) {
		s.Spec.Params = json.RawMessage("{}")
	}
	return s
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate checks everything but the kind and its params. It names the field and what it wants.
func (s JobSpec) Validate() error {
	in := s.Spec.Input
	switch {
	case s.APIVersion != APIVersion:
		return specFault("apiVersion is %q; this release reads %q", s.APIVersion, APIVersion)
	case s.Kind == "":
		return specFault("kind is missing")
	case len(s.Metadata.Name) > 128:
		return specFault("metadata.name has %d bytes; at most 128 are accepted", len(s.Metadata.Name))
	case in.URI == "":
		return specFault("spec.input.uri is missing")
	case in.Format != "tsv":
		return specFault("spec.input.format is %q; known formats: tsv", in.Format)
	case in.Compression != "auto" && in.Compression != "none" && in.Compression != "gzip":
		return specFault("spec.input.compression is %q; known: auto, none, gzip", in.Compression)
	case in.Label.IsZero() || in.Text.IsZero():
		return specFault("spec.input.label and spec.input.text must each name a column (a number from 1, or a name)")
	case !in.Header && (in.Label.Name != "" || in.Text.Name != ""):
		return specFault("spec.input names a column, but spec.input.header is false; set header: true or use numbers from 1")
	case in.Label == in.Text:
		return specFault("spec.input.label and spec.input.text are both column %v", in.Label)
	case strings.HasPrefix(s.Spec.Output.URI, "mem://"):
		return specFault("spec.output.uri is in memory, which is gone when the worker ends; use s3:// or file://")
	case s.Spec.Repro.Seed > maxSeed:
		return specFault("spec.repro.seed is beyond 2^53-1")
	}
	return s.validateRanges()
}

func (s JobSpec) validateRanges() error {
	in := s.Spec.Input
	switch {
	case in.ShardBytes < 1:
		return specFault("spec.input.shard_bytes must be at least 1")
	case in.MaxRecordBytes < 1 || in.MaxRecordBytes > 1<<30:
		return specFault("spec.input.max_record_bytes must lie in 1B..1GiB")
	case in.OnBadRecord.SkipMax < 0:
		return specFault("spec.input.on_bad_record.skip_max must not be negative")
	case math.IsNaN(in.Split.Test) || in.Split.Test < 0 || in.Split.Test >= 1:
		return specFault("spec.input.split.test must lie in [0, 1)")
	case s.Spec.Run.MaxStateBytes < 1:
		return specFault("spec.run.max_state_bytes must be at least 1")
	}
	for _, uri := range []string{in.URI, s.Spec.Output.URI} {
		if u, err := url.Parse(uri); err == nil && u.User != nil {
			return specFault("a URI in a spec must not hold credentials; give them to the process")
		}
	}
	return nil
}

// Canonical returns the spec as canonical JSON (RFC 8785).
func (s JobSpec) Canonical() ([]byte, error) { return canonicalJSON(s) }

// Hash is the SHA-256 of the canonical JSON, in hex: the spec's identity.
func (s JobSpec) Hash() (string, error) {
	return canonicalHash(s)
}

// ResultHash names the result: it covers kind, input, params, seed and shard size
// only, so two specs that must give the same model bytes share it.
func (s JobSpec) ResultHash() (string, error) {
	return canonicalHash(struct {
		Kind   string          `json:"kind"`
		Input  Input           `json:"input"`
		Params json.RawMessage `json:"params"`
		Seed   uint64          `json:"seed"`
	}{s.Kind, s.Spec.Input, s.Spec.Params, s.Spec.Repro.Seed})
}

func canonicalHash(v any) (string, error) {
	canonical, err := canonicalJSON(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

func canonicalJSON(v any) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode as JSON: %w", err)
	}
	return jcs.Transform(plain)
}
