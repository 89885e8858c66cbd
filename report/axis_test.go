package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []float64
	}{
		{0, 10, []float64{0, 2, 4, 6, 8, 10}}, {0, 1, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}}, {3, 3, []float64{3}},
		{1, 4, []float64{1, 1.5, 2, 2.5, 3, 3.5, 4}},
		{0, 97_000, []float64{0, 20_000, 40_000, 60_000, 80_000}},
	} {
		got := axis{low: c.low, high: c.high}.ticks()
		if len(got) != len(c.want) {
			t.Errorf("%v to %v: %v", c.low, c.high, got)
			continue
		}
		for i, v := range got {
			if math.Abs(v-c.want[i]) > 1e-9*math.Abs(c.high) {
				t.Errorf("%v to %v: %v", c.low, c.high, got)
			}
		}
	}
}

// Numbers of an axis have one unit, and the decimals that tell them apart.
func TestTickTexts(t *testing.T) {
	for want, at := range map[string][]float64{
		"0.80 M 0.85 M 0.90 M 0.95 M 1.00 M": {800_000, 850_000, 900_000, 950_000, 1_000_000},
		"0.8 M 0.9 M 1.0 M":                  {800_000, 900_000, 1_000_000},
		"0 20 k 40 k":                        {0, 20_000, 40_000},
		"1.0003 M 1.0004 M":                  {1_000_300, 1_000_400},
		"0 0.2 0.4":                          {0, 0.2, 0.4},
		"-500 0 500":                         {-500, 0, 500},
		"0 2.5e-5 5e-5":                      {0, 2.5e-5, 5e-5},
		"9999":                               {9999},
	} {
		if got := strings.Join(tickTexts(at), " "); got != want {
			t.Errorf("%v: %q, want %q", at, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	for want, v := range map[string]float64{
		"0": math.Copysign(0, -1), "1 M": 1e6, "2.5 G": 2.5e9, "-12 k": -12_000, "1234": 1234, "0.25": 0.25,
		"1e-6": 1e-6, "1e20": 1e20, "123 M": 123_456_789, "3.14": 3.14159, "1e-15": 1e-15,
	} {
		if got := brief(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// chartOf is a chart of one line.
func chartOf(y ...float64) *jobs.LineChart {
	s := jobs.SeriesOf("a", y)
	return &jobs.LineChart{X: "round", Y: "J", Series: []jobs.Series{s}}
}

// An elbow is not pressed flat: the axis begins at 0 where that leaves the curve most of the height, else it says that
// it does not; where values span two powers of ten and ratios matter, it is logarithmic, and says so.
func TestScaleShowsTheBend(t *testing.T) {
	for _, c := range []struct {
		name    string
		chart   *jobs.LineChart
		decades bool
		low     float64
		log     bool
		note    string
	}{
		{"begins at 0", chartOf(1_000_000, 300_000, 250_000), true, 0, false, ""},
		{"far from 0", chartOf(1_000_000, 820_000, 810_000, 805_000), true, 795_250, false, " (scale without 0)"},
		{"decades", chartOf(1e6, 1e4, 5e3), true, math.Log10(5e3) - 0.1, true, " (logarithmic scale)"},
		{"decades that nobody asked for", chartOf(1e6, 1e4, 5e3), false, 0, false, ""},
		{"decades with 0", chartOf(1e6, 1e4, 0), true, 0, false, ""},
		{"below 0", chartOf(-100, -50), true, -102.5, false, " (scale without 0)"},
		{"across 0", chartOf(-10, 30), true, -12, false, ""},
		{"level", chartOf(5, 5), true, 0, false, ""},
	} {
		c.chart.Decades = c.decades
		_, y, note := linesAxes(c.chart)
		if math.Abs(y.low-c.low) > 1e-6*math.Abs(c.low) || y.log != c.log || note != c.note {
			t.Errorf("%s: from %v, logarithmic %t, %q", c.name, y.low, y.log, note)
		}
		if at, _ := y.ticks(); len(at) < 2 {
			t.Errorf("%s: ticks %v", c.name, at)
		}
	}
}

// A logarithmic axis has powers of ten, equally far from each other.
func TestPowers(t *testing.T) {
	c := chartOf(2e6, 3, 40)
	c.Decades = true
	_, y, _ := linesAxes(c)
	y.from, y.to = 100, 0
	at, texts := y.ticks()
	if !slices.Equal(texts, []string{"10", "100", "1000", "10 k", "100 k", "1 M"}) {
		t.Errorf("%v", texts)
	}
	if a, b := y.at(at[1])-y.at(at[0]), y.at(at[4])-y.at(at[3]); math.Abs(a-b) > 1e-9 || !(a < 0) {
		t.Errorf("steps of %v and %v", a, b)
	}
	wide := scale{axis: axis{low: -300, high: 300}, log: true}
	if at, _ := wide.ticks(); len(at) > 8 {
		t.Errorf("%d powers", len(at))
	}
}

// Ticks end where numbers are so large that neighbors are further apart than the ticks.
func TestTicksBeyondWholeNumbers(t *testing.T) {
	for _, a := range []axis{{1e16, 1e16 + 2, 0, 1}, {-3e18, -3e18 + 1024, 0, 1}, {1, 1 + 0x1p-52, 0, 1},
		{1e300, math.Nextafter(1e300, 2e300), 0, 1}, {5e-324, 1e-323, 0, 1}} {
		at := a.ticks()
		for i, v := range at {
			if i > 0 && v <= at[i-1] || len(at) > 8 {
				t.Errorf("%v: %v", a, at)
			}
		}
		tickTexts(at)
	}
}

// Values near the largest that there are leave no coordinate without a number.
func TestLinesOfHugeValues(t *testing.T) {
	for _, values := range [][]float64{{1.7e308, -1.7e308}, {math.MaxFloat64, 1}, {1e300, -1e300}, {math.Inf(-1), 2}} {
		picture, err := draw(jobs.Figure{Lines: &jobs.LineChart{Series: []jobs.Series{jobs.SeriesOf("a", values)}}})
		if text := string(picture); err != nil || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%v: %v, %s", values, err, text)
		}
	}
}
