package jobs

import (
	"encoding/json"
	"fmt"
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
