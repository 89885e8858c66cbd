package kernelmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/protocol"
)

// classWeights is the array of the weights of the classes in a model that does not hold its base.
const classWeights = "classes.weights" // F64 [classes]

// groups are the classes of a base, whether the model holds it or not.
type groups struct {
	base    *base     // class after class; nil where it is not stored
	first   []int     // rows of each class: class y has those from first[y] up to, not including, first[y+1]
	weights []float64 // of each class
}

// groupsOf are the classes of a stored base.
func groupsOf(space *features.Space, b *base) groups {
	classes := space.Labels.Len()
	return groups{b, b.bounds(classes), b.classWeights(classes)}
}

// unstored are the classes of a base that is not held.
func unstored(space *features.Space, weights []float64) groups {
	g := groups{first: make([]int, len(weights)+1), weights: weights}
	for y, n := range space.ClassRecords {
		g.first[y+1] = g.first[y] + int(n)
	}
	return g
}

// rows are those of all classes.
func (g groups) rows() int { return g.first[len(g.weights)] }

func (g groups) put(a jobs.Arrays) {
	if g.base != nil {
		g.base.put(a)
		return
	}
	jobs.Put(a, classWeights, g.weights)
}

// readGroups reads what put stored, with the space, and holds it against what training guarantees.
func readGroups(a jobs.Arrays) (*features.Space, groups, error) {
	space, err := readSpace(a)
	if err != nil {
		return nil, groups{}, err
	}
	classes := space.Labels.Len()
	if _, ok := a[classWeights]; ok {
		weights, err := jobs.Get[float64](a, classWeights, classes)
		if err != nil {
			return nil, groups{}, err
		}
		return space, unstored(space, weights), checkWeights(weights)
	}
	g := groups{}
	if g.base, err = baseOf(a, space); err != nil {
		return nil, groups{}, err
	}
	g.weights, g.first, err = g.base.checkClasses(classes)
	return space, g, err
}

// checkWeights holds the weights of classes against what training guarantees: two classes or more, each of some.
func checkWeights(weights []float64) error {
	if len(weights) < 2 {
		return jobs.Malformed("a base of %d classes", len(weights))
	}
	for y, w := range weights {
		if !(w > 0 && w-w == 0) {
			return jobs.Malformed("class %d of the base weighs %v", y, w)
		}
	}
	return nil
}

// needBase refuses to predict without the base.
func (g groups) needBase() error {
	if g.base != nil {
		return nil
	}
	return protocol.SpecFault("the model does not hold its base: a mean kernel value takes every training record").
		WithHint("Train with params.store_base, or name the records to decide in spec.queries of the job that trains.")
}

// kept says in a description where the base is.
func (g groups) kept() string {
	if g.base != nil {
		return ""
	}
	return ", not stored: set store_base for a model that predicts"
}
