package main

import (
	"context"

	"github.com/gram-compute/gram/benchmarks/peers"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/jobs/kinds/perceptron"
	"github.com/gram-compute/gram/kernelops"
)

// epochs after the first, whose mean counts: what a peer does once before and after it iterates
// is not counted against it, so neither is ours.
const epochs = 4

// openPerceptronSparse learns two classes from CSR rows, in order, without a bias.
func openPerceptronSparse(_ context.Context, e env) (contender, func() error, error) {
	return learns(sparseRows(e))
}

// openPerceptronDense does the same with dense rows.
func openPerceptronDense(_ context.Context, e env) (contender, func() error, error) {
	return learns(denseRows(e))
}

// task is what a perceptron of two classes learns.
type task struct {
	setup perceptron.Setup
	rows  []perceptron.Record // of class 1 where the product with the truth is above 0
}

func sparseRows(e env) task {
	const n, filled, width = 200_000, 110, 100_000
	at := peers.Columns(e.seed, 0, n, filled, width)
	values := small(e.seed, 1, n*filled)
	t := task{perceptron.Setup{Classes: 2, Width: width, Sparse: true}, make([]perceptron.Record, n)}
	for i := range t.rows {
		t.rows[i].Index, t.rows[i].Values = at[i*filled:][:filled], values[i*filled:][:filled]
	}
	t.label(small(e.seed, 2, width))
	return t
}

func denseRows(e env) task {
	const n, width = 100_000, 784
	values := small(e.seed, 0, n*width)
	t := task{perceptron.Setup{Classes: 2, Width: width}, make([]perceptron.Record, n)}
	for i := range t.rows {
		t.rows[i].Values = values[i*width:][:width]
	}
	t.label(small(e.seed, 1, width))
	return t
}

// label gives each row the class that the true weights decide for.
func (t task) label(truth []float32) {
	for i, class := range t.decide(truth) {
		t.rows[i].Class, t.rows[i].Weight = class, 1
	}
}

// decide returns the class that weights give to each row.
func (t task) decide(weights []float32) []int32 {
	ops, class := kernelops.Best(), make([]int32, len(t.rows))
	for i, x := range t.rows {
		var score float32
		if t.setup.Sparse {
			score = ops.SparseDot(x.Index, x.Values, weights)
		} else {
			score = ops.Dot(weights, x.Values)
		}
		if score > 0 {
			class[i] = 1
		}
	}
	return class
}

// small are whole numbers from -8 to 7: every sum of their products is exact in float32, so that the weights of
// any two perceptrons are the same however they add.
func small(seed, stream uint64, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(peers.Word(seed, stream, uint64(i))>>60) - 8
	}
	return x
}

// learns is a perceptron that learns the rows of a task in their order.
func learns(t task) (contender, func() error, error) {
	run := func() (measure.Sample, error) {
		learner := perceptron.NewLearner(t.setup, kernelops.Best())
		epoch := func() { learner.LearnAll(t.rows) }
		epoch()
		s := measure.Timed(epoch, epochs)
		s.Wall, s.CPU, s.Times = s.Wall/epochs, s.CPU/epochs, 1
		for _, w := range learner.Weights() {
			s.Checksum += float64(w) * float64(w)
		}
		return s, nil
	}
	return contender{ours, run}, nothing, nil
}
