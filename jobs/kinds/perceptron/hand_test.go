package perceptron

import (
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// Worked by hand, without shuffling; "y" is +1. From w = (0, 0), b = 0:
//
//	t  x       y   y(<w,x>+b)   w, b after
//	0  (1, 0)  +1  0            (1, 0), 1
//	1  (0, 2)  -1  -1           (1, -2), 0
//	2  (2, 1)  +1  0            (3, -1), 1
//	3  (1, 0)  +1  4
//	4  (0, 2)  -1  1
//	5  (2, 1)  +1  6
//
// Epoch 2 makes no mistake. The mean of w after each step is ((1+1+3+3+3+3)/6, (0-2-1-1-1-1)/6) =
// (14/6, -1), of b (1+0+1+1+1+1)/6 = 5/6. u is the sum of t times the update: 1*(0, -2) + 2*(2, 1) = (4, 0),
// of b -1 + 2 = 1. The margin is 1/|(3, -1, 1)| = 1/sqrt(11), of (0, 2); R^2 = |(2, 1, 1)|^2 = 6.
var three = jobstest.DenseRecords([][]float32{{1, 0}, {0, 2}, {2, 1}}, "y", "n", "y")

func TestByHand(t *testing.T) {
	result := train(t, `{"shuffle": false}`, three[:2], three[2:])
	m := modelOf(t, result)
	if !slices.Equal(m.weights, []float32{3, -1, 1}) || !slices.Equal(m.sums, []float64{4, 0, 1}) || m.steps != 6 {
		t.Errorf("weights %v, sums %v, steps %d", m.weights, m.sums, m.steps)
	}
	if mean := m.deciding(); !slices.Equal(mean, []float32{float32(14.0 / 6), -1, float32(5.0 / 6)}) {
		t.Errorf("mean %v", mean)
	}
	if !slices.Equal(m.epochMistakes, []int64{3, 0}) || !m.separated {
		t.Errorf("mistakes %v", m.epochMistakes)
	}
	if r := m.radius * m.radius; math.Abs(m.margin[0]-1/math.Sqrt(11)) > 1e-15 || math.Abs(r-6) > 1e-12 ||
		math.Abs(m.bound-66) > 1e-9 {
		t.Errorf("margin %v, radius^2 %v, bound %v", m.margin, r, m.bound)
	}
	if n := wrong(t, result.Model, three); n != 0 {
		t.Errorf("%d wrong", n)
	}
}

// The same records: w_0 = 0 met none, (1, 0, 1) met one, (1, -2, 0) met one, (3, -1, 1) met four.
func TestVotesByHand(t *testing.T) {
	m := modelOf(t, train(t, `{"shuffle": false, "form": "voted"}`, three[:2], three[2:]))
	if !slices.Equal(m.vectors, []float32{1, 0, 1, 1, -2, 0}) || !slices.Equal(m.survived, []int64{1, 1, 4}) {
		t.Errorf("vectors %v survived %v", m.vectors, m.survived)
	}
}

// argmax, worked by hand; rows a, b, c, no bias, x of one hot column and one of all.
//
//	(1, 0) a: all 0; the best of the others is b: a = (1, 0), b = (-1, 0)
//	(0, 1) b: all 0; the best other is a: b = (-1, 1), a = (1, -1)
//	(1, 1) c: a 0, b 0, c 0; the best other is a: c = (1, 1), a = (0, -2)
func TestArgMaxByHand(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{1, 0}, {0, 1}, {1, 1}}, "a", "b", "c")
	m := modelOf(t, train(t, `{"shuffle": false, "form": "plain", "epochs": 1, "bias": false}`, records))
	if !slices.Equal(m.weights, []float32{0, -2, 0, -1, 1, 0, 1, 1, 0}) {
		t.Errorf("weights %v", m.weights)
	}
}
