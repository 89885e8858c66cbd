package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/bench"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/internal/measure"
)

// measured is a measurement by hand: a limit, a kernel and a job.
func measured(reads, products, seconds float64) bench.Result {
	around := func(x float64) measure.Spread { return measure.Spread{Low: 0.9 * x, Median: x, High: 1.1 * x} }
	all, share := around(1.5*products), 0.853
	return bench.Result{SchemaVersion: show.SchemaVersion, Edition: bench.Edition, Version: "v0.1.0",
		Kernels: "avx512", Machine: bench.Hardware{CPU: "AMD EPYC", Cores: 2},
		Rows: []bench.Row{{ID: "read", Title: "read memory", Unit: "GB/s", OneCore: around(reads)},
			{ID: "products", Title: "X·Yᵀ, 1024 x 1024, d = 128", Unit: "GFLOP/s", OneCore: around(products),
				AllCores: &all, Share: &share, Of: "peak", Digest: strings.Repeat("0a1b", 16)}},
		Jobs: []bench.Job{{ID: "kmeans", Title: "k-means, csv 50,000 x 16, k = 64", Seconds: around(seconds),
			Digest: strings.Repeat("2c3d", 16)}}}
}

// saved writes a measurement into the client's folder.
func saved(c *session, name string, r bench.Result) string {
	c.t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.app.dir, name), text, 0o600); err != nil {
		c.t.Fatal(err)
	}
	return name
}

func TestBenchCompare(t *testing.T) {
	c := newClient(t)
	slow, fast := measured(20, 100, 3), measured(21, 250, 1)
	fast.Kernels = "avx2"
	slow.Busy.Warnings = []string{"the load was 5.4 before it began, on 2 processors"}
	a, b := saved(c, "a.json", slow), saved(c, "b.json", fast)
	c.want(exit.OK, c.run("bench", "compare", a, b))
	want := `A  AMD EPYC, avx512, gram v0.1.0
B  AMD EPYC, avx2, gram v0.1.0

                                  A     B     UNIT     B IS     RESULTS
read memory                       20.0  21.0  GB/s     1.05x ?  -
X·Yᵀ, 1024 x 1024, d = 128        100   250   GFLOP/s  2.50x    same
k-means, csv 50,000 x 16, k = 64  3.00  1.00  s        3.00x    same

all 2 results are the same, bit for bit
`
	if got := c.stdout.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
	if said := "gram: warning: machine A was busy: the load was 5.4"; !strings.Contains(c.stderr.String(), said) {
		t.Errorf("stderr lacks %q:\n%s", said, c.stderr)
	}
	fast.Jobs[0].Digest = strings.Repeat("2c3e", 16)
	saved(c, "b.json", fast)
	c.stdout.Reset()
	c.want(exit.Damaged, c.run("bench", "compare", a, b))
	if out := c.stdout.String(); !strings.Contains(out, "3.00x    DIFFER") || strings.Contains(out, "bit for bit") {
		t.Errorf("printed\n%s", out)
	}
	if said := "RESULTS DIFFER: 1 of 2 digests"; !strings.Contains(c.stderr.String(), said) {
		t.Errorf("stderr lacks %q:\n%s", said, c.stderr)
	}
	c.stdout.Reset()
	c.want(exit.Damaged, c.run("bench", "compare", a, b, "-o", "json"))
	var v bench.Comparison
	if err := json.Unmarshal(c.stdout.Bytes(), &v); err != nil || v.SameResults || v.SchemaVersion != 1 ||
		!v.Figures[2].Differ || v.Figures[1].Ratio != 2.5 {
		t.Errorf("%s, %v", c.stdout.String(), err)
	}
}

func TestBenchCompareRefusesOtherFiles(t *testing.T) {
	c := newClient(t)
	good, other := measured(1, 1, 1), measured(1, 1, 1)
	other.Edition++
	saved(c, "good.json", good)
	saved(c, "other.json", other)
	c.write("report.json", `{"schema_version":1,"metrics":[]}`)
	c.write("page.html", "<html>")
	for file, want := range map[string]int{"good.json": exit.OK, "absent.json": exit.NotFound, "other.json": exit.Usage,
		"report.json": exit.Usage, "page.html": exit.Usage} {
		c.want(want, c.run("bench", "compare", "good.json", file))
	}
	c.want(exit.Usage, c.run("bench", "compare", "good.json"))
	c.want(exit.Usage, c.run("bench", "here"))
	c.want(exit.Usage, c.run("bench", "--kernels", "mmx"))
}

// The widest figures, of a machine with a long name.
func TestBenchFitsATerminal(t *testing.T) {
	c := newClient(t)
	r := measured(12345, 98765, 12345)
	for i, x := range []float64{12345, 98765} {
		r.Rows[i].OneCore = measure.Spread{Low: x, Median: x, High: x} // rounds that do not differ
	}
	r.Machine.CPU = "Intel(R) Xeon(R) Platinum 8592V Processor With A Name That Goes On And On"
	for i, title := range []string{"multiply-add in registers, avx512", "nearest of 256 centers, 16384 x 32",
		"top-10 of 16384 x 128, 128 queries"} {
		row := r.Rows[1]
		row.ID, row.Title = title, title
		r.Rows = append(r.Rows[:2+i:2+i], row)
	}
	r.Finish(measure.Activity{Others: -1, Steal: -1, Load: -1}, 1)
	if err := printBench(c.app, r); err != nil {
		t.Fatal(err)
	}
	saved(c, "a.json", r)
	c.want(exit.OK, c.run("bench", "compare", "a.json", "a.json"))
	for line := range strings.Lines(c.stdout.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(c.stdout.String(), "85 %") || strings.Contains(c.stderr.String(), "warning") {
		t.Errorf("printed\n%s\nstderr %s", c.stdout.String(), c.stderr)
	}
}

// A recorded measurement is one to compare with: of this edition, with the digests that every sound machine makes.
func TestRecordedBench(t *testing.T) {
	const recorded = "../../benchmarks/results/amd-epyc-25-17-2c/bench.json"
	c := newClient(t)
	if r, err := readBench(c.app, absolute(t, recorded)); err != nil || r.Edition != bench.Edition {
		t.Fatalf("edition %d, %v", r.Edition, err)
	}
	text, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	for _, digest := range append(smallModels, "eba2ad834ca489829ecca226e7c8cff0e1790ba564f744511fcefce53f46fba4") {
		if !strings.Contains(string(text), digest) {
			t.Errorf("%s lacks the digest %s", recorded, digest)
		}
	}
}

func absolute(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// smallModels begin the digests of the models of the small jobs. A change of one is a change of what a spec makes.
var smallModels = []string{"88f5382fa91642bb", "78aff36af0e61dd4", "36302eacb77c9ef3"}

// The whole of it, with a round of each; the models are those of every sound machine.
func TestBenchHere(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds on all cores")
	}
	c := newClient(t)
	r, err := benchHere(t.Context(), c.app, bench.Pace{Rounds: 1, Sample: time.Millisecond}, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, digest := range smallModels {
		if !strings.Contains(string(text), `"digest":"`+digest) {
			t.Errorf("no model %s in %s", digest, text)
		}
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "gram-bench-*")); err != nil || len(left) > 0 {
		t.Logf("folders of other runs, or of this one: %q, %v", left, err)
	}
	if r.Busy.Cores < 1 || r.Busy.Share <= 0 || !strings.Contains(r.Sentence, "trains 3 small models") {
		t.Errorf("%+v\n%s", r.Busy, r.Sentence)
	}
}
