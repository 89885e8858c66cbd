// Command mutants changes the code in small ways, one at a time, and reports which changes no test of the changed
// package notices. `make mutants` runs it.
//
//	go run ./deploy/mutants                     # all packages of the table
//	go run ./deploy/mutants -only gate -seed 3  # one package, another share of its mutants
//	go run ./deploy/mutants -only coordinator/state -files 'audit*.go'
//
// Gremlins (github.com/go-gremlins/gremlins) finds the mutants, and whether a test covers them. Of a package with too
// many covered ones, this command draws a share by a seed. It puts all mutants into one binary of the package's tests,
// and runs the binary once for each. A mutant that stays alive, or that no test covers, must be killed by a new test or
// excused in excused.tsv. The exit code is 0 when nothing is left unexcused and every package kills at least 92 % of
// its covered mutants.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// least is the share of covered mutants that a package's own tests must kill.
const least = 0.92

// target is a package whose mutants are tried.
type target struct {
	folder string
	files  string // pattern of the file names that count; "" means all
	most   int    // mutants tried, drawn by the seed; 0 means all
}

var targets = []target{
	{folder: "coordinator/state"},
	{folder: "coordinator/schedule", most: 400},
	{folder: "coordinator/gate"},
	{folder: "protocol"},
	{folder: "dataset", most: 400},
	{folder: "dataset/text"},
	{folder: "dataset/mail"},
	{
		folder: "kernelops",
		files:  "filter.go nearest*.go search.go choose.go *bound*.go",
	},
}

type settings struct {
	gremlins, only, files string
	seed                  uint64
	workers               int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var s settings
	flag.StringVar(&s.gremlins, "gremlins", filepath.Join("bin", "gremlins"), "the gremlins `binary`")
	flag.StringVar(&s.only, "only", "", "packages whose folder contains this `text`")
	flag.StringVar(&s.files, "files", "", "try all mutants, but only of files whose names match this `pattern`")
	flag.Uint64Var(&s.seed, "seed", 1, "of the share that is drawn where there are too many")
	flag.IntVar(&s.workers, "workers", runtime.NumCPU(), "mutants tried at a time")
	flag.Parse()
	well, err := run(ctx, s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if !well {
		os.Exit(1)
	}
}

// run tries the mutants of every target and reports whether all is well.
func run(ctx context.Context, s settings) (bool, error) {
	excuses, err := readExcuses(filepath.Join("deploy", "mutants", "excused.tsv"))
	if err != nil {
		return false, err
	}
	well := true
	var table []string
	whole := make(map[string]bool) // the folders all of whose mutants were tried
	for _, t := range targets {
		if !strings.Contains(t.folder, s.only) {
			continue
		}
		if s.files != "" {
			t.files, t.most = s.files, 0
		}
		mutants, err := list(ctx, s.gremlins, t)
		if err != nil {
			return false, err
		}
		if s.files != "" && len(mutants) == 0 {
			continue // the files are those of another package
		}
		score, err := t.try(ctx, s, mutants, excuses)
		if err != nil {
			return false, err
		}
		well = well && score.well()
		whole[t.folder] = s.files == "" && !t.draws(mutants)
		table = append(table, fmt.Sprintf("%-22s %v", t.folder, score))
	}
	if len(table) == 0 {
		return false, fmt.Errorf("no mutants in packages that contain %q and files that match %q", s.only, s.files)
	}
	for _, stale := range excuses.unused(whole) {
		fmt.Println("no mutant matches this excuse any more:", stale)
		well = false
	}
	fmt.Printf("\n%-22s %7s %7s %7s %9s %11s %7s\n%s\n",
		"PACKAGE", "TRIED", "KILLED", "ALIVE", "UNCOVERED", "UNEXCUSED", "SHARE", strings.Join(table, "\n"))
	return well, nil
}
