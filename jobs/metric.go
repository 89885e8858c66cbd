package jobs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Metric is a named value of a round, kept in the run report; never read back by a phase.
type Metric struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// WarningsMetric is the name of the metric that warns people, a list of sentences.
const WarningsMetric = "input.warnings"

// CountMetric is a metric whose value is a whole number.
func CountMetric(name string, n int64) Metric {
	return Metric{Name: name, Value: strconv.AppendInt(nil, n, 10)}
}

// NewMetric writes a metric's value as JSON.
func NewMetric(name string, value any) (Metric, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return Metric{}, fmt.Errorf("jobs: metric %q: %w", name, err)
	}
	return Metric{Name: name, Value: data}, nil
}

// Facts collects metrics.
type Facts struct {
	metrics []Metric
	err     error
}

// Add adds a metric, as NewMetric makes it.
func (f *Facts) Add(name string, value any) {
	m, err := NewMetric(name, value)
	f.metrics, f.err = append(f.metrics, m), cmp.Or(f.err, err)
}

// Metrics returns the metrics, or the error of the first that could not be made.
func (f *Facts) Metrics() ([]Metric, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.metrics, nil
}

// ReadMetric reads the value of the named metric into to, and leaves to as it is if there is none. A value of another
// form is a *protocol.Fault of CodeCorrupt.
func ReadMetric(metrics []Metric, name string, to any) error {
	at := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == name })
	if at < 0 {
		return nil
	}
	if err := json.Unmarshal(metrics[at].Value, to); err != nil {
		return Malformed("metric %q is not what the job wrote: %v", name, err)
	}
	return nil
}
