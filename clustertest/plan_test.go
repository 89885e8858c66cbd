package clustertest_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

var (
	planRuns   = flag.Int("plan.runs", 0, "how many runs TestPlanCovers forecasts; 0 means a few, and no bound on them")
	planResult = flag.String("plan.result", "", "the file that TestPlanCovers writes its figures to")
)

// planKinds are the jobs whose ends are forecast: of one round and of many, over shards and over blocks.
var planKinds = []struct{ kind, params, more string }{
	{"NaiveBayes", `{}`, `,"split":{"test":0.2}`},
	{"GaussianNaiveBayes", `{}`, ``},
	{"NearestMean", `{}`, `,"split":{"test":0.2}`},
	{"KMeans", `{"k":4,"max_rounds":6}`, ``},
	{"Perceptron", `{"over":"mixed","epochs":4,"block_records":40}`, ``},
	{"LinearModel", `{"blocks":24,"max_rounds":6}`, ``},
	{"KMeans", `{"k":3,"init":"random","max_rounds":3,"assignments":true}`, ``},
	{"SupportVectorMachine", `{"blocks":24,"working_set":64,"max_rounds":4}`, ``},
}

// stalls are what a worker's disk or neighbor does to a task, wherever and whatever it is.
type stalls struct {
	mu  sync.Mutex
	rng *rand.Rand
}

// takes draws how long a leaf takes: about 20 ms, spread by a third, and one in 40 stalls for 0.3 seconds or more, up
// to five, with a tail of Pareto's.
func (s *stalls) takes() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	seconds := 0.02 * math.Exp(s.rng.NormFloat64()/3)
	if s.rng.IntN(40) == 0 {
		seconds += min(5, 0.3*math.Pow(1-s.rng.Float64(), -1/1.5))
	}
	return time.Duration(seconds * float64(time.Second))
}

type stallingPhase struct {
	jobs.Phase
	stalls *stalls
}

func (p stallingPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays,
	ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	timer := time.NewTimer(p.stalls.takes())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	return p.Phase.Map(ctx, state, leaf, carry, ops)
}

// otherBlocks is otherPhases over logical blocks.
type otherBlocks struct{ otherPhases }

func (a otherBlocks) BlockRecords() jobs.BlockRecords { return jobs.BlocksOf(a.Algorithm) }

func stallingKind(t testing.TB, name string, s *stalls) jobs.Kind {
	t.Helper()
	kind, err := all.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	kind = withPhases(kind, func(p jobs.Phase) jobs.Phase { return stallingPhase{p, s} })
	inner := kind.New
	kind.New = func(spec protocol.JobSpec) (jobs.Algorithm, error) {
		algorithm, err := inner(spec)
		if other, ok := algorithm.(otherPhases); ok && jobs.BlocksOf(other.Algorithm).Any() {
			return otherBlocks{other}, err
		}
		return algorithm, err
	}
	return kind
}

// planBench is a cluster of three workers whose leaves stall.
type planBench struct {
	*clustertest.Local
	home string
	tag  string
}

func startPlanBench(t *testing.T, number int) *planBench {
	t.Helper()
	b := &planBench{home: t.TempDir(), tag: fmt.Sprint("c", number)}
	s := &stalls{rng: rand.New(rand.NewPCG(11, uint64(number)))}
	var kinds []jobs.Kind
	for _, k := range planKinds {
		kinds = append(kinds, stallingKind(t, k.kind, s))
	}
	if err := os.Mkdir(filepath.Join(b.home, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.write(t, "in/a.csv", planCSV())
	b.write(t, "in/a.tsv", planTSV())
	b.Local = clustertest.StartLocal(t, filepath.Join(b.home, "data"), "file://"+b.home, 10*time.Second, directories(t),
		kinds...)
	for _, name := range []string{"w1", "w2", "w3"} {
		b.Work(t, name, 2, kernelops.Generic())
	}
	return b
}

func (b *planBench) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.home, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// planCSV are records of four groups, planTSV texts of two classes.
func planCSV() string { return strings.Repeat(fourGroups(), 3) }

func planTSV() string {
	var b strings.Builder
	for i := range 960 {
		fmt.Fprintf(&b, "%s\t%s and word%d\n", []string{"ham", "spam"}[i%2],
			[]string{"meeting agenda", "cheap pills"}[i%2], i%17)
	}
	return b.String()
}

// spec writes a spec, whose jobs have 24 to 30 shards or blocks.
func (b *planBench) spec(t testing.TB, number int) (path, text string) {
	t.Helper()
	k := planKinds[number]
	input := fmt.Sprintf(`"uri":"file://%s/in/a.csv","format":"csv","label":5,"shard_bytes":1100`, b.home)
	if k.kind == "NaiveBayes" {
		input = fmt.Sprintf(`"uri":"file://%s/in/a.tsv","format":"tsv","label":1,"text":2,"shard_bytes":1000`, b.home)
	}
	text = fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{},"spec":{"input":{%s%s},
		"output":{},"params":%s,"repro":{"seed":7},"run":{"audit":0}}}`, k.kind, input, k.more, k.params)
	name := fmt.Sprintf("spec%d.json", number)
	b.write(t, name, text)
	return filepath.Join(b.home, name), text
}

// planFacts are what report.json says of the time.
type planFacts struct {
	Seconds  float64
	Timeline struct {
		Workers   []struct{ Slots int }
		Forecasts []struct{ P50, P90, Ended float64 }
	}
}

// run runs a job and returns the path of its report.
func (b *planBench) run(t testing.TB, id, spec string) (path string, facts planFacts) {
	t.Helper()
	b.Submit(t, id, spec)
	if job := b.Wait(t, id); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("%s ended as %v: %v", id, job.GetState(), job.GetFailure())
	}
	path = filepath.Join(b.home, "models", id, "report.json")
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &facts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path, facts
}

// planTime is what gram plan -o json says of the time.
type planTime struct {
	Time struct {
		Slots   int  `json:"slots"`
		Guessed bool `json:"from_slots_estimated"`
		Copies  struct {
			P50 float64 `json:"p50_seconds"`
			P90 float64 `json:"p90_seconds"`
			P99 float64 `json:"p99_seconds"`
		} `json:"with_copies"`
	} `json:"time"`
}

// plan forecasts a job from the reports of earlier ones.
func (b *planBench) plan(t testing.TB, spec string, reports []string) (p planTime) {
	t.Helper()
	args := []string{"plan", "-f", spec, "-o", "json"}
	for _, r := range reports {
		args = append(args, "--from", r)
	}
	stdout, stderr, code := clustertest.Run(t.Context(), t, b.home, nil, strings.NewReader(""), args...)
	if code != 0 {
		t.Fatalf("gram plan: exit code %d\n%s", code, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// planTally counts what ended within its forecast.
type planTally struct {
	mu                 sync.Mutex
	runs               [3]int // by p50, p90 and p99
	of                 int
	rounds, half, most int // forecast when a quarter was done
	lines              []string
}

func (p *planTally) add(t testing.TB, what string, forecast planTime, facts planFacts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of++
	for i, q := range []float64{forecast.Time.Copies.P50, forecast.Time.Copies.P90, forecast.Time.Copies.P99} {
		if facts.Seconds <= q {
			p.runs[i]++
		}
	}
	for _, f := range facts.Timeline.Forecasts {
		p.rounds++
		if f.Ended <= f.P50 {
			p.half++
		}
		if f.Ended <= f.P90 {
			p.most++
		}
	}
	p.lines = append(p.lines, fmt.Sprintf("| %s | %.2f | %.2f | %.2f |", what, forecast.Time.Copies.P50,
		forecast.Time.Copies.P90, facts.Seconds))
	t.Logf("%s: p50 %.2f, p90 %.2f, took %.2f", what, forecast.Time.Copies.P50, forecast.Time.Copies.P90, facts.Seconds)
}

// planWindow is from how many earlier runs a run is forecast.
const planWindow = 5

// The times of jobs whose leaves stall are within their p90 in 85 to 95 % of the runs, forecast from the reports of
// earlier runs. With -plan.runs it runs as many and checks the share; without, a few, and that all is told.
func TestPlanCovers(t *testing.T) {
	clusters, kinds, each := 1, 1, 1
	if *planRuns > 0 {
		clusters, kinds = 2, len(planKinds)
		each = (*planRuns + kinds - 1) / kinds
	} else if testing.Short() {
		t.Skip("runs six jobs; make test-all runs them")
	}
	tally := &planTally{}
	var running sync.WaitGroup
	for number := range clusters {
		b := startPlanBench(t, number)
		running.Go(func() {
			for kind := number; kind < kinds; kind += clusters {
				b.series(t, kind, each, tally)
			}
		})
	}
	running.Wait()
	tally.check(t)
}

// series runs jobs of one spec, each forecast from those before it.
func (b *planBench) series(t *testing.T, kind, runs int, tally *planTally) {
	path, spec := b.spec(t, kind)
	var reports []string
	for run := range planWindow + runs {
		var forecast planTime
		if run >= planWindow {
			forecast = b.plan(t, path, reports[run-planWindow:])
		}
		report, facts := b.run(t, fmt.Sprintf("%s-%d-%d", b.tag, kind, run), spec)
		if reports = append(reports, report); run < planWindow {
			continue
		}
		if slots := forecast.Time.Slots; slots != 6 || forecast.Time.Guessed {
			t.Errorf("%s: forecast for %d slots, of 6 in the report", planKinds[kind].kind, slots)
		}
		tally.add(t, planKinds[kind].kind, forecast, facts)
	}
}

func (p *planTally) check(t *testing.T) {
	percent := func(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	text := fmt.Sprintf("%d runs: %.1f %% within p50, %.1f %% within p90, %.1f %% within p99; %d rounds forecast at a "+
		"quarter: %.1f %% within p50, %.1f %% within p90", p.of, percent(p.runs[0], p.of), percent(p.runs[1], p.of),
		percent(p.runs[2], p.of), p.rounds, percent(p.half, p.rounds), percent(p.most, p.rounds))
	t.Log(text)
	if *planResult != "" {
		table := "| job | p50 (s) | p90 (s) | took (s) |\n|---|---:|---:|---:|\n" + strings.Join(p.lines, "\n")
		if err := os.WriteFile(*planResult, []byte(text+"\n\n"+table+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
	// A few short jobs may end before a quarter of a round was seen.
	if p.of == 0 || *planRuns > 0 && p.rounds == 0 {
		t.Errorf("nothing was forecast: %s", text)
	}
	if share := percent(p.runs[1], p.of); *planRuns > 0 && (share < 85 || share > 95) {
		t.Errorf("%.1f %% of the runs ended within p90, want 85 to 95 %%", share)
	}
}
