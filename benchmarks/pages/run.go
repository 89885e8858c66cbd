// Package pages begins, heads and publishes the pages that benchmarks write.
package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gram-compute/gram/internal/machine"
)

// Run is one run of a benchmark: the machine, the time, and the machine's load before and after.
type Run struct {
	Machine       machine.Machine
	Started       time.Time
	Took          time.Duration
	Before, After string // see machine.Load
}

// Begin describes the machine and starts the run.
func Begin() Run {
	return Run{Machine: machine.Describe(), Started: time.Now().UTC(), Before: machine.Load()}
}

// End notes how long the run took, and the load after it.
func (r *Run) End() { r.After, r.Took = machine.Load(), time.Since(r.Started) }

// Head is how a page about the run begins: the title, the command that writes the page, the section of
// benchmarks/README.md that explains it, and the table of the machine.
func (r Run) Head(title, command, section string) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"# %s on %s\n\nWritten by `%s`; [how to read it](../../README.md#%s). %s, %s.\n\n| | |\n|---|---|\n",
		title, r.Machine.CPU, command, section, r.Started.Format("2 January 2006"), r.Took.Round(time.Second))
	for _, row := range append(r.Machine.Rows(), [2]string{"load before and after", r.Before + "; " + r.After}) {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], row[1])
	}
	return b.String()
}

// Publish writes a page into the machine's folder below out.
func (r Run) Publish(out, file string, page []byte) error {
	folder := filepath.Join(out, r.Machine.Slug())
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, file), page, 0o644)
}
