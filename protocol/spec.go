package protocol

import "encoding/json"

// APIVersion is the only apiVersion this release reads.
const APIVersion = "v1"

// MaxSpecBytes bounds a spec's canonical JSON; it enters the raft log.
const MaxSpecBytes = 64 << 10

// JobSpec is what a person submits: a declared kind of job with typed
// parameters. ParseSpec reads it strictly; WithDefaults writes the defaults in,
// so that what is stored and hashed has no hidden values.
type JobSpec struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       Spec     `json:"spec"`
}

// Metadata is for people; it does not name or change the result.
type Metadata struct {
	Name   string            `json:"name,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

// Spec says what to read, what to compute and where to put it.
type Spec struct {
	Input Input `json:"input"`
	// Queries is a second data set: what a search looks up in the first. Its split is not used.
	Queries *Input `json:"queries,omitempty"`
	// Model is the URI of a model.safetensors to begin from: to predict with, or to go on training. Or it is a
	// reference (see IsReference) to a job's model: the coordinator puts the URI in its place, once.
	Model string `json:"model,omitempty"`
	// ModelSHA256, in hexadecimal, is what the model must have; of a reference, what it meant then, as ModelJob is.
	ModelSHA256 string `json:"model_sha256,omitempty"`
	ModelJob    string `json:"model_job,omitempty"`

	// Evaluation judges the scores of test records: those that Input.Split holds out, all of Queries or, for kind
	// Predict, all with a label.
	Evaluation *Evaluation `json:"evaluation,omitempty"`

	Output Output          `json:"output"`
	Params json.RawMessage `json:"params,omitempty"` // typed and checked by the kind
	Repro  Repro           `json:"repro"`
	Run    Run             `json:"run"`
}

// OnBadRecord says how many bad records may be skipped over the whole input.
type OnBadRecord struct {
	SkipMax int64 `json:"skip_max"`
}

// Split keeps a share of the records, chosen by identity, out of training.
type Split struct {
	Test float64 `json:"test"` // share held out for evaluation, in [0, 1)
	// Folds is how many parts the records are dealt into, by identity. The job trains once without each of them,
	// to be judged on it, and then on all records; 0 means no folds.
	Folds int `json:"folds,omitempty"`
	// By is ByLabel to spread the records of each class evenly, by rank of their identities among them.
	By string `json:"by,omitempty"`
	// Group is a column: records of one value of it stay together. It is no feature.
	Group Column `json:"group,omitzero"`
	// Out is the fold, counted from 1, that one training of such a job leaves out; 0 means none. No spec has it.
	Out int `json:"-"`
}

// ByLabel is the value of Split.By.
const ByLabel = "label"

// Deals reports whether records are told apart by more than their identity, so that they are counted first.
func (s Split) Deals() bool { return s.By != "" || !s.Group.IsZero() }

// Bounds of Split.Folds.
const (
	MinFolds = 2
	MaxFolds = 100
)

// HoldsOut reports whether records are kept out of training.
func (s Split) HoldsOut() bool { return s.Test > 0 || s.Out > 0 }

// Output says where the model goes; empty means models/<job id>/ in the cluster's store.
type Output struct {
	URI string `json:"uri,omitempty"`
}

// Repro holds what else names the result.
type Repro struct {
	Seed uint64 `json:"seed"` // at most 2^53-1, so that every JSON reader keeps it whole
}

// Run holds what may change the time a job takes, never its result.
type Run struct {
	MaxStateBytes ByteSize `json:"max_state_bytes"`
	// Priority puts jobs of a larger number first; those of the same share the slots evenly.
	Priority int `json:"priority,omitempty"`
	// MaxWorkers is how many workers may be at work on the job at a time; 0 means no limit.
	MaxWorkers int `json:"max_workers,omitempty"`
	// Audit is the share of the nodes that is made a second time on another worker before the job ends; nil means
	// DefaultAudit. Unless it is 0, so are every step and the plan, and a node of each phase at least.
	Audit *float64 `json:"audit,omitempty"`
	// Proof is what is kept beside the model for those who check the job: ProofDigests, ProofStates or ProofFull; ""
	// means ProofStates.
	Proof string `json:"proof,omitempty"`
	// Needs are ids of jobs that must succeed before this one begins.
	Needs []string `json:"needs,omitempty"`
	// Keep is how long the job, its objects and, unless output.uri names a place, its model are kept when it has
	// ended and nobody names it; 0 means as long as the cluster says.
	Keep Retention `json:"keep,omitempty"`
}

// The values of Run.Proof.
const (
	ProofDigests = "digests" // the digests of all that was made
	ProofStates  = "states"  // also the states between rounds, while they take little
	ProofFull    = "full"    // also all states, and all partials
)

// KeptOfProof is Proof with its default written in.
func (r Run) KeptOfProof() string {
	if r.Proof == "" {
		return ProofStates
	}
	return r.Proof
}

// DefaultAudit is the share of a job's nodes that is made twice where its spec says nothing.
const DefaultAudit = 0.01

// AuditPPM is the share of the nodes to audit, in millionths: no float enters the log. A share above 0 is 1 at least.
func (r Run) AuditPPM() uint32 {
	share := DefaultAudit
	if r.Audit != nil {
		share = *r.Audit
	}
	if share <= 0 {
		return 0
	}
	return max(1, uint32(share*1e6+0.5))
}

// Bounds of a spec's run.
const (
	MaxPriority = 1000 // and -1000
	MaxWorkers  = 100000
	MaxNeeds    = 16
)
