package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gram-compute/gram/benchmarks/pages"
	"github.com/gram-compute/gram/internal/measure"
)

// page is everything that a run found, as the JSON file holds it.
type page struct {
	pages.Run
	Size     string            `json:"size"`
	Counted  string            `json:"counted"` // size of the jobs whose models are counted
	Runs     int               `json:"runs"`
	Rounds   int               `json:"rounds"`
	Versions map[string]string `json:"versions"`
	Jobs     []record          `json:"jobs"`
}

// row is what the table says of a tool.
type row struct {
	tool           string
	failed         string          // why there are no figures
	seconds, cpu   measure.Spread  // of the timed setting
	lead           *measure.Spread // its time over Gram's, by round
	peak           int64           // the most of the timed setting
	lines          int
	best, worst    float64 // quality, over all runs of the timed size
	models, of     int
	failures, runs int
}

// rows are those of a job.
func (p *page) rows(r record) (all []row) {
	gram := r.Tools[0].at(timed(p.Size))
	for _, e := range r.Tools {
		all = append(all, p.row(e, gram, r.higher))
	}
	return all
}

// at are the samples of a setting, failed ones too, so that those of a round stand at the same place.
func (e entry) at(of setting) (all []sample) {
	for _, s := range e.Samples {
		if s.setting == of {
			all = append(all, s)
		}
	}
	return all
}

func (p *page) row(e entry, gram []sample, higher bool) row {
	w := row{tool: e.Tool, lines: e.Lines, failed: e.Missing, runs: len(e.Samples)}
	w.models, w.of = different(e.Samples, p.Counted, p.Runs)
	var seconds, cpu, ratios []float64
	for i, s := range e.at(timed(p.Size)) {
		if s.Failed != "" {
			continue
		}
		seconds, cpu = append(seconds, s.Seconds), append(cpu, s.CPU)
		w.peak = max(w.peak, s.Peak)
		if i < len(gram) && gram[i].Failed == "" {
			ratios = append(ratios, s.Seconds/gram[i].Seconds)
		}
	}
	first := true
	for _, s := range e.Samples {
		if s.Failed != "" {
			w.failures++
			w.failed = s.Failed
		}
		if s.Failed != "" || s.Size != p.Size {
			continue
		}
		q, err := strconv.ParseFloat(s.Quality, 64)
		if err != nil {
			q = math.NaN()
		}
		if first {
			w.best, w.worst, first = q, q, false
		}
		low, high := min(w.best, w.worst, q), max(w.best, w.worst, q)
		if w.best, w.worst = low, high; higher {
			w.best, w.worst = high, low
		}
	}
	if len(seconds) > 0 {
		w.seconds, w.cpu = measure.SpreadOf(seconds), measure.SpreadOf(cpu)
	}
	if e.Tool != toolGram && len(ratios) > 0 {
		lead := measure.SpreadOf(ratios)
		w.lead = &lead
	}
	return w
}

// quality shows a figure, and the worst where settings differ.
func (w row) quality() string {
	show := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	if best, worst := show(w.best), show(w.worst); best != worst {
		return best + " to " + worst
	}
	return show(w.best)
}

// publish writes field.md and field.json into the machine's folder; those of small jobs have names of their own.
func (p *page) publish(out string) error {
	name := "field"
	if p.Size != "large" {
		name += "-" + p.Size
	}
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	return errors.Join(p.Publish(out, name+".json", append(text, '\n')), p.Publish(out, name+".md", p.markdown()))
}

// state is where a run is kept until it has ended.
func (f *field) state() string { return filepath.Join(f.files(f.size), "run.json") }

func (p *page) save(file string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// restore takes over what another run of the same commit and tools found.
func (p *page) restore(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var last page
	if err := json.Unmarshal(text, &last); err != nil {
		return err
	}
	if last.Machine.Commit != p.Machine.Commit || !maps.Equal(last.Versions, p.Versions) || last.Size != p.Size ||
		last.Counted != p.Counted {
		return errors.New("the last run was of another commit, of other tools or of another size")
	}
	p.Run, p.Jobs = last.Run, last.Jobs
	return nil
}

// print tells what came out, in lines of at most 80 columns.
func (p *page) print(out io.Writer) {
	for _, r := range p.Jobs {
		fmt.Fprintf(out, "%s\n", r.Title)
		for _, w := range p.rows(r) {
			if w.seconds.Median == 0 {
				fmt.Fprintf(out, "  %-21s not run: %.50s\n", w.tool, w.failed)
				continue
			}
			lead := ""
			if w.lead != nil {
				lead = fmt.Sprintf("%.2fx", w.lead.Median)
			}
			fmt.Fprintf(out, "  %-21s %7s s %7s %6.0f MB %3d lines %2d models of %d\n", w.tool,
				measure.Digits(w.seconds.Median), lead, float64(w.peak)/1e6, w.lines, w.models, w.of)
		}
	}
}
