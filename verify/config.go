package verify

import (
	"context"
	"fmt"
	"runtime"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
)

// DefaultSample is how many leaves are drawn: with 99 % confidence fewer than 1 % are false, because 0.99^459 < 0.01.
const DefaultSample = 459

// Config says which job is checked, how thoroughly, and with what.
type Config struct {
	// Store holds the job's outputs, below Prefix: "", or ending in "/".
	Store  objstore.Store
	Prefix string
	// Asked is what is known of the job from elsewhere than its folder, which may be another job's.
	Asked Asked
	// OpenInput opens the store at a URI, to read the input or the model that the job begins from.
	OpenInput func(ctx context.Context, uri string) (objstore.Store, error)
	// Kind returns a kind of jobs by its name.
	Kind func(name string) (jobs.Kind, error)
	Ops  *kernelops.Set
	// Sample is how many leaves are drawn, of all rounds whose states are known.
	Sample int
	// All repeats every leaf, merge and step from the first round on.
	All bool
	// Rounds is how many rounds are drawn and repeated whole. Below 0 it is 1, or 0 where the partials are kept.
	Rounds int
	// Draw chooses the leaves and rounds. It must not be known to the one that ran the job.
	Draw uint64
	// Named is whether a person named Draw: the claim then depends on who knew the number before.
	Named bool
	// Parallel is how many leaves are repeated at a time; 0 is one for each CPU.
	Parallel int
	// Progress hears how far a stage is; calls follow each other. It may be nil.
	Progress func(Progress)
}

// Asked is a job as its cluster, or the store of one, knows it. The zero Asked knows nothing.
type Asked struct {
	Job   string
	Files []AskedFile
}

// Add adds a file of the job, by its SHA-256 in hexadecimal.
func (a *Asked) Add(name, digest string) error {
	f := AskedFile{Name: name}
	if err := f.SHA256.UnmarshalText([]byte(digest)); err != nil {
		return fmt.Errorf("the digest of %s: %w", name, err)
	}
	a.Files = append(a.Files, f)
	return nil
}

// AskedFile is a file that the job left.
type AskedFile struct {
	Name   string
	SHA256 proof.Digest
}

// Progress is how far a stage is.
type Progress struct {
	Stage       string // "records", "digests", "input", or "round 3 lloyd"
	Done, Total int64
	Unit        string // of both: "files", "objects", "nodes"
}

func (c *Config) parallel() int {
	if c.Parallel > 0 {
		return c.Parallel
	}
	return runtime.GOMAXPROCS(0)
}
