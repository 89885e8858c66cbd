package params

import (
	"maps"
	"slices"

	"github.com/gram-compute/gram/protocol"
)

// ClassWeights multiply the updates of records by their label; a label that is not named has 1.
type ClassWeights map[string]float64

// Bounds of a class weight.
const (
	minWeight = 1e-6
	maxWeight = 1e6
)

// Parameter declares class_weights.
func (w *ClassWeights) Parameter() Parameter {
	return Value("class_weights", w).Missing("1 for each").Checked(func() error { return w.check() }).
		Says("Factors of what a training record counts, by its label, each from 1e-6 to 1e6.")
}

func (w ClassWeights) check() error {
	for _, label := range slices.Sorted(maps.Keys(w)) {
		if x := w[label]; !(x >= minWeight && x <= maxWeight) {
			return protocol.SpecFault(
				"class_weights: the weight of %q is from %g to %g, not %v", label, minWeight, maxWeight, x)
		}
	}
	return nil
}

// By returns the weight of each of a model's labels, which are in byte order. A weight of another label is a
// *protocol.Fault of CodeSpecInvalid.
func (w ClassWeights) By(labels []string) ([]float64, error) {
	weights := slices.Repeat([]float64{1}, len(labels))
	for _, label := range slices.Sorted(maps.Keys(w)) {
		i, known := slices.BinarySearch(labels, label)
		if !known {
			const unknown = "spec.params: class_weights name the label %q, which no training record has"
			return nil, protocol.SpecFault(unknown, label).Suggest(label, labels)
		}
		weights[i] = w[label]
	}
	return weights, nil
}

// Costs returns cost times the weight of each label; see By.
func (w ClassWeights) Costs(cost float64, labels []string) ([]float64, error) {
	costs, err := w.By(labels)
	for i := range costs {
		costs[i] = float64(costs[i] * cost)
	}
	return costs, err
}
