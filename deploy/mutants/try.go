package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// swaps are what a change makes of an operator.
var swaps = map[string]map[string]string{
	"ARITHMETIC_BASE":       {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"},
	"CONDITIONALS_BOUNDARY": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
	"CONDITIONALS_NEGATION": {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"},
	"INCREMENT_DECREMENT":   {"++": "--", "--": "++"},
	"INVERT_NEGATIVES":      {"-": "+"},
}

// apply returns the file's text with the change made.
func (m mutant) apply(text string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	if m.line < 1 || m.line > len(lines) || m.column < 1 || m.column > len(lines[m.line-1]) {
		return "", fmt.Errorf("%v lies outside of the file", m)
	}
	line, at := lines[m.line-1], m.column-1
	for _, size := range []int{2, 1} {
		if at+size > len(line) {
			continue
		}
		if to, ok := swaps[m.change][line[at:at+size]]; ok {
			lines[m.line-1] = line[:at] + to + line[at+size:]
			return strings.Join(lines, ""), nil
		}
	}
	return "", fmt.Errorf("%v: there is no operator that the change knows", m)
}

// trial tries the mutants of a package.
type trial struct {
	folder   string
	schema   *schema
	patience time.Duration // how long the tests of a mutant may take; a mutant that takes longer is killed
}

// begin compiles a package's tests with the mutants, and runs them once with no mutant live: they must pass.
func begin(ctx context.Context, folder, dir string, mutants []mutant) (*trial, error) {
	s, err := build(ctx, folder, dir, mutants)
	if err != nil {
		return nil, err
	}
	t := &trial{folder: folder, schema: s, patience: 10 * time.Minute}
	began := time.Now()
	if dead, err := t.run(ctx, 0); err != nil {
		return nil, err
	} else if dead {
		return nil, fmt.Errorf("the tests of %s fail with no mutant live", folder)
	}
	t.patience = 15*time.Second + 10*time.Since(began)
	return t, nil
}

// killed reports whether the tests of the mutant's package notice it. A mutant that does not compile is not viable.
func (t *trial) killed(ctx context.Context, m mutant) (dead, viable bool, err error) {
	if n, ok := t.schema.number[m]; ok {
		dead, err = t.run(ctx, n)
		return dead, true, err
	}
	return t.compiled(ctx, m)
}

// memory bounds the address space of a mutant's tests, in KiB, for a loop that never ends may fill the machine's.
const memory = 6 << 20

// run runs the package's tests with one mutant live.
func (t *trial) run(ctx context.Context, n int) (dead bool, err error) {
	limit := fmt.Sprintf(`ulimit -v %d && exec "$@"`, memory)
	test := exec.CommandContext(ctx, "sh", "-c", limit, "sh", t.schema.binary,
		"-test.short", "-test.failfast", "-test.timeout", t.patience.String())
	test.Dir, test.Env = t.folder, append(environment(), live+"="+strconv.Itoa(n))
	return failed(test.Run())
}

// environment is the environment of tests. It makes rapid's properties draw the same values in every run, keep no
// failures for the next run, and not shrink them.
func environment() []string {
	return append(os.Environ(), "RAPID_SEED=1", "RAPID_NOFAILFILE=true", "RAPID_SHRINKTIME=1ms")
}

// failed reports whether a command ended with an exit code.
func failed(err error) (bool, error) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return true, nil
	}
	return false, err
}

// compiled tries a mutant that the schema lacks, by a compilation of its own.
func (t *trial) compiled(ctx context.Context, m mutant) (dead, viable bool, err error) {
	dir, err := os.MkdirTemp("", "mutant-*")
	if err != nil {
		return false, false, err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return false, false, err
	}
	test := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-short", "-failfast", "-count=1",
		"-timeout", t.patience.String(), "./"+t.folder)
	var out bytes.Buffer
	test.Env, test.Stdout, test.Stderr = environment(), &out, &out
	dead, err = failed(test.Run())
	return dead, !strings.Contains(out.String(), "[build failed]"), err
}

// overlay writes the changed file and the file that puts it in the place of the true one.
func (m mutant) overlay(dir string) (string, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	changed, err := m.apply(string(text))
	if err != nil {
		return "", err
	}
	absolute, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	with, file := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {absolute: with}})
	if err != nil {
		return "", err
	}
	return file, errors.Join(os.WriteFile(with, []byte(changed), 0o600), os.WriteFile(file, list, 0o600))
}

// score is what came of a package's mutants.
type score struct{ tried, killed, alive, uncovered, unexcused int }

func (s score) share() float64 { return float64(s.killed) / float64(max(1, s.killed+s.alive)) }

func (s score) well() bool { return s.unexcused == 0 && s.share() >= least }

func (s score) String() string {
	return fmt.Sprintf("%7d %7d %7d %9d %11d %6.1f%%", s.tried, s.killed, s.alive, s.uncovered, s.unexcused,
		100*s.share())
}

// draws reports whether draw leaves some of the mutants out.
func (t target) draws(mutants []mutant) bool {
	covered := 0
	for _, m := range mutants {
		if m.covered {
			covered++
		}
	}
	return t.most > 0 && covered > t.most
}

// draw returns the mutants to try: the covered ones, or a share of them, and all others. Go's coverage does not see the
// conditions of a case, nor constants, so only a trial shows whether a test covers those.
func (t target) draw(seed uint64, mutants []mutant) []mutant {
	var covered, others []mutant
	for _, m := range mutants {
		if m.covered {
			covered = append(covered, m)
		} else {
			others = append(others, m)
		}
	}
	if t.draws(mutants) {
		rng := rand.New(rand.NewPCG(seed, 0x6d))
		rng.Shuffle(len(covered), func(i, j int) { covered[i], covered[j] = covered[j], covered[i] })
		covered = covered[:t.most]
	}
	return append(covered, others...)
}

// try tries the mutants drawn from a target, and prints those that are neither killed nor excused.
func (t target) try(ctx context.Context, s settings, mutants []mutant, excuses *excuses) (total score, err error) {
	drawn := t.draw(s.seed, mutants)
	if len(drawn) == 0 {
		return score{}, fmt.Errorf("no mutants in %s", t.folder)
	}
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return score{}, err
	}
	defer os.RemoveAll(dir)
	trial, err := begin(ctx, t.folder, dir, drawn)
	if err != nil {
		return score{}, err
	}
	var mu sync.Mutex
	var failures []error
	var working sync.WaitGroup
	queue := make(chan mutant)
	for range s.workers {
		working.Go(func() {
			for m := range queue {
				dead, viable, err := trial.killed(ctx, m)
				mu.Lock()
				failures = append(failures, err)
				if err == nil && viable {
					total.count(m, dead, excuses)
				}
				mu.Unlock()
			}
		})
	}
	for _, m := range drawn {
		if ctx.Err() != nil {
			break
		}
		queue <- m
	}
	close(queue)
	working.Wait()
	return total, errors.Join(append(failures, ctx.Err())...)
}

// count adds a tried mutant. One that a test noticed is covered, whatever the coverage says.
func (s *score) count(m mutant, dead bool, excuses *excuses) {
	excused := excuses.take(m)
	word := "alive:"
	switch {
	case dead:
		s.killed++
	case m.covered:
		s.alive++
	default:
		s.uncovered++
		word = "uncovered:"
	}
	s.tried++
	if !dead && !excused {
		s.unexcused++
		fmt.Println(word, m)
	}
}
