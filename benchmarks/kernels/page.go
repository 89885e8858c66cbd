package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gram-compute/gram/internal/machine"
	"github.com/gram-compute/gram/internal/measure"
)

// page is everything that a run found, as the JSON file holds it.
type page struct {
	Machine   machine.Machine   `json:"machine"`
	Peers     map[string]string `json:"peers"` // versions; none if not installed
	Started   time.Time         `json:"started"`
	Seconds   float64           `json:"seconds"`
	Seed      uint64            `json:"seed"`
	Workloads []record          `json:"workloads"`
	Goals     []goalRecord      `json:"goals"`
}

// record is a workload on a number of threads.
type record struct {
	ID      string        `json:"id"`
	Title   string        `json:"title"`
	Threads int           `json:"threads"`
	Clock   string        `json:"clock"` // that the rates go by
	Point   bool          `json:"point_of_the_plot,omitempty"`
	Entries []entryRecord `json:"contenders"`
}

// entryRecord is what a contender did.
type entryRecord struct {
	Name    string           `json:"name"`
	Unit    unit             `json:"unit"`
	Amount  float64          `json:"amount"` // of work in a run; 1e9 a second is a rate of 1
	Bound   bool             `json:"limit,omitempty"`
	Rate    measure.Spread   `json:"rate"`
	Share   *measure.Spread  `json:"of_limit,omitempty"`  // its rate over that of its limit, by round
	Lead    *measure.Spread  `json:"gram_over,omitempty"` // our best set's rate over its own, by round
	Samples []measure.Sample `json:"samples"`             // a round each
}

// goalRecord is a verdict.
type goalRecord struct {
	ID       string          `json:"id"`
	What     string          `json:"what"`
	Least    float64         `json:"at_least"`
	Stretch  float64         `json:"stretch,omitempty"`
	Measured *measure.Spread `json:"measured,omitempty"`
	Missing  string          `json:"not_measured,omitempty"`
	Met      bool            `json:"met"`
	Limit    string          `json:"limited_by,omitempty"` // why it is not met

	figure
}

// add takes over results and verdicts. why says by goal what limits it.
func (p *page) add(results []result, verdicts []verdict, why map[string]string) {
	for _, r := range results {
		p.Workloads = append(p.Workloads, r.record())
	}
	for _, v := range verdicts {
		g := goalRecord{
			ID: v.id, What: v.what, Least: v.least, Stretch: v.stretch,
			Missing: v.missing, Met: v.met(), figure: v.figure,
		}
		if v.missing == "" {
			g.Measured = &v.measured
		}
		if !g.Met {
			g.Limit = why[v.id]
		}
		p.Goals = append(p.Goals, g)
	}
}

func (r result) record() record {
	rec := record{ID: r.id, Title: r.title, Threads: r.threads, Clock: "cpu", Point: r.point}
	if r.threads > 1 {
		rec.Clock = "wall"
	}
	ours, have := r.ours()
	for _, e := range r.entries {
		er := entryRecord{
			Name: e.name, Unit: r.unitOf(e), Amount: r.amountOf(e), Bound: e.bound,
			Rate: measure.SpreadOf(r.rates(e)), Samples: e.samples,
		}
		if l, ok := r.limitOf(e); ok && !e.bound {
			share := measure.SpreadOf(r.ratios(e, l))
			er.Share = &share
		}
		if have && !e.bound && set(e.name) == "" {
			lead := measure.SpreadOf(r.ratios(ours, e))
			er.Lead = &lead
		}
		rec.Entries = append(rec.Entries, er)
	}
	return rec
}

// ours is the fastest contender of ours, by the median.
func (r result) ours() (entry, bool) {
	var best entry
	for _, e := range r.entries {
		if set(e.name) != "" && (best.name == "" || r.amountPerTime(e) > r.amountPerTime(best)) {
			best = e
		}
	}
	return best, best.name != ""
}

// write makes kernels.json, kernels.md and kernels.svg in folder.
func (p *page) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	file := func(name string, content []byte) error {
		return os.WriteFile(filepath.Join(folder, name), content, 0o644)
	}
	return errors.Join(
		file("kernels.json", append(text, '\n')),
		file("kernels.md", p.markdown()),
		file("kernels.svg", p.plot()),
	)
}
