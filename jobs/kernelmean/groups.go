package kernelmean

import (
	"fmt"
	"slices"
	"strings"

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

// Fields lists the classes of a space, and holds them against what training guarantees: two or more, each of some
// weight, and rows class after class.
func (g *groups) Fields(f *jobs.Fields, space *features.Space) {
	if f.Has(classWeights, g.base == nil) {
		jobs.List(f, classWeights, &g.weights, space.Labels.Len())
		if f.Reading() {
			*g = unstored(space, g.weights)
		}
	} else {
		b := jobs.Make(f, &g.base)
		b.Fields(f)
		f.Check(func() error { return b.checkIn(space) })
		f.Require(slices.IsSorted(b.class), "the rows of a base are out of the order of their classes")
		if f.Reading() {
			*g = groupsOf(space, b)
		}
	}
	f.Require(len(g.weights) >= 2, "a base of %d classes", len(g.weights))
	for y, w := range g.weights {
		f.Require(w > 0 && w-w == 0, "class %d of the base weighs %v", y, w)
	}
}

// needBase refuses to predict without the base.
func (g *groups) needBase() error {
	if g.base != nil {
		return nil
	}
	return protocol.SpecFault("the model does not hold its base: a mean kernel value takes every training record").
		WithHint("Train with params.store_base, or name the records to decide in spec.queries of the job that trains.")
}

// size tells people how large the base is, and where.
func (g *groups) size(space *features.Space) string {
	where := ""
	if g.base == nil {
		where = ", not stored: set store_base for a model that predicts"
	}
	classes := len(g.weights)
	return fmt.Sprintf("%d classes, %d records of width %d%s", classes, g.first[classes], space.Width, where)
}

// list lists classes with a value of each.
func (g *groups) list(b *strings.Builder, space *features.Space, what string, values []float64) {
	fmt.Fprintf(b, "%-24s %10s  %s\n", "class", "records", what)
	for y, v := range values[:min(len(values), maxShown)] {
		fmt.Fprintf(b, "%-24.24s %10d  %.6g\n", space.Labels.At(y), g.first[y+1]-g.first[y], v)
	}
	if more := len(values) - maxShown; more > 0 {
		fmt.Fprintf(b, "and %d more\n", more)
	}
}

// maxShown bounds the classes that are listed.
const maxShown = 20
