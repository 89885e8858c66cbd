package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gowebpki/jcs"
)

// Defaults of a spec's input and run; written in by WithDefaults.
const (
	DefaultShardBytes     = ByteSize(8 << 20)
	DefaultMaxRecordBytes = ByteSize(1 << 20)
	DefaultMaxStateBytes  = ByteSize(1 << 30)
	maxSeed               = 1<<53 - 1
)

// ParseSpec reads a job spec from JSON, strictly. It does not look at params; the kind does.
func ParseSpec(data []byte) (JobSpec, error) { return ParseSpecOf(data, nil) }

// ParseSpecOf is ParseSpec that suggests a kind's parameters too, for a parameter in the wrong place: params returns a
// kind's typed parameters, nil for a kind it does not know.
func ParseSpecOf(data []byte, params func(kind string) any) (JobSpec, error) {
	var spec JobSpec
	if len(bytes.TrimSpace(data)) == 0 {
		return spec, SpecFault("the spec is empty")
	}
	if len(data) > MaxSpecBytes {
		return spec, SpecFault("the spec has %d bytes; at most %d are accepted", len(data), MaxSpecBytes)
	}
	root := field{typ: reflect.TypeFor[JobSpec]()}
	err := strictDecode(data, &spec, root, paramsField(data, params)...)
	return spec, err
}

// paramsField is the place of the params of the kind that a spec names; empty for one that is not known.
func paramsField(data []byte, params func(kind string) any) []field {
	var named struct{ Kind string }
	if params == nil || json.Unmarshal(data, &named) != nil {
		return nil
	}
	known := params(named.Kind)
	if known == nil {
		return nil
	}
	return []field{{path: "spec.params", typ: reflect.TypeOf(known)}}
}

// WithDefaults returns the spec with every default written in, except the kind's own.
func (s JobSpec) WithDefaults() JobSpec {
	s.Spec.Input = s.Spec.Input.WithDefaults()
	if s.Spec.Queries != nil {
		queries := s.Spec.Queries.WithDefaults()
		if queries.Subtract == nil && queries.Format == s.Spec.Input.Format {
			queries.Subtract = s.Spec.Input.Subtract // what is taken off one is taken off the other
		}
		if queries.Missing == nil && queries.Format == s.Spec.Input.Format {
			queries.Missing = s.Spec.Input.Missing
		}
		s.Spec.Queries = &queries
	}
	if s.Spec.Evaluation != nil {
		s.Spec.Evaluation = s.Spec.Evaluation.withDefaults()
	}
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
	switch {
	case s.APIVersion != APIVersion:
		return SpecFault("apiVersion is %q; this release reads %q", s.APIVersion, APIVersion)
	case s.Kind == "":
		return SpecFault("kind is missing")
	case len(s.Metadata.Name) > 128:
		return SpecFault("metadata.name has %d bytes; at most 128 are accepted", len(s.Metadata.Name))
	case strings.ContainsFunc(s.Metadata.Name, Steers):
		return SpecFault("metadata.name is %q; it may hold no control characters", s.Metadata.Name)
	case strings.HasPrefix(s.Spec.Output.URI, "mem://"):
		return SpecFault("spec.output.uri is in memory, which is gone when the worker ends; use s3:// or file://")
	case s.Spec.Repro.Seed > maxSeed:
		return SpecFault("spec.repro.seed is beyond 2^53-1")
	}
	return s.validateRest()
}

func (s JobSpec) validateRest() error {
	for _, name := range slices.Sorted(maps.Keys(s.Metadata.Labels)) {
		if label := s.Metadata.Labels[name]; strings.ContainsFunc(name+label, Steers) {
			return SpecFault("metadata.labels has %q: %q; they may hold no control characters", name, label)
		}
	}
	if err := s.Spec.Run.validate(); err != nil {
		return err
	}
	if err := s.checkFilled(); err != nil {
		return err
	}
	if s.Spec.Evaluation != nil {
		if err := s.Spec.Evaluation.validate(s.Spec.Input.Split); err != nil {
			return err
		}
	}
	if err := s.Spec.checkPin(); err != nil {
		return err
	}
	if hasCredentials(s.Spec.Output.URI) || hasCredentials(s.Spec.Model) {
		return SpecFault("a URI in a spec must not hold credentials; give them to the process")
	}
	if err := s.Spec.Input.Validate("spec.input"); err != nil || s.Spec.Queries == nil {
		return err
	}
	if taken := len(s.Spec.Input.Subtract) > 0; s.Spec.Model == "" && taken != (len(s.Spec.Queries.Subtract) > 0) {
		return SpecFault(
			"spec.input.subtract and spec.queries.subtract go together: what is taken off the records of one must " +
				"be taken off the other's")
	}
	if s.Spec.Model == "" && !SameColumns(s.Spec.Input.Categorical, s.Spec.Queries.Categorical) {
		return SpecFault("spec.queries.categorical is %v, and spec.input.categorical %v", s.Spec.Queries.Categorical,
			s.Spec.Input.Categorical).WithHint("List the same columns by the same names, in the same order.")
	}
	return s.Spec.Queries.Validate("spec.queries")
}

// checkPin checks what the model must be.
func (s Spec) checkPin() error {
	if s.ModelSHA256 == "" && s.ModelJob == "" {
		return nil
	}
	sum, err := hex.DecodeString(s.ModelSHA256)
	switch {
	case s.Model == "":
		return SpecFault("spec.model_sha256 and spec.model_job say of which model spec.model is; it is missing")
	case err != nil || len(sum) != sha256.Size || strings.ToLower(s.ModelSHA256) != s.ModelSHA256:
		return SpecFault("spec.model_sha256 is %.80q; it is 64 hexadecimal digits, in small letters", s.ModelSHA256)
	case s.ModelJob != "" && !ValidJobID(s.ModelJob):
		return SpecFault("spec.model_job is %.80q, which is no job's id", s.ModelJob)
	}
	return nil
}

func (r Run) validate() error {
	switch {
	case r.MaxStateBytes < 1:
		return SpecFault("spec.run.max_state_bytes must be at least 1")
	case r.Priority < -MaxPriority || r.Priority > MaxPriority:
		return SpecFault("spec.run.priority is %d; it may be -%d to %d", r.Priority, MaxPriority, MaxPriority)
	case r.MaxWorkers < 0 || r.MaxWorkers > MaxWorkers:
		return SpecFault("spec.run.max_workers is %d; it may be 1 to %d, or 0 for no limit", r.MaxWorkers, MaxWorkers)
	case r.Audit != nil && !(*r.Audit >= 0 && *r.Audit <= 1):
		return SpecFault("spec.run.audit is %v; it is a share from 0, for no audits, to 1, for all tasks", *r.Audit)
	case r.Proof != "" && r.Proof != ProofDigests && r.Proof != ProofStates && r.Proof != ProofFull:
		return SpecFault("spec.run.proof is %.40q; it is %s, %s or %s", r.Proof, ProofDigests, ProofStates, ProofFull)
	case len(r.Needs) > MaxNeeds:
		return SpecFault("spec.run.needs names %d jobs; at most %d are accepted", len(r.Needs), MaxNeeds)
	}
	for i, id := range r.Needs {
		if !ValidJobID(id) || slices.Contains(r.Needs[:i], id) {
			return SpecFault("spec.run.needs: %.80q is no job id, or comes twice", id)
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

// ResultHash names the result: it covers kind, inputs, model to begin from, params and seed only, so two specs that
// must give the same model bytes share it. The size of shards changes no model. Where the model's digest is known, it
// counts and not the place.
func (s JobSpec) ResultHash() (string, error) {
	if s.Spec.ModelSHA256 != "" {
		s.Spec.Model = ""
	}
	s.Spec.Input.ShardBytes = 0
	if s.Spec.Queries != nil {
		queries := *s.Spec.Queries
		queries.ShardBytes = 0
		s.Spec.Queries = &queries
	}
	return canonicalHash(struct {
		Kind    string          `json:"kind"`
		Input   Input           `json:"input"`
		Queries *Input          `json:"queries,omitempty"`
		Model   string          `json:"model,omitempty"`
		Digest  string          `json:"model_sha256,omitempty"`
		Params  json.RawMessage `json:"params"`
		Seed    uint64          `json:"seed"`
	}{s.Kind, s.Spec.Input, s.Spec.Queries, s.Spec.Model, s.Spec.ModelSHA256, s.Spec.Params, s.Spec.Repro.Seed})
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
