package verify

import (
	"context"
	"errors"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
)

// DefaultSample is how many leaves are repeated: if none of them is false, less than 1 % of all are, with a confidence
// of 99 %.
const DefaultSample = 459

// Config says what is checked, and how.
type Config struct {
	// Read reads a file beside the model by its name; one that is not there is an objstore.ErrNotFound.
	Read func(ctx context.Context, name string) ([]byte, error)
	// OpenInput opens the store of a data set, to read.
	OpenInput func(ctx context.Context, uri string) (objstore.Store, error)
	Kind      func(name string) (jobs.Kind, error)
	Ops       *kernelops.Set

	Sample int    // leaves to repeat
	Rounds int    // rounds to repeat as a whole
	All    bool   // repeat everything
	Draw   uint64 // decides which leaves and rounds
	Slots  int    // leaves at a time
	// Progress is told what is at work, and how far that is. It may be nil.
	Progress func(step string, done, total int)
}

// Verdict is what a check comes to.
type Verdict string

// The verdicts.
const (
	Verified   Verdict = "verified"
	False      Verdict = "false"
	Incomplete Verdict = "incomplete" // something is missing, and nothing was found to be false
)

// Count is how many of some things were repeated.
type Count struct {
	Repeated int `json:"repeated"`
	Of       int `json:"of"`
}

// Result is what was checked, and what came of it.
type Result struct {
	SchemaVersion int        `json:"schema_version"`
	Job           string     `json:"job"`
	Kind          string     `json:"kind"`
	Root          string     `json:"root"`
	Kept          string     `json:"kept"`
	Kernels       string     `json:"kernel_set"`
	Verdict       Verdict    `json:"verdict"`
	False         *Falsehood `json:"false,omitempty"` // the first
	Missing       []string   `json:"missing,omitempty"`
	Draw          uint64     `json:"draw,string"`
	Files         int        `json:"files"` // whose digests were compared
	Leaves        Count      `json:"leaves"`
	Drawn         Count      `json:"drawn"` // leaves for the sample, of those of rounds that can be repeated
	Merges        Count      `json:"merges"`
	Steps         Count      `json:"steps"`
	Claim         string     `json:"claim"`
}

// Run checks a job. Its error is what kept it from checking; what it finds is in the result.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	cfg.Slots = max(1, cfg.Slots)
	if cfg.Progress == nil {
		cfg.Progress = func(string, int, int) {}
	}
	v := &verifier{Config: cfg, result: Result{SchemaVersion: 1, Draw: cfg.Draw, Kernels: cfg.Ops.Name}}
	err := v.run(ctx)
	var found *Falsehood
	if errors.As(err, &found) {
		v.result.False, err = found, nil
	}
	if errors.Is(err, errMissing) {
		err = nil
	}
	v.result.conclude()
	return &v.result, err
}

// verifier is a check at work.
type verifier struct {
	Config
	job       *job
	available []bool // rounds whose state is kept
	result    Result
}

func (v *verifier) run(ctx context.Context) error {
	if err := v.open(ctx); err != nil {
		return err
	}
	if err := v.compareFiles(ctx); err != nil {
		return err
	}
	if err := v.openInputs(ctx); err != nil {
		return err
	}
	return v.repeat(ctx)
}

// repeat computes parts of the job again.
func (v *verifier) repeat(ctx context.Context) error {
	whole := v.drawRounds()
	if err := v.repeatRounds(ctx, whole); err != nil {
		return err
	}
	if err := v.repeatLeaves(ctx, whole); err != nil {
		return err
	}
	return v.repeatKept(ctx, whole)
}
