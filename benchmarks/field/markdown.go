package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gram-compute/gram/internal/measure"
)

const intro = `Whole jobs, from a command to a model on the disk: start, reading, training, writing. All tools read
the same files. Seconds are on the wall with %d threads and %d files, the median of %d rounds with quartiles. Tools take
turns in each round, and *Gram is* is the median of the ratios of the rounds. Memory is the sum of the peaks of all
processes. Quality is judged by one program for all, over every run: from best to worst where models differ.

Models are counted over 1 and 2 threads, the same records in 1, 4 and 7 files, and %d runs of each, of the %s
jobs.%s %s.

`

// markdown is the page as people read it.
func (p *page) markdown() []byte {
	var b bytes.Buffer
	command := "make bench-field"
	if p.Size != "large" {
		command += " BENCH_FIELD_SIZE=" + p.Size
	}
	b.WriteString(p.Head("The field, side by side,", command, "the-field"))
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p.Versions)) {
		all = append(all, name+" "+p.Versions[name])
	}
	fmt.Fprintf(&b, "| tools | %s |\n\n", strings.Join(all, ", "))
	fmt.Fprintf(&b, intro, timed(p.Size).Threads, timed(p.Size).Parts, p.Rounds, p.Runs, p.Counted, p.endedEarly(),
		p.disturbance())
	for _, r := range p.Jobs {
		p.job(&b, r)
	}
	b.WriteString(settled)
	fmt.Fprintf(&b, "\n## Every setting\n\nMedian seconds on the wall, of the %s jobs.\n\n", p.Counted)
	for _, r := range p.Jobs {
		r.markdownSettings(&b, p.Counted)
	}
	return b.Bytes()
}

// endedEarly says so where fewer runs were counted than asked for, "" where none is missing.
func (p *page) endedEarly() string {
	asked := len(settings(p.Counted)) * p.Runs
	least, most := asked, 0
	for _, r := range p.Jobs {
		for _, w := range p.rows(r) {
			if w.of > 0 {
				least, most = min(least, w.of), max(most, w.of)
			}
		}
	}
	if least == asked {
		return ""
	}
	return fmt.Sprintf(" The count was ended early: %d to %d runs of the %d.", least, most, asked)
}

func (p *page) job(b *bytes.Buffer, r record) {
	fmt.Fprintf(b, "## %s\n\n%s, %.1f MB.\n\n", strings.ToUpper(r.Title[:1])+r.Title[1:], r.Files, float64(r.Bytes)/1e6)
	fmt.Fprintf(b, "| tool | s | quartiles | Gram is | CPU s | MB | lines | %s | different models |\n", r.Quality)
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, w := range p.rows(r) {
		if w.seconds.Median == 0 {
			fmt.Fprintf(b, "| %s | not run: %s | | | | | %d | | |\n", w.tool, cell(w.failed), w.lines)
			continue
		}
		lead := ""
		if w.lead != nil {
			lead = fmt.Sprintf("%.2fx", w.lead.Median)
		}
		fmt.Fprintf(b, "| %s | %s | %s - %s | %s | %s | %.0f | %d | %s | **%d** of %d |\n", w.tool,
			measure.Digits(w.seconds.Median), measure.Digits(w.seconds.Low), measure.Digits(w.seconds.High), lead,
			measure.Digits(w.cpu.Median), float64(w.peak)/1e6, w.lines, w.quality(), w.models, w.of)
	}
	b.WriteString("\n")
	for _, w := range p.rows(r) {
		if w.failures > 0 {
			fmt.Fprintf(b, "%s failed in %d of %d runs: %s\n\n", w.tool, w.failures, w.runs, cell(w.failed))
		}
	}
}

// disturbance says how much of the machine others had while times were taken.
func (p *page) disturbance() string {
	var shares []float64
	for _, r := range p.Jobs {
		for _, e := range r.Tools {
			for _, s := range e.at(timed(p.Size)) {
				if s.Failed == "" && s.Others >= 0 {
					shares = append(shares, 100*s.Others)
				}
			}
		}
	}
	if len(shares) == 0 {
		return "How busy the machine was otherwise is not known"
	}
	return fmt.Sprintf("While times were taken, others had %.1f %% of the processors in the median run and %.1f %% "+
		"at most", measure.SpreadOf(shares).Median, slices.Max(shares))
}

// cell is what a tool said, so that it breaks no table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "\r", " ", "<", "&lt;").Replace(text)
}

func (r record) markdownSettings(b *bytes.Buffer, size string) {
	fmt.Fprintf(b, "| %s |", r.ID)
	for _, s := range settings(size) {
		fmt.Fprintf(b, " %d x %d files |", s.Threads, s.Parts)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(settings(size))) + "\n")
	for _, e := range r.Tools {
		fmt.Fprintf(b, "| %s |", e.Tool)
		for _, at := range settings(size) {
			var seconds []float64
			for _, s := range e.Samples {
				if s.setting == at && s.Failed == "" {
					seconds = append(seconds, s.Seconds)
				}
			}
			if len(seconds) == 0 {
				b.WriteString(" - |")
				continue
			}
			fmt.Fprintf(b, " %s |", measure.Digits(measure.SpreadOf(seconds).Median))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// settled says what was set for whom; a reader who doubts a figure begins here.
const settled = `## What was set, and what was not

The programs are [benchmarks/field/tools](../../field/tools), one for each tool and job, as short as the tool's
documentation makes them. Lines are theirs, without blank ones and comments, and one for the command.

* **All**: the same data, seed 7, one process tree, nothing cached between runs but the operating system's files. With
  one thread a tool is bound to one processor, all of its threads.
* **OpenBLAS**, of NumPy, SciPy and FAISS: told its widest kernels where it does not know the CPU (OPENBLAS_CORETYPE).
* **scikit-learn**: files are read by pandas with float32, the fastest way that its users have. k-means has one start
  (n_init=1), and tol=0 so that it does all rounds. The rest is at its defaults; LinearSVC is LIBLINEAR, which has one
  thread, and stops at its default tolerance or 1,000 iterations.
* **scikit-learn-intelex**: the same program, unchanged, by python -m sklearnex. It has nothing for the two jobs that it
  is absent from.
* **FAISS**: k-means is given all points; by default it takes a sample of 256 for each center, which is less work. Where
  it is absent, it has no such algorithm.
* **Spark MLlib**: local[threads], a heap of 4 GB, no web page, inputs of iterative algorithms cached, first centers at
  random (its default of k-means|| costs more). LinearSVC has the same objective (regParam = 1/n, no standardization);
  its 100 iterations and tolerance are the defaults. It has no exact nearest neighbors. Words are split as scikit-learn
  splits them. Its start of some seconds is part of the job, as it is for a user; larger jobs hide it better.
* **Gram**: gram run, all at defaults but for what the specs say. Its words are its own default, which keeps those of one
  letter. Its model comes with a report, provenance and a proof, whose time is counted.
* **k-means**: the csv has a column of ids, by which Gram draws the first centers. Without one it would draw by file and
  offset, and the number of its models would be up to that of the ways to cut the files.
* **Different models**: the bytes of the parameters (centers, log probabilities by sorted word, weights; of neighbors the
  row numbers). Files that name times or places are not compared. Two models that differ may be as good: see the quality.
  Spark keeps the counts of naive Bayes as running means, whose last bits depend on how its rows are cut and on
  which part comes first.
  That a tool makes one model of k-NN or of counts is no merit: whole numbers do not depend on their order.
* **Not here**: PCA, logistic regression with a bias, trees, and everything else that Gram does not do or does by another
  definition.
`
