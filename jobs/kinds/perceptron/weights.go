package perceptron

import "slices"

// Weights returns the last weights, row after row: a weight for each column, then the bias.
func (l *Learner) Weights() []float32 { return slices.Clone(l.weights) }
