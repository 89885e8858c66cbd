package bench

import (
	"errors"
	"fmt"
	"math"
)

// Comparison is what two measurements say about two machines, or about one at two times.
type Comparison struct {
	SchemaVersion int         `json:"schema_version"`
	Machines      [2]string   `json:"machines"`
	Kernels       [2]string   `json:"kernels"`
	Builds        [2]string   `json:"builds"`
	Figures       []Figure    `json:"figures"`
	SameResults   bool        `json:"same_results"` // of everything that both made
	Compared      int         `json:"results_compared"`
	Missing       []string    `json:"missing,omitempty"` // IDs that only one has
	Busy          [2][]string `json:"busy"`              // the warnings of each
}

// Figure is one that both have. Ratio is above 1 where the second is faster.
type Figure struct {
	ID     string     `json:"id"`
	Title  string     `json:"title"`
	Unit   string     `json:"unit"`
	Values [2]float64 `json:"values"`
	Ratio  float64    `json:"ratio"`
	// Apart means that the quartiles of the two do not overlap. One round has none.
	Apart   bool      `json:"apart"`
	Digests [2]string `json:"digests"`
	Differ  bool      `json:"differ"` // the digests do
}

// Compare compares two measurements of the same edition.
func Compare(a, b Result) (Comparison, error) {
	if a.Edition != b.Edition {
		return Comparison{}, fmt.Errorf("they measured different work, editions %d and %d of gram bench", a.Edition,
			b.Edition)
	}
	c := Comparison{Machines: [2]string{a.Machine.CPU, b.Machine.CPU}, Kernels: [2]string{a.Kernels, b.Kernels},
		Builds: [2]string{a.Version, b.Version}, SameResults: true, Busy: [2][]string{a.Busy.Warnings, b.Busy.Warnings}}
	left, right := a.figures(), b.figures()
	for _, f := range left {
		i := find(right, f.id)
		if i < 0 {
			c.Missing = append(c.Missing, f.id)
			continue
		}
		c.add(f, right[i])
	}
	for _, f := range right {
		if find(left, f.id) < 0 {
			c.Missing = append(c.Missing, f.id)
		}
	}
	return c, nil
}

func (c *Comparison) add(a, b figure) {
	f := Figure{ID: a.id, Title: a.title, Unit: a.unit, Values: [2]float64{a.median, b.median},
		Ratio: b.median / a.median, Apart: apart(a, b), Digests: [2]string{a.digest, b.digest}}
	if a.unit == seconds {
		f.Ratio = a.median / b.median
	}
	if a.digest != "" || b.digest != "" {
		c.Compared++
		f.Differ = a.digest != b.digest
		c.SameResults = c.SameResults && !f.Differ
	}
	c.Figures = append(c.Figures, f)
}

func apart(a, b figure) bool {
	return a.low < a.high && b.low < b.high && (a.low > b.high || b.low > a.high)
}

// seconds is the unit of which less is better.
const seconds = "s"

// figure is a row or a job.
type figure struct {
	id, title, unit, digest string
	low, median, high       float64
}

func (r Result) figures() (all []figure) {
	for _, row := range r.Rows {
		s := row.OneCore
		all = append(all, figure{row.ID, row.Title, row.Unit, row.Digest, s.Low, s.Median, s.High})
	}
	for _, j := range r.Jobs {
		s := j.Seconds
		all = append(all, figure{"job " + j.ID, j.Title, seconds, j.Digest, s.Low, s.Median, s.High})
	}
	return all
}

func find(all []figure, id string) int {
	for i, f := range all {
		if f.id == id {
			return i
		}
	}
	return -1
}

// Check returns an error for what no measurement looks like.
func (r Result) Check() error {
	if r.Edition < 1 || len(r.Rows)+len(r.Jobs) == 0 {
		return errors.New("it has no figures")
	}
	seen := map[string]bool{}
	for _, f := range r.figures() {
		switch {
		case f.id == "" || seen[f.id]:
			return fmt.Errorf("it has the figure %q twice, or without a name", f.id)
		case !(f.median > 0) || math.IsInf(f.median, 0) || f.low > f.median || f.high < f.median:
			return fmt.Errorf("%q is %v, with quartiles %v and %v", f.id, f.median, f.low, f.high)
		}
		seen[f.id] = true
	}
	return nil
}
