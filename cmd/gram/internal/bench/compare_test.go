package bench

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/internal/measure"
)

func spread(low, median, high float64) measure.Spread {
	return measure.Spread{Low: low, Median: median, High: high}
}

// of is a measurement with a limit, a kernel and a job.
func of(read, products, job measure.Spread) Result {
	return Result{Edition: 1, Rows: []Row{{ID: "read", Unit: gigabyte, OneCore: read},
		{ID: "products", Unit: gflops, OneCore: products, Digest: "aa"}},
		Jobs: []Job{{ID: "kmeans", Seconds: job, Digest: "bb"}}}
}

// B reads half as fast, which its quartiles tell apart; multiplies alike, within the noise; and takes a third of the
// time for the job, of which less is better.
func TestCompareByHand(t *testing.T) {
	a := of(spread(19, 20, 21), spread(90, 100, 110), spread(2.9, 3, 3.1))
	b := of(spread(9, 10, 11), spread(98, 105, 112), spread(0.9, 1, 1.1))
	c, err := Compare(a, b)
	if err != nil || !c.SameResults || c.Compared != 2 || c.Missing != nil || len(c.Figures) != 3 {
		t.Fatalf("%+v, %v", c, err)
	}
	for i, want := range []struct {
		ratio float64
		apart bool
	}{{0.5, true}, {1.05, false}, {3, true}} {
		if f := c.Figures[i]; f.Ratio != want.ratio || f.Apart != want.apart || f.Differ {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
}

func TestCompareNamesWhatDiffers(t *testing.T) {
	a := of(spread(1, 1, 1), spread(1, 1, 1), spread(1, 1, 1))
	b := of(spread(2, 2, 2), spread(1, 1, 1), spread(1, 1, 1))
	b.Jobs[0].Digest = "bc"
	c, err := Compare(a, b)
	if err != nil || c.SameResults || c.Figures[1].Differ || !c.Figures[2].Differ {
		t.Errorf("one bit of a digest: %+v, %v", c, err)
	}
	if c.Figures[0].Apart {
		t.Error("one round each is told apart")
	}
	b.Jobs[0].Digest = "" // of a file that somebody cut
	if c, err = Compare(a, b); err != nil || c.SameResults {
		t.Errorf("a digest that one lacks: %+v, %v", c, err)
	}
	b.Rows, b.Jobs = b.Rows[:1], append(b.Jobs, Job{ID: "bayes", Seconds: spread(1, 1, 1)})
	if c, err = Compare(a, b); err != nil || !slices.Equal(c.Missing, []string{"products", "job bayes"}) {
		t.Errorf("missing %q, %v", c.Missing, err)
	}
	b.Edition = 2
	if _, err := Compare(a, b); err == nil || !strings.Contains(err.Error(), "editions 1 and 2") {
		t.Errorf("another edition: %v", err)
	}
}

func TestCheckRefusesWhatNoMeasurementLooksLike(t *testing.T) {
	good := of(spread(1, 2, 3), spread(1, 2, 3), spread(1, 2, 3))
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(r *Result){
		"no figures": func(r *Result) { r.Rows, r.Jobs = nil, nil },
		"no figure":  func(r *Result) { r.Edition = 0 },
		"twice":      func(r *Result) { r.Rows[1].ID = "read" },
		`"read" is 0`: func(r *Result) {
			r.Rows[0].OneCore.Median, r.Rows[0].OneCore.Low = 0, 0
		},
		`"read" is NaN`:     func(r *Result) { r.Rows[0].OneCore.Median = math.NaN() },
		`"read" is 2, with`: func(r *Result) { r.Rows[0].OneCore.Low = 2.5 },
	} {
		r := of(spread(1, 2, 3), spread(1, 2, 3), spread(1, 2, 3))
		change(&r)
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
