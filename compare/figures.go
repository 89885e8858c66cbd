package compare

import (
	"maps"
	"slices"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// Figure is a figure of the evaluation on held-out records that differs.
type Figure struct {
	Name  string  `json:"name"`
	Left  float64 `json:"left"`
	Right float64 `json:"right"`
}

// evaluated are the figures of an evaluation, by name: numbers, not the tables of single records and labels.
func evaluated(metrics []jobs.Metric) map[string]float64 {
	found := map[string]float64{}
	for _, m := range metrics {
		prefix := ""
		switch m.Name {
		case "evaluation", "evaluation.regression":
		case "evaluation.scores", "evaluation.ranking", "evaluation.risk":
			prefix = strings.TrimPrefix(m.Name, "evaluation.") + "."
		default:
			continue
		}
		Scalars([]jobs.Metric{m}, func(s Scalar) { // which bounds names: the report is a worker's
			if s.Word == "" {
				found[prefix+strings.TrimPrefix(strings.TrimPrefix(s.Name, m.Name), ".")] = s.Number
			}
		})
	}
	return found
}

func figures(a, b map[string]float64) []Figure {
	names := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(names)
	found := []Figure{}
	for _, name := range slices.Compact(names) {
		x, inA := a[name]
		y, inB := b[name]
		if inA && inB && x != y {
			found = append(found, Figure{name, x, y})
		}
	}
	return found
}
