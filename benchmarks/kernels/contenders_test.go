package main

import (
	"encoding/xml"
	"errors"
	"github.com/gram-compute/gram/internal/limits"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/internal/machine"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/kernelops"
)

// TestSetsAgree runs every workload, small, by every set of this machine, the generic one included.
func TestSetsAgree(t *testing.T) {
	small := []workload{
		products(33, 21, 128), sqDists(33, 21, 7), rbf(33, 21, 7), polynomial(33, 21, 7),
		genericProducts(5, 6, 7), kmeansExact(300, 9, 5), knn(300, 9, 20, 3), knnOneByOne(300, 9, 4, 3),
		dotOfRows(50, 40), axpyOfRows(50, 40), sparseDot(20, 12, 1000),
		symmetricRBF(33, 7), l1OfRows(50, 40), projection(30, 20, 8),
	}
	for _, w := range small {
		for _, threads := range []int{1, 3} {
			e := env{seed: 7, threads: threads, sets: kernelops.All(), memory: new(limits.Memory)}
			r, err := race(w, threads, w.entrant(e), pace{minRounds: 1})
			if err := errors.Join(err, e.memory.Free()); err != nil {
				t.Error(err)
			}
			if len(r.entries) == 0 || len(r.entries[0].samples) != 1 {
				t.Errorf("%s: nobody ran", w.id)
			}
		}
	}
}

// Four points, two centroids: the first two points. The third goes to the first, the
// fourth to the second.
func TestRoundOfKMeansByHand(t *testing.T) {
	x := kernelops.NewMatrix(4, 2)
	copy(x.Data, []float32{0, 0, 10, 10, 2, 0, 10, 12})
	for _, s := range kernelops.All() {
		for _, threads := range []int{1, 2} {
			e := env{threads: threads, memory: new(limits.Memory)}
			r := newRound(s, e, x, 2)
			r.run()
			r.run() // leaves nothing behind
			if want := []float64{1, 0, 10, 11}; !slices.Equal(r.means, want) {
				t.Errorf("%s, %d threads: means %v, want %v", s.Name, threads, r.means, want)
			}
			if err := e.memory.Free(); err != nil {
				t.Error(err)
			}
		}
	}
}

// onePage is a page of one workload at two points.
func onePage() *page {
	rates := func(d int) result {
		w := products(4096, 4096, d)
		w.amount = 1000
		return result{workload: w, threads: 1, entries: []entry{
			ran(wide, 0, false, 10, 10, 10), ran("openblas", 0, false, 20, 20, 20), ran(zmm, 1600, true, 8, 8, 8),
		}}
	}
	p := &page{Machine: machine.Machine{CPU: "A & B"}, Seconds: 90}
	results := []result{rates(128), rates(1024)}
	p.add(results, judge(results, goals()), map[string]string{"xyt-128-peak": "One port."})
	return p
}

func TestPlotIsWellFormedAndNamesItsLines(t *testing.T) {
	text := onePage().plot()
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"gram avx512, 100", "openblas, 50.0", "peak avx512, 200", "A &amp; B"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the plot lacks %q", want)
		}
	}
}

func TestPageTellsRatesRatiosGoalsAndLimits(t *testing.T) {
	p := onePage()
	text := string(p.markdown())
	for _, want := range []string{
		"| X·Yᵀ, 4096 x 4096, d = 128 | gram avx512 | 1e-05 | 100 GFLOP/s | 100 - 100 | 50.0 % |  | 3 |",
		"|  | openblas | 2e-05 | 50.0 GFLOP/s | 50.0 - 50.0 | 25.0 % | 2.00x | 3 |",
		"| X·Yᵀ d=128 against OpenBLAS | at least 1.20x |  | 2.00x | 2.00x - 2.00x | yes |",
		"| X·Yᵀ d=784 against OpenBLAS | at least 0.95x | 1.00x | not: " + xyt784 + " was not run |  | no |",
		"* X·Yᵀ d=128 AVX-512 of the zmm peak: One port.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	var said strings.Builder
	p.printGoals(&said)
	if got := said.String(); !strings.HasSuffix(got, "\nbench-kernels: 27 goals, 1 met\n") ||
		!strings.Contains(got, "    One port.\n") {
		t.Errorf("printed %q", got)
	}
}

func TestPageTellsHowRatesScaleWithCores(t *testing.T) {
	on := func(threads int, rate float64) record {
		return record{ID: "w", Title: "W", Threads: threads,
			Entries: []entryRecord{{Name: wide, Amount: 1, Unit: gflops, Rate: measure.Spread{Median: rate}}}}
	}
	const want = "| W | gram avx512 | 4 | 3.50x |"
	if text := string((&page{Workloads: []record{on(1, 10), on(4, 35)}}).markdown()); !strings.Contains(text, want) {
		t.Errorf("the page lacks %q:\n%s", want, text)
	}
	if text := string((&page{Workloads: []record{on(4, 35)}}).markdown()); strings.Contains(text,
		"of one core's rate") {
		t.Errorf("the page compares with nothing:\n%s", text)
	}
}

func TestNoiseIsTheShareOfTheProcessor(t *testing.T) {
	p := &page{Workloads: []record{{Threads: 1, Entries: []entryRecord{
		{Name: "read", Unit: gigabyte, Bound: true, Rate: measure.Spread{Median: 16},
			Samples: []measure.Sample{{Wall: 4 * time.Second, CPU: 3 * time.Second}}},
	}}}}
	if got := p.noise(); !strings.Contains(got, "75 % of the time") ||
		!strings.Contains(got, "read 16.0 to 16.0 GB/s") {
		t.Errorf("%q", got)
	}
}
