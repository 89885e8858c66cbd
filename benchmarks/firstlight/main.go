// Command firstlight measures the road of a job from end to end and its parts, thinly:
// the demonstration, a training through a cluster, and a few benchmarks of `go test -bench`.
//
// Run it from the root of the repository, by `make bench-first-light`.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gram-compute/gram/internal/machine"
)

func main() {
	binary := flag.String("gram", filepath.Join("bin", "gram"), "the gram `binary`")
	data := flag.String("data", filepath.Join("testdata", "wordnet30-glosses.tsv.gz"), "gzipped TSV `file` of glosses")
	out := flag.String("out", filepath.Join("benchmarks", "results"),
		"`folder` for the results, in which the machine has its own")
	trials := flag.Int("trials", 3, "how often to measure each thing; the page has the medians")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *binary, *data, *out, max(1, *trials)); err != nil {
		fmt.Fprintln(os.Stderr, "bench-first-light:", err)
		os.Exit(1)
	}
}

// run measures one thing after the other and writes the page.
func run(ctx context.Context, binary, data, out string, trials int) error {
	m := machine.Describe()
	p := page{machine: m, started: time.Now().UTC()}
	rows, err := trainings(ctx, binary, data, trials)
	if err != nil {
		return err
	}
	p.add(rows...)
	row, err := demonstration(ctx)
	if err != nil {
		return err
	}
	p.add(row)
	for _, b := range parts {
		rows, err := b.run(ctx, trials)
		if err != nil {
			return err
		}
		p.add(rows...)
	}
	folder := filepath.Join(out, m.Slug())
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "first-light.md"), p.markdown(), 0o644)
}

// demonstration times `make demo` once: it kills processes on purpose and takes its time.
func demonstration(ctx context.Context) (row, error) {
	cmd := exec.CommandContext(ctx, "make", "--no-print-directory", "demo")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return row{}, fmt.Errorf("make demo: %w\n%s", err, said.Bytes())
	}
	return row{what: "`make demo`, build included", unit: "s", values: []float64{time.Since(start).Seconds()}}, nil
}
