package protocol

import (
	"math"
	"strings"
	"testing"
)

func specWithRun(t *testing.T, run string) JobSpec {
	t.Helper()
	spec, err := ParseSpec([]byte(`{"apiVersion":"v1","kind":"K","spec":{
		"input":{"uri":"s3://b/in","format":"tsv","label":1,"text":2},"run":` + run + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return spec.WithDefaults()
}

// How a job runs names no other result; and what was hashed before there were these fields has its hash still.
func TestRunDoesNotNameTheResult(t *testing.T) {
	plain, busy := specWithRun(t, `{}`),
		specWithRun(t, `{"priority":-3,"max_workers":2,"needs":["a","b-1"],"max_state_bytes":7,"proof":"full"}`)
	one, err := plain.ResultHash()
	two, err2 := busy.ResultHash()
	if one != two || one == "" || err != nil || err2 != nil {
		t.Errorf("results %s and %s; %v, %v", one, two, err, err2)
	}
	canonical, err := plain.Canonical()
	if err != nil || !strings.Contains(string(canonical), `"run":{"max_state_bytes":1073741824}`) {
		t.Errorf("%v, canonical form %s", err, canonical)
	}
	if first, second := hashOf(t, plain), hashOf(t, busy); first == second {
		t.Error("two specs have one hash")
	}
}

// The size of shards names no other result, of neither data set; what changes a model does.
func TestShardsDoNotNameTheResult(t *testing.T) {
	of := func(shard, queryShard ByteSize, seed uint64) string {
		s := specWithRun(t, `{}`)
		queries := s.Spec.Input
		s.Spec.Queries = &queries
		s.Spec.Input.ShardBytes, s.Spec.Queries.ShardBytes, s.Spec.Repro.Seed = shard, queryShard, seed
		result, err := s.ResultHash()
		if err != nil {
			t.Fatal(err)
		}
		if s.Spec.Queries.ShardBytes != queryShard {
			t.Error("the spec was changed")
		}
		return result
	}
	if of(1000, 2000, 1) != of(3000, 4000, 1) || of(1000, 2000, 1) == of(1000, 2000, 2) {
		t.Error("the results do not have the names that they should have")
	}
}

func hashOf(t *testing.T, s JobSpec) string {
	t.Helper()
	hash, err := s.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestRunValidate(t *testing.T) {
	for run, says := range map[string]string{
		`{"priority":1000,"max_workers":100000,"needs":["a","b"]}`: "",
		`{"priority":-1000}`:     "",
		`{"priority":1001}`:      "spec.run.priority",
		`{"priority":-1001}`:     "spec.run.priority",
		`{"max_workers":-1}`:     "spec.run.max_workers",
		`{"needs":["A"]}`:        "spec.run.needs",
		`{"needs":[""]}`:         "spec.run.needs",
		`{"needs":["a","a"]}`:    "comes twice",
		`{"max_workers":100001}`: "spec.run.max_workers",
		`{"max_state_bytes":1}`:  "",
		`{"max_state_bytes":0}`:  "", // which is the default
		`{"proof":"full"}`:       "",
		`{"proof":"Full"}`:       "spec.run.proof",
		`{"audit":0}`:            "",
		`{"audit":1}`:            "",
		`{"audit":-0.001}`:       "spec.run.audit",
		`{"audit":1.001}`:        "spec.run.audit",
		`{"needs":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p"]}`:     "",
		`{"needs":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q"]}`: "17 jobs",
	} {
		err := specWithRun(t, run).Validate()
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", run, err, says)
		}
	}
}

func TestRunOfNoJSON(t *testing.T) {
	nan := math.NaN()
	wantFault(t, "no state", Run{}.validate(), "spec.run.max_state_bytes")
	wantFault(t, "an audit of NaN", Run{MaxStateBytes: 1, Audit: &nan}.validate(), "spec.run.audit")
}

// The share of audits is rounded to millionths, and a share above 0 audits something.
func TestAuditPPM(t *testing.T) {
	if got := (Run{}).AuditPPM(); got != 10_000 {
		t.Errorf("the default: %d millionths, want 10000", got)
	}
	for share, want := range map[float64]uint32{0: 0, 1e-12: 1, 1.4e-6: 1, 1.6e-6: 2, 0.25: 250_000, 1: 1_000_000} {
		if got := (Run{Audit: &share}).AuditPPM(); got != want {
			t.Errorf("%v: %d millionths, want %d", share, got, want)
		}
	}
}
