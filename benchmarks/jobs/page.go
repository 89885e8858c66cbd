package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
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

// record is a workload.
type record struct {
	ID      string        `json:"id"`
	Title   string        `json:"title"`
	Threads int           `json:"threads"`
	Clock   string        `json:"clock"` // that times go by
	Entries []entryRecord `json:"contenders"`
}

// entryRecord is what a contender did.
type entryRecord struct {
	Name         string           `json:"name"`
	Milliseconds measure.Spread   `json:"ms"`
	Lead         *measure.Spread  `json:"gram_over,omitempty"` // its time over Gram's, by round
	Samples      []measure.Sample `json:"samples"`             // a round each
}

// goalRecord is a verdict.
type goalRecord struct {
	ID       string          `json:"id"`
	What     string          `json:"what"`
	Bound    float64         `json:"asked"`
	Measured *measure.Spread `json:"measured,omitempty"`
	Missing  string          `json:"not_measured,omitempty"`
	Met      bool            `json:"met"`
	Limit    string          `json:"limited_by,omitempty"` // why it is not met

	goal goal
}

// add takes over results and judges them. why says by goal what limits it.
func (p *page) add(results []result, only *regexp.Regexp, why map[string]string) {
	for _, r := range results {
		p.Workloads = append(p.Workloads, r.record())
	}
	for _, g := range goals() {
		if only != nil && !only.MatchString(g.workload) {
			continue
		}
		v := g.judge(results)
		rec := goalRecord{ID: g.id, What: g.what, Bound: g.bound, Missing: v.missing, Met: v.met(), goal: g}
		if v.missing == "" {
			rec.Measured = &v.measured
		}
		if !rec.Met {
			rec.Limit = why[g.id]
		}
		p.Goals = append(p.Goals, rec)
	}
}

func (r result) record() record {
	rec := record{ID: r.id, Title: r.title, Threads: r.threads, Clock: "cpu"}
	if r.threads > 1 {
		rec.Clock = "wall"
	}
	for _, e := range r.entries {
		er := entryRecord{Name: e.name, Milliseconds: measure.SpreadOf(milliseconds(r.seconds(e))), Samples: e.samples}
		if e.name != ours {
			lead := measure.SpreadOf(r.ratios(e))
			er.Lead = &lead
		}
		rec.Entries = append(rec.Entries, er)
	}
	return rec
}

// write makes jobs.json and jobs.md in folder.
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
	return errors.Join(file("jobs.json", append(text, '\n')), file("jobs.md", p.markdown()))
}
