package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/internal/limits"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// digests are those of every sound machine, by the kernel's ID. A change of the work is another Edition.
var digests = map[string]string{
	"products": "eba2ad834ca489829ecca226e7c8cff0e1790ba564f744511fcefce53f46fba4",
	"rbf":      "ede713856fe44058b5cd2d44aeaadaaadf36506c61deb4139b2e8a0363a7d8cf",
	"nearest":  "b69ea38949c60f732bac5d59c49f6c1099d066e14d6e895b93ebaf416b15c10b",
	"search":   "a5fa2ac1678d57bb1f9be503116e553c77c0fae39e0cab5233b412a0cd1c3f5d",
	"scan":     "134bf9eaa952fc4cca8d0f975f822fadc705ab9b7fcb269d77e45601e8e743b4",
}

// Every kernel set, the generic one too, on one thread and on three.
func TestDigestsOfKernels(t *testing.T) {
	for _, set := range kernelops.All() {
		for _, threads := range []int{1, 3} {
			if testing.Short() && (set.Name != kernelops.Best().Name || threads == 1) {
				continue
			}
			memory := new(limits.Memory)
			for _, w := range kernels(set, memory, threads) {
				w.run()
				if got := w.digest(); got != digests[w.id] {
					t.Errorf("%s, %d threads, %s: %s, want %s", set.Name, threads, w.id, got, digests[w.id])
				}
			}
			if err := memory.Free(); err != nil {
				t.Error(err)
			}
		}
	}
}

// The files of the small jobs, of the first edition.
func TestFilesOfSmallJobs(t *testing.T) {
	for _, j := range smallJobs() {
		var b bytes.Buffer
		j.write(&b)
		sum := sha256.Sum256(b.Bytes())
		if got, want := hex.EncodeToString(sum[:4]), files[j.id]; got != want {
			t.Errorf("%s: %s, want %s", j.id, got, want)
		}
	}
}

var files = map[string]string{"kmeans": "e143bdc3", "bayes": "72da948c", "linear": "ff30d3e8"}

// Of 2e9 operations: a round of 1 s of processor time in 2 s, and one of 0.5 s. On two threads the wall counts.
func TestRatesByHand(t *testing.T) {
	r := raced{workload: workload{amount: 1e9}, samples: []measure.Sample{
		{Wall: 2 * time.Second, CPU: time.Second, Times: 2}, {Wall: time.Second, CPU: time.Second / 2, Times: 2}}}
	if got := r.rates(1); got[0] != 2 || got[1] != 4 {
		t.Errorf("one thread: %v", got)
	}
	if got := r.rates(2); got[0] != 1 || got[1] != 2 {
		t.Errorf("two threads: %v", got)
	}
	if got := shareOf([]raced{r}); got != 0.5 {
		t.Errorf("share %v, want 1.5 s of 3 s", got)
	}
}

// The share is the median of the ratios of the rounds, not the ratio of the medians.
func TestSharesAreOfTheSameRound(t *testing.T) {
	at := func(seconds ...time.Duration) (all []measure.Sample) {
		for _, s := range seconds {
			all = append(all, measure.Sample{CPU: s * time.Second, Times: 1})
		}
		return all
	}
	rows := rowsOf([]raced{
		{workload: workload{id: "peak", amount: 1e9}, samples: at(1, 2, 4)},
		{workload: workload{id: "products", of: "peak", amount: 1e9}, samples: at(2, 4, 5)},
	})
	if rows[0].Share != nil || rows[1].Share == nil || *rows[1].Share != 0.5 || rows[1].Of != "peak" {
		t.Errorf("%+v", rows)
	}
}

// A kernel that gives another result the second time is an error, not a figure.
func TestRaceFindsResultsThatChange(t *testing.T) {
	n := 0
	w := workload{id: "x", title: "flaky", run: func() { n++ }, digest: func() string { return strings.Repeat("x", n) }}
	if _, err := race(t.Context(), []workload{w}, 0, Pace{Rounds: 1}); err == nil ||
		!strings.Contains(err.Error(), "flaky: two runs") {
		t.Errorf("error %v", err)
	}
	other := []Row{{ID: "x", Digest: "1"}}
	if err := join(other, []raced{{workload: w, sum: "2"}}, 2); err == nil {
		t.Error("threads that compute other things are not found")
	}
}

func TestJobsFindModelsThatChange(t *testing.T) {
	n := 0
	train := func(context.Context, protocol.JobSpec) (string, error) {
		n++
		return strings.Repeat("x", n/4), nil
	}
	if _, err := Jobs(t.Context(), t.TempDir(), train, Pace{Rounds: 1}); err == nil ||
		!strings.Contains(err.Error(), "two runs made different models") {
		t.Errorf("error %v", err)
	}
	refused := errors.New("refused")
	fail := func(context.Context, protocol.JobSpec) (string, error) { return "", refused }
	if _, err := Jobs(t.Context(), t.TempDir(), fail, Pace{}); !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
}

func TestSentenceAndWarnings(t *testing.T) {
	share := 0.853
	r := of(spread(19, 20, 24), spread(90, 100, 101), spread(2, 3, 4))
	r.Rows[0].Title, r.Rows[1].Share, r.Kernels = "read memory", &share, "avx512"
	r.Machine = Hardware{CPU: "AMD EPYC", Cores: 1}
	r.Finish(measure.Activity{Others: 0.5, Cores: 1}, 1)
	want := "AMD EPYC with 1 core runs the avx512 kernels: it multiplies matrices at 100 GFLOP/s a core, 85 % of its " +
		"multiply-adds, reads 20.0 GB/s from memory, and trains 1 small model in 3.00 s."
	if r.Sentence != want {
		t.Errorf("%s\nwant\n%s", r.Sentence, want)
	}
	if r.Busy.Widest != "read memory" || r.Busy.Spread != 0.25 || len(r.Busy.Warnings) != 2 {
		t.Errorf("%+v", r.Busy)
	}
}
