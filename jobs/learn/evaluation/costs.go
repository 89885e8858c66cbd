package evaluation

import (
	"maps"
	"slices"
	"sort"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// Costs say what a decision costs: Costs[truth][decided]. A pair that is not named costs 0 if the
// decision is right and 1 otherwise, so that no costs at all ask for the most probable class.
type Costs map[string]map[string]float64

// maxCost keeps sums of costs far from overflow.
const maxCost = 1e12

// Of returns the cost of a decision.
func (c Costs) Of(truth, decided string) float64 {
	if cost, ok := c[truth][decided]; ok {
		return cost
	}
	if truth == decided {
		return 0
	}
	return 1
}

// Check refuses a cost that is not in [0, 1e12] with a *protocol.Fault of CodeSpecInvalid.
func (c Costs) Check() error {
	for _, truth := range slices.Sorted(maps.Keys(c)) {
		for _, decided := range slices.Sorted(maps.Keys(c[truth])) {
			if cost := c[truth][decided]; !(cost >= 0 && cost <= maxCost) {
				return protocol.SpecFault(
					"the cost of deciding %q for %q is in [0, %g], not %v", decided, truth, maxCost, cost)
			}
		}
	}
	return nil
}

// Rule is a cost matrix over the classes of a model: it decides for the class of least expected cost,
//
//	argmin over d of the sum over t of p(t) cost(t, d).
type Rule struct {
	truth, decided []int32 // the named pairs, by truth, then decided
	cost           []float64
	expected       []float64
}

// Rule numbers the pairs by labels in byte order. A label that is not among them is a
// *protocol.Fault of CodeSpecInvalid.
func (c Costs) Rule(labels []string) (*Rule, error) {
	r := &Rule{expected: make([]float64, len(labels))}
	number := func(label string) (int32, error) {
		i := sort.SearchStrings(labels, label)
		if i == len(labels) || labels[i] != label {
			return 0, protocol.SpecFault("spec.params: costs name the label %q, which no training record has", label).
				Suggest(label, labels)
		}
		return int32(i), nil
	}
	for _, truth := range slices.Sorted(maps.Keys(c)) {
		t, err := number(truth)
		if err != nil {
			return nil, err
		}
		for _, decided := range slices.Sorted(maps.Keys(c[truth])) {
			d, err := number(decided)
			if err != nil {
				return nil, err
			}
			r.truth, r.decided, r.cost = append(r.truth, t), append(r.decided, d), append(r.cost, c[truth][decided])
		}
	}
	return r, nil
}

// Decide returns the class of least expected cost under the posterior probabilities of all classes,
// the first where costs are equal: linear in the classes and the named pairs. One goroutine at a time.
func (r *Rule) Decide(posterior []float64) int {
	all := 0.0
	for _, p := range posterior {
		all += p
	}
	for d, p := range posterior {
		r.expected[d] = all - p
	}
	for i, t := range r.truth {
		d, unnamed := r.decided[i], 1.0
		if t == d {
			unnamed = 0
		}
		r.expected[d] += float64(posterior[t] * (r.cost[i] - unnamed))
	}
	best := 0
	for d, cost := range r.expected {
		if cost < r.expected[best] {
			best = d
		}
	}
	return best
}

// RuleFields lists the rule of a model of that many classes; a nil rule has no fields.
func RuleFields(f *jobs.Fields, rule **Rule, classes int) {
	if !f.Has("costs.cost", *rule != nil) {
		return
	}
	r := jobs.Make(f, rule)
	jobs.List(f, "costs.cost", &r.cost)
	jobs.List(f, "costs.truth", &r.truth, len(r.cost))
	jobs.List(f, "costs.decided", &r.decided, len(r.cost))
	f.Check(func() error { return r.check(classes) })
	if f.Reading() {
		r.expected = make([]float64, classes)
	}
}

func (r *Rule) check(classes int) error {
	for i, cost := range r.cost {
		t, d := r.truth[i], r.decided[i]
		if !inRange(t, 0, classes) || !inRange(d, 0, classes) || !(cost >= 0 && cost <= maxCost) {
			return jobs.Malformed("cost %d of a model of %d classes is (%d, %d): %v", i, classes, t, d, cost)
		}
		if i > 0 && (t < r.truth[i-1] || t == r.truth[i-1] && d <= r.decided[i-1]) {
			return jobs.Malformed("cost %d of a model is out of order", i)
		}
	}
	return nil
}

// ReadRule reads the rule of a model of that many classes; nil where it has none.
func ReadRule(a jobs.Arrays, classes int) (r *Rule, err error) {
	_, err = jobs.Read(a, jobs.FieldsFunc(func(f *jobs.Fields) { RuleFields(f, &r, classes) }))
	return r, err
}

// Costs are the named pairs of a rule over those labels.
func (r *Rule) Costs(labels []string) Costs {
	c := Costs{}
	for i, t := range r.truth {
		truth := labels[t]
		if c[truth] == nil {
			c[truth] = map[string]float64{}
		}
		c[truth][labels[r.decided[i]]] = r.cost[i]
	}
	return c
}

// Pairs is the number of named pairs.
func (r *Rule) Pairs() int { return len(r.cost) }

// Cost is what the decisions on the test records cost. Rejected records are not among them.
type Cost struct {
	Records int64   `json:"records"`
	Total   float64 `json:"total"`
	Mean    float64 `json:"mean"` // 0 without records
}

func (c *Confusion) cost(costs Costs) Cost {
	labels, cells := c.Cells()
	sum := Cost{}
	for _, cell := range cells {
		if cell.Predicted == rejected {
			continue
		}
		sum.Records += cell.Count
		sum.Total += float64(float64(cell.Count) * costs.Of(labels[cell.Truth], labels[cell.Predicted]))
	}
	if sum.Records > 0 {
		sum.Mean = sum.Total / float64(sum.Records)
	}
	return sum
}
