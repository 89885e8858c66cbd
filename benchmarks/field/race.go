package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gram-compute/gram/benchmarks/peers"
)

// record is what the tools did with a job.
type record struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Files   string  `json:"files"`
	Bytes   int64   `json:"bytes"`
	Quality string  `json:"quality"`
	Tools   []entry `json:"tools"`

	higher bool
}

// entry is what one tool did.
type entry struct {
	Tool    string   `json:"tool"`
	Lines   int      `json:"lines"`
	Missing string   `json:"missing,omitempty"` // why it did not run
	Samples []sample `json:"samples"`
}

// run lets every tool do every job once a round, in an order that moves on by one each round: first in the setting that
// is timed, then in every setting, to count the models. A run that ended early goes on with what has not been run.
func (f *field) run(ctx context.Context, p *page) error {
	asked := slices.DeleteFunc(jobs(), func(j job) bool { return f.only != nil && !f.only.MatchString(j.id) })
	var before []record
	before, p.Jobs = p.Jobs, nil
	for _, j := range asked {
		r, err := f.record(j)
		if err != nil {
			return err
		}
		r.keep(before)
		p.Jobs = append(p.Jobs, r)
	}
	begun := time.Now()
	for t := range f.turns(asked) {
		r := &p.Jobs[t.job]
		e := &r.Tools[(t.first+t.round)%len(r.Tools)]
		if f.page || e.Missing != "" || e.has(t) || f.tool != nil && !f.tool.MatchString(e.Tool) {
			continue
		}
		if f.limit > 0 && time.Since(begun) > f.limit {
			return fmt.Errorf("%v have passed; -resume goes on", f.limit)
		}
		done, err := f.once(ctx, asked[t.job], e.Tool, t.setting)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", r.ID, e.Tool, err)
		}
		e.Samples = append(e.Samples, done)
		fmt.Fprintf(os.Stderr, "%d %s %-7s %d threads %d files  %-21s %7.2f s %6.0f MB  %.8s %s %s\n", t.round+1,
			t.Size, r.ID, t.Threads, t.Parts, e.Tool, done.Seconds, float64(done.Peak)/1e6, done.Model, done.Quality,
			done.Failed)
		if err := p.save(f.state()); err != nil {
			return err
		}
	}
	return nil
}

// turn is one tool's in a round; first is its place in the order of the first round.
type turn struct {
	setting
	round, job, first int
}

func (f *field) turns(asked []job) iter.Seq[turn] {
	return func(yield func(turn) bool) {
		every := func(round int, s setting) bool {
			for j := range asked {
				for first := range asked[j].tools {
					if !yield(turn{s, round, j, first}) {
						return false
					}
				}
			}
			return true
		}
		for round := range f.rounds {
			if !every(round, timed(f.size)) {
				return
			}
		}
		if f.timed {
			return
		}
		for round := range f.runs {
			for _, s := range settings(f.counted) {
				if !every(round, s) {
					return
				}
			}
		}
	}
}

// has reports whether a turn has been taken: a tool has one sample a round in each setting.
func (e entry) has(t turn) bool {
	n := 0
	for _, s := range e.Samples {
		if s.setting == t.setting {
			n++
		}
	}
	return n > t.round
}

// keep takes over the samples of the same job.
func (r *record) keep(before []record) {
	for _, b := range before {
		for _, e := range b.Tools {
			i := slices.IndexFunc(r.Tools, func(own entry) bool { return b.ID == r.ID && own.Tool == e.Tool })
			if i >= 0 {
				r.Tools[i].Samples = e.Samples
			}
		}
	}
}

func (f *field) record(j job) (record, error) {
	r := record{ID: j.id, Title: j.title, Files: j.files, Quality: j.quality, higher: j.higher}
	files, err := filepath.Glob(filepath.Join(f.files(f.size), j.id, "1", "*"))
	if err != nil {
		return r, err
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return r, err
		}
		r.Bytes += info.Size()
	}
	for _, tool := range j.tools {
		text, err := os.ReadFile(filepath.Join(f.tools, "tools", j.script(tool)))
		if err != nil {
			return r, err
		}
		r.Tools = append(r.Tools, entry{Tool: tool, Lines: lines(string(text)) + 1, Missing: f.missing[tool]})
	}
	return r, nil
}

// lines counts those of a program that are neither blank nor a comment. The command that runs it is one more.
func lines(text string) (n int) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

// asking prints the versions of what is installed, and of Java.
const asking = `
import importlib.metadata, json, re, subprocess
found = {}
for name in ("numpy", "scipy", "pandas", "scikit-learn", "scikit-learn-intelex", "faiss-cpu", "pyspark"):
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
try:
    text = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    found["Java"] = re.search(r'version "([^"]+)"', text).group(1)
except (OSError, AttributeError):
    pass
try:
    import faiss, threadpoolctl, numpy
    found["FAISS instructions"] = faiss.SIMDConfig.get_level_name()
    for pool in threadpoolctl.threadpool_info():
        if pool.get("internal_api") == "openblas":
            found["OpenBLAS " + pool["version"]] = pool["architecture"]
except (ImportError, AttributeError):
    pass
print(json.dumps(found))
`

// versions asks what is installed, and notes what is not.
func (f *field) versions(ctx context.Context) (map[string]string, error) {
	cmd := exec.CommandContext(ctx, f.python, "-c", asking)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), peers.Settings(timed(f.size).Threads, f.flags)...)
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask what is installed: %w", err)
	}
	found := map[string]string{}
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, err
	}
	for tool, needs := range map[string][]string{toolSkl: {"scikit-learn"}, toolSklex: {"scikit-learn-intelex"},
		toolFAISS: {"faiss-cpu"}, toolSpark: {"pyspark", "Java"}} {
		for _, name := range needs {
			if found[name] == "" {
				f.missing[tool] = name + " is not installed"
			}
		}
	}
	return found, nil
}
