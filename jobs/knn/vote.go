package knn

// voter decides by a list of neighbors: the last line of Algorithm 2. One goroutine at a time.
type voter struct {
	params  Params
	classes int
	votes   []float64 // of each class
	first   []int     // of each class: its first place in the list
}

func newVoter(p Params, classes int) *voter {
	return &voter{params: p, classes: classes, votes: make([]float64, classes), first: make([]int, classes)}
}

// weights calls add with each neighbor of a list and the weight of its vote, in the
// order of the list.
func (v *voter) weights(list []neighbor, add func(place int, weight float64)) {
	of := v.params.Metric
	switch {
	case v.params.Weights != weightsDistance:
		for i := range list {
			add(i, 1)
		}
	case len(list) > 0 && of.distance(list[0].key) == 0:
		for i, n := range list {
			if of.distance(n.key) == 0 {
				add(i, 1)
			}
		}
	default:
		for i, n := range list {
			add(i, 1/of.distance(n.key))
		}
	}
}

// classify returns the class that wins and its share of the votes; class -1 means refused.
func (v *voter) classify(list []neighbor) (class int, share float64) {
	clear(v.votes)
	for y := range v.first {
		v.first[y] = len(list)
	}
	total := 0.0
	v.weights(list, func(place int, weight float64) {
		y := int(list[place].target) //lint:checked the number of a label
		v.votes[y] += weight
		v.first[y] = min(v.first[y], place)
		total += weight
	})
	if !(total > 0) {
		return -1, 0
	}
	best := 0
	for y := range v.votes {
		if v.before(y, best) {
			best = y
		}
	}
	share = v.votes[best] / total
	if share < v.params.RejectBelow {
		return -1, share
	}
	return best, share
}

// before reports whether class y wins over class z, which has the lesser number: classes are
// numbered in the byte order of their labels.
func (v *voter) before(y, z int) bool {
	if v.votes[y] != v.votes[z] {
		return v.votes[y] > v.votes[z]
	}
	return v.params.Ties == tiesNearest && v.first[y] < v.first[z]
}

// regress returns the weighted mean of the neighbors' values; ok is false without neighbors.
func (v *voter) regress(list []neighbor) (value float64, ok bool) {
	total, weightSum := 0.0, 0.0
	v.weights(list, func(place int, weight float64) {
		total += float64(weight * list[place].target)
		weightSum += weight
	})
	if !(weightSum > 0) {
		return 0, false
	}
	return total / weightSum, true
}
