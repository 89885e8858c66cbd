package main

import (
	"context"

	"github.com/gram-compute/gram/benchmarks/measure"
	"github.com/gram-compute/gram/benchmarks/peers"
	"github.com/gram-compute/gram/jobs/perceptron"
	"github.com/gram-compute/gram/kernelops"
)

// epochs after the first, whose mean counts: what a peer does once before and after it iterates
// is not counted against it, so neither is ours.
const epochs = 4

// openPerceptronSparse learns two classes from CSR rows, in order, without a bias.
func openPerceptronSparse(_ context.Context, e env) (contender, func() error, error) {
	const n, filled, width = 200_000, 110, 100_000
	at := peers.Columns(e.seed, 0, n, filled, width)
	values := small(e.seed, 1, n*filled)
	rows := make([]perceptron.Row, n)
	for i := range rows {
		rows[i] = perceptron.Row{Index: at[i*filled:][:filled], Values: values[i*filled:][:filled]}
	}
	truth := small(e.seed, 2, width)
	return learns(perceptron.Setup{Classes: 2, Width: width, Sparse: true}, rows, func(x perceptron.Row) (score float32) {
		for p, j := range x.Index {
			score += float32(x.Values[p] * truth[j])
		}
		return score
	})
}

// openPerceptronDense does the same with dense rows.
func openPerceptronDense(_ context.Context, e env) (contender, func() error, error) {
	const n, width = 100_000, 784
	values := small(e.seed, 0, n*width)
	rows := make([]perceptron.Row, n)
	for i := range rows {
		rows[i].Values = values[i*width:][:width]
	}
	truth := small(e.seed, 1, width)
	return learns(perceptron.Setup{Classes: 2, Width: width}, rows, func(x perceptron.Row) (score float32) {
		for j, v := range x.Values {
			score += float32(v * truth[j])
		}
		return score
	})
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

// learns is a perceptron that learns rows whose class is the sign of their score.
func learns(setup perceptron.Setup, rows []perceptron.Row, score func(perceptron.Row) float32) (contender, func() error, error) {
	class := make([]int, len(rows))
	for i, x := range rows {
		if score(x) > 0 {
			class[i] = 1
		}
	}
	run := func() (measure.Sample, error) {
		learner := perceptron.NewLearner(setup, kernelops.Best())
		epoch := func() {
			for i, x := range rows {
				learner.Learn(x, class[i], 1)
			}
		}
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
