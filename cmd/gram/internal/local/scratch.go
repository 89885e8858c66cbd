package local

import (
	"fmt"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/pflag"
)

// ScratchFlags say where a worker keeps what its memory has no room for.
type ScratchFlags struct{ dir, limit string }

// Add adds the flags.
func (f *ScratchFlags) Add(set *pflag.FlagSet) {
	set.StringVar(&f.dir, "scratch", "", "`directory` on a local disk for what was made of texts and does not fit into "+
		"--memory (default none: texts are read again)")
	set.StringVar(&f.limit, "scratch-limit", "", "`size` that this worker may take of it, such as 4GiB (default 16GiB)")
}

// Set completes a worker's configuration.
func (f *ScratchFlags) Set(cfg *worker.Config) error {
	cfg.Scratch = f.dir
	if f.limit == "" {
		return nil
	}
	size, err := protocol.ParseByteSize(f.limit)
	if err != nil || size <= 0 {
		return &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("--scratch-limit %q is not a size above 0", f.limit),
			Cause: err}
	}
	if f.dir == "" {
		return &exit.Failure{Code: exit.Usage, What: "--scratch-limit needs --scratch, the directory that it bounds"}
	}
	cfg.ScratchLimit = int64(size)
	return nil
}
