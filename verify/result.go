package verify

import (
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// Verdict is what comes of a check.
type Verdict string

// Verdicts.
const (
	Verified    Verdict = "verified"
	DigestsOnly Verdict = "digests only" // they match, and nothing was repeated
	False       Verdict = "false"
	Incomplete  Verdict = "incomplete" // something is missing, and nothing that was checked is false
)

// Result is what was checked, and what follows.
type Result struct {
	Job     string       `json:"job"`
	Kind    string       `json:"kind"`
	Verdict Verdict      `json:"verdict"`
	Model   proof.Digest `json:"model_sha256,omitzero"`
	Root    proof.Digest `json:"root,omitzero"`
	Kept    string       `json:"kept"` // of spec.run.proof
	Kernels string       `json:"kernel_set"`
	// Draw is the number that chose leaves and rounds; empty where all were repeated.
	Draw string `json:"draw,omitempty"`
	// Named is whether a person named Draw.
	Named bool `json:"draw_named,omitempty"`

	Files  Count `json:"files"` // compared with their digests
	Rounds Count `json:"rounds"`
	Leaves Count `json:"leaves"`
	Merges Count `json:"merges"`
	Steps  Count `json:"steps"`
	// Emitted are files beside the model that repeated leaves and steps made again.
	Emitted int64 `json:"emitted_repeated"`

	Drawn    int64 `json:"leaves_drawn"`    // and repeated
	DrawnOf  int64 `json:"leaves_drawn_of"` // of the rounds whose states are known
	Unbacked int64 `json:"leaves_unbacked"` // of the other rounds: compared by digest only
	// MaxFalse: with 99 % confidence, fewer than that of DrawnOf are false; 0: nothing follows. If the draw was named,
	// that holds only if the one who trained did not know it beforehand.
	MaxFalse int64 `json:"max_false_leaves"`

	// False are what does not match, in order: files, then nodes by round, tree and post-order, and the step.
	False   []Finding `json:"false"`
	Missing []Finding `json:"missing"`
	// More are how many findings were left out beyond maxFindings.
	More int `json:"more_findings,omitempty"`
	// Says is the claim, in sentences.
	Says    []string `json:"says"`
	Seconds float64  `json:"seconds"`
}

// FalseKind is what of a job is false.
type FalseKind int

// Kinds of what is false, the worst last.
const (
	FalseFiles   FalseKind = iota // files that are not those that the job left, or contradict each other
	FalseOutputs                  // files that are not what repeating the job gives; no node is false
	FalseNodes                    // leaves, merges or steps
)

// FalseKind returns the worst of what is false. It tells nothing where nothing is.
func (r *Result) FalseKind() (kind FalseKind) {
	for _, f := range r.False {
		switch {
		case f.isNode():
			return FalseNodes
		case f.Of == OfOutput:
			kind = FalseOutputs
		}
	}
	return kind
}

// Count is how many of all were repeated, or compared.
type Count struct {
	Done int64 `json:"done"`
	Of   int64 `json:"of"`
}

// What a finding is of.
const (
	OfFile   = "file"   // it does not have its digest, or cannot be read
	OfRecord = "record" // files that have their digests contradict each other
	OfLeaf   = "leaf"
	OfMerge  = "merge"
	OfStep   = "step"
	OfOutput = "output" // a file is not the one that repeating a leaf or step makes
	OfInput  = "input"
	OfCode   = "code" // this build cannot repeat the job

	OfSignature = "signature" // beside the model
)

// Finding is something that does not match, or is missing.
type Finding struct {
	Of   string `json:"of"`
	File string `json:"file,omitempty"` // beside the model, or the URI of an input
	// Round counts from 1; 0 means that the finding is of no round.
	Round    int64          `json:"round,omitempty"`
	Phase    string         `json:"phase,omitempty"`
	Tree     int            `json:"tree,omitempty"`
	Node     *protocol.Node `json:"node,omitempty"` // of a leaf or merge
	Recorded *proof.Digest  `json:"recorded,omitempty"`
	Repeated *proof.Digest  `json:"repeated,omitempty"`
	Says     string         `json:"says"` // a sentence

	place int // in its round, for the order
}

// isNode reports whether a finding is of a node of the proof, and not of a file.
func (f Finding) isNode() bool { return f.Of == OfLeaf || f.Of == OfMerge || f.Of == OfStep }

// maxFindings bounds each list of findings.
const maxFindings = 100
