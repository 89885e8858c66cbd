package main

import (
	"fmt"

	"github.com/gram-compute/gram/internal/measure"
)

// goal is a figure to reach.
type goal struct {
	id       string
	what     string
	workload string
	against  string // the contender whose time is divided by Gram's; "": Gram's own time counts, in milliseconds
	bound    float64
}

// goals are those of a whole run.
func goals() []goal {
	return []goal{
		{"bayes-sklearn", "naive Bayes counting of 200k x 100k CSR, 20 classes, against MultinomialNB.fit", bayes,
			sklearn, 4},
		{"perceptron-sparse-sklearn",
			"perceptron epoch over 200k x 100k CSR in the order of the rows, 2 classes, against scikit-learn",
			perceptronSparse, sklearn, 2},
		{"perceptron-dense-sklearn",
			"perceptron epoch over 100k x 784 in the order of the rows, 2 classes, against scikit-learn",
			perceptronDense, sklearn, 6},
		{"kmeans-sklearn", "k-means job 500k x 32, k=256, 10 rounds, two workers, against KMeans.fit", kmeans, sklearn,
			2},
		{"knn-sklearn", "3-NN job of MNIST 60,000/10,000 against KNeighborsClassifier", knn, sklearn, 2},
		{"round", "round of a job of four tiny shards on the directory store", rounds, "", 15},
	}
}

// sklearn is scikit-learn among the contenders.
const sklearn = "sklearn"

// verdict is a goal and what was measured.
type verdict struct {
	goal
	measured measure.Spread // by round
	missing  string         // why there is no measurement; "" if there is
}

func (v verdict) met() bool {
	switch {
	case v.missing != "":
		return false
	case v.against == "":
		return v.measured.Median <= v.bound
	}
	return v.measured.Median >= v.bound
}

// judge holds the results to a goal.
func (g goal) judge(results []result) verdict {
	v := verdict{goal: g, missing: g.workload + " was not run"}
	for _, r := range results {
		if r.id != g.workload {
			continue
		}
		if g.against == "" {
			v.measured, v.missing = measure.SpreadOf(milliseconds(r.seconds(r.entries[0]))), ""
		} else if other, ok := r.find(g.against); ok {
			v.measured, v.missing = measure.SpreadOf(r.ratios(other)), ""
		} else {
			v.missing = "no contender " + g.against
		}
	}
	return v
}

func milliseconds(seconds []float64) []float64 {
	for i := range seconds {
		seconds[i] *= 1e3
	}
	return seconds
}

// show writes a figure of the goal.
func (g goal) show(x float64) string {
	if g.against == "" {
		return measure.Digits(x) + " ms"
	}
	return fmt.Sprintf("%.2fx", x)
}

// asks is the bound in words.
func (g goal) asks() string {
	if g.against == "" {
		return "at most " + g.show(g.bound)
	}
	return "at least " + g.show(g.bound)
}
