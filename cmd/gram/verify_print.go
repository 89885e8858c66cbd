package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/cmd/gram/internal/files"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/report"
	"github.com/gram-compute/gram/verify"
)

// verifying returns what shows how far a verification is.
func (a *app) verifying() (progress func(step string, done, total int), clear func()) {
	printer, since := a.printer(true), a.now()
	var mu sync.Mutex
	return func(step string, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if printer.Terminal {
			step = fmt.Sprintf("%s %d of %d", step, done, total)
		}
		printer.Update(terminal.Progress{Name: "verify", State: "comparing", Step: step, Since: since})
	}, printer.Clear
}

// verificationLines tell what was checked, a name and a text each.
func verificationLines(r *verify.Result, signatures []attestation.Finding) [][2]string {
	lines := [][2]string{{"job", fmt.Sprintf("%s (%s)", r.Job, r.Kind)}}
	if r.Root != "" {
		lines = append(lines, [2]string{"root", r.Root}, [2]string{"kept", r.Kept})
	}
	lines = append(lines,
		[2]string{"kernels", r.Kernels},
		[2]string{"files", fmt.Sprintf("%d compared by digest", r.Files)},
		[2]string{"leaves", fmt.Sprintf("%d of %d repeated, draw %d", r.Leaves.Repeated, r.Leaves.Of, r.Draw)},
		[2]string{"merges", fmt.Sprintf("%d of %d repeated", r.Merges.Repeated, r.Merges.Of)},
		[2]string{"steps", fmt.Sprintf("%d of %d repeated", r.Steps.Repeated, r.Steps.Of)})
	lines = append(lines, signatureLines(signatures)...)
	for _, m := range r.Missing {
		lines = append(lines, [2]string{"missing", m})
	}
	if r.False != nil {
		lines = append(lines, [2]string{"false", r.False.What}, [2]string{"", r.False.Says})
	}
	return append(lines, [2]string{"verdict", string(r.Verdict)}, [2]string{"", r.Claim})
}

// nameColumns is how wide the names of verificationLines are, with the space behind them.
const nameColumns = 9

func printVerification(w io.Writer, r *verify.Result, signatures []attestation.Finding) {
	for _, line := range verificationLines(r, signatures) {
		text := terminal.Wrap(terminal.Clean(line[1]), terminal.Columns-nameColumns)
		for i, part := range strings.Split(text, "\n") {
			name := line[0]
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(w, "%-*s%s\n", nameColumns, name, strings.TrimSpace(part))
		}
	}
}

// writeVerification writes the page.
func writeVerification(a *app, r *verify.Result, signatures []attestation.Finding, to string) error {
	page, err := report.Sheet("Verification of "+r.Job, r.Claim, verificationLines(r, signatures))
	if err != nil {
		return err
	}
	return files.Write(a.within(to), func(w io.Writer) error {
		_, err := w.Write(page)
		return err
	})
}
