package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/benchmarks/pages"
	"github.com/gram-compute/gram/internal/machine"
)

// runOf is a run of the timed setting.
func runOf(seconds float64, model, quality string, peak int64) sample {
	return sample{setting: timed("small"), Seconds: seconds, CPU: 2 * seconds, Peak: peak, Model: model,
		Quality: quality}
}

// Gram takes 1, 2 and 4 s, the other 4, 4 and fails: the ratios are 4 and 2, of the rounds that both did.
func TestRowsByHand(t *testing.T) {
	failed := sample{setting: timed("small"), Failed: "exit status 137: Killed | out of memory"}
	r := record{ID: "svm", Title: "linear SVM", Files: "libsvm", Bytes: 5e6, Quality: "objective", Tools: []entry{
		{Tool: toolGram, Lines: 8, Samples: []sample{runOf(1, "a", "10", 50e6), runOf(2, "a", "10", 60e6),
			runOf(4, "a", "10", 55e6)}},
		{Tool: toolSkl, Lines: 11, Samples: []sample{runOf(4, "b", "10.5", 9e8), runOf(4, "c", "11", 9e8), failed}},
		{Tool: toolSpark, Lines: 17, Missing: "Java is not installed"},
	}}
	p := page{Run: pages.Run{Machine: machine.Machine{CPU: "AMD EPYC"}, Before: "1 1 1", After: "2 1 1",
		Took: time.Minute}, Size: "small", Counted: "small", Runs: 3, Rounds: 3, Jobs: []record{r}}
	rows := p.rows(r)
	gram, other, absent := rows[0], rows[1], rows[2]
	if gram.lead != nil || gram.seconds.Median != 2 || gram.peak != 60e6 || gram.models != 1 || gram.quality() != "10" {
		t.Errorf("Gram: %+v", gram)
	}
	if other.lead == nil || other.lead.Median != 3 || other.models != 2 || other.of != 2 || other.failures != 1 ||
		other.quality() != "10.5 to 11" {
		t.Errorf("the other: %+v, lead %v", other, other.lead)
	}
	if absent.of != 0 || absent.failed != "Java is not installed" {
		t.Errorf("absent: %+v", absent)
	}
	text := string(p.markdown())
	for _, want := range []string{
		"make bench-field BENCH_FIELD_SIZE=small",
		"| Gram | 2.00 | 1.50 - 3.00 |  | 4.00 | 60 | 8 | 10 | **1** of 3 |",
		"| scikit-learn | 4.00 | 4.00 - 4.00 | 3.00x | 8.00 | 900 | 11 | 10.5 to 11 | **2** of 2 |",
		"| Spark MLlib | not run: Java is not installed |",
		`scikit-learn failed in 1 of 3 runs: exit status 137: Killed \| out of memory`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	var b strings.Builder
	p.print(&b)
	for line := range strings.Lines(b.String()) {
		if len(line) > 81 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}

// Of accuracy the highest is the best, of an objective the lowest.
func TestQualityOfSeveralModels(t *testing.T) {
	p := &page{Size: "small", Counted: "small", Runs: 3}
	e := entry{Tool: toolSkl}
	for _, q := range []string{"0.9", "0.95", "0.8"} {
		e.Samples = append(e.Samples, runOf(1, q, q, 1))
	}
	if got := p.row(e, nil, true).quality(); got != "0.95 to 0.8" {
		t.Errorf("accuracy %s", got)
	}
	if got := p.row(e, nil, false).quality(); got != "0.8 to 0.95" {
		t.Errorf("objective %s", got)
	}
}

// A run that ended early goes on with the turns that are missing, in the same order.
func TestRunsGoOn(t *testing.T) {
	f := &field{options: options{size: "small", counted: "small", rounds: 3, runs: 1}}
	asked := jobs()[:1]
	var all, left []turn
	e := entry{Tool: toolGram}
	for at := range f.turns(asked) {
		all = append(all, at)
		if len(all) <= 17 && at.first == 0 { // of the first tool, three rounds and one setting
			e.Samples = append(e.Samples, sample{setting: at.setting})
		}
		if at.first == 0 && !e.has(at) {
			left = append(left, at)
		}
	}
	if len(all) != (3+6)*5 || len(left) != 4 || left[0].setting != (setting{"small", 1, 4}) ||
		left[3].setting != (setting{"small", 2, 7}) { // the timed setting has its runs
		t.Errorf("%d turns, left %v", len(all), left)
	}
	f.size = "large"
	e.Samples = e.Samples[:0]
	for at := range f.turns(asked) {
		if at.first == 0 && !e.has(at) {
			e.Samples = append(e.Samples, sample{setting: at.setting, Model: at.Size})
		}
	}
	if models, of := different(e.Samples, "small", 1); len(e.Samples) != 3+6 || models != 1 || of != 6 {
		t.Errorf("%d runs, %d models of %d", len(e.Samples), models, of)
	}
	e.Samples = e.Samples[:4]
	p := &page{Size: "small", Versions: map[string]string{"numpy": "1"}}
	p.Jobs = []record{{ID: "kmeans", Tools: []entry{e}}}
	p.Machine.Commit = "abc"
	file := filepath.Join(t.TempDir(), "run.json")
	if err := p.save(file); err != nil {
		t.Fatal(err)
	}
	next := &page{Size: "small", Versions: map[string]string{"numpy": "1"}}
	next.Machine.Commit = "abc"
	if err := next.restore(file); err != nil || len(next.Jobs[0].Tools[0].Samples) != 4 {
		t.Errorf("%+v, %v", next.Jobs, err)
	}
	other := record{ID: "kmeans", Tools: []entry{{Tool: toolSkl}, {Tool: toolGram}}}
	other.keep(next.Jobs)
	if len(other.Tools[0].Samples) != 0 || len(other.Tools[1].Samples) != 4 {
		t.Errorf("kept %+v", other.Tools)
	}
	next.Machine.Commit = "abd"
	if err := next.restore(file); err == nil {
		t.Error("a run of another commit goes on")
	}
}
