package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// patience is how long the tests of a mutant may take; one that takes longer is noticed.
const patience = 2 * time.Minute

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

// killed reports whether the tests of the mutant's package notice it. What does not compile is no mutant.
func (m mutant) killed(ctx context.Context) (dead, viable bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience+30*time.Second)
	defer cancel()
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
		"-timeout", patience.String(), "./"+filepath.Dir(m.file))
	out, err := test.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, true, nil
	case !errors.As(err, &exit):
		return false, false, err
	}
	return true, !strings.Contains(string(out), "[build failed]"), nil
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
	return fmt.Sprintf("%7d %7d %7d %9d %11d %6.1f%%", s.tried, s.killed, s.alive, s.uncovered, s.unexcused, 100*s.share())
}

// draw returns the mutants to try: the covered ones, or a share of them, and all that no test is said to cover. Go's
// coverage knows no condition of a case and no constant, so only a trial tells whether a test sees those.
func (t target) draw(seed uint64, mutants []mutant) []mutant {
	var covered, others []mutant
	for _, m := range mutants {
		if m.covered {
			covered = append(covered, m)
		} else {
			others = append(others, m)
		}
	}
	if t.most > 0 && len(covered) > t.most {
		rng := rand.New(rand.NewPCG(seed, 0x6d))
		rng.Shuffle(len(covered), func(i, j int) { covered[i], covered[j] = covered[j], covered[i] })
		covered = covered[:t.most]
	}
	return append(covered, others...)
}

// try tries the mutants that are drawn of a target, and prints what is left unexcused.
func (t target) try(ctx context.Context, s settings, mutants []mutant, excuses *excuses) (total score, err error) {
	var mu sync.Mutex
	var failures []error
	var working sync.WaitGroup
	queue := make(chan mutant)
	for range s.workers {
		working.Go(func() {
			for m := range queue {
				dead, viable, err := m.killed(ctx)
				mu.Lock()
				failures = append(failures, err)
				if err == nil && viable {
					total.count(m, dead, excuses)
				}
				mu.Unlock()
			}
		})
	}
	for m := range slices.Values(t.draw(s.seed, mutants)) {
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
	excused := !dead && excuses.take(m)
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
