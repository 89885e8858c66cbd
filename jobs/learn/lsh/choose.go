package lsh

import (
	"math"
	"slices"
)

// Goal is what tables, hashes and a width are chosen for. Near and Far hold at least one distance each.
type Goal struct {
	Recall float64
	Near   []float64 // distances of neighbors that were found exactly
	Far    []float64 // distances of queries and records drawn at random
	// Records and Queries are how many there are of each.
	Records, Queries int64
	Width            float64 // given; 0 where it is chosen
	Columns          int     // of the rows
}

// How many distances of a sample are looked at: evenly spread over all of them.
const (
	mostNear = 256
	mostFar  = 1024
)

// widths are how many widths are tried: from half the median distance of a neighbor on, by factors of sqrt(2).
const widths = 12

// Choose returns the curve that reaches the recall, on average over Near, at the least cost of a query: candidates, by
// Far, and products with random rows. A query is hashed once, and a record of the base once for all queries, so their
// products are counted as (1 + records / queries) for each function. For each number of hashes and each width there are
// as few tables as will do. Ties go to the lesser width, and then to fewer hashes. It returns false if MaxTables tables
// of one hash do not reach the recall, or as many as the columns allow.
func Choose(f Family, goal Goal) (best Curve, ok bool) {
	near, far := spread(goal.Near, mostNear), spread(goal.Far, mostFar)
	least := math.Inf(1)
	ofFunction := 1 + float64(goal.Records)/float64(max(1, goal.Queries))
	for _, width := range goal.widths(f, near, far) {
		c := Curve{Family: f, Width: width, Columns: goal.Columns}
		nearOne, farOne := c.agreeAll(near), c.agreeAll(far)
		nearAll, farAll := slices.Clone(nearOne), slices.Clone(farOne)
		for c.Hashes = 1; c.Hashes <= MaxHashes; c.Hashes++ {
			c.Tables = tables(nearAll, goal.Recall, c.Tables, mostTables(f, c.Hashes, c.Columns))
			functions := float64(ofFunction * float64(c.Functions()))
			if c.Tables == 0 || functions >= least {
				break // more hashes take more tables
			}
			if cost := float64(float64(goal.Records)*meanOf(farAll, c.Tables)) + functions; cost < least {
				best, least = c, cost
			}
			multiply(nearAll, nearOne)
			multiply(farAll, farOne)
		}
	}
	return best, best.Tables > 0
}

// spread sorts a copy of distances and returns at most most of them, evenly spread.
func spread(distances []float64, most int) []float64 {
	all := slices.Clone(distances)
	slices.Sort(all)
	n := len(all)
	if n <= most {
		return all
	}
	picked := make([]float64, most)
	for i := range picked {
		picked[i] = all[(2*i+1)*n/(2*most)]
	}
	return picked
}

// widths are those that are tried.
func (goal Goal) widths(f Family, near, far []float64) []float64 {
	switch {
	case !f.Wide():
		return []float64{0}
	case goal.Width > 0:
		return []float64{goal.Width}
	}
	unit := near[len(near)/2]
	if unit == 0 {
		unit = firstAbove(near, firstAbove(far, 1))
	}
	all := make([]float64, widths)
	for i := range all {
		all[i] = float64(unit * math.Ldexp(0.5, i/2))
		if i%2 == 1 {
			all[i] = float64(all[i] * math.Sqrt2)
		}
		all[i] = min(maxWidth, max(minWidth, all[i]))
	}
	return all
}

// firstAbove is the least distance above 0, or otherwise a number in its place.
func firstAbove(sorted []float64, otherwise float64) float64 {
	for _, d := range sorted {
		if d > 0 {
			return d
		}
	}
	return otherwise
}

func (c Curve) agreeAll(distances []float64) []float64 {
	all := make([]float64, len(distances))
	for i, d := range distances {
		all[i] = c.Agree(d)
	}
	return all
}

// mostTables is how many tables of a number of hashes there may be.
func mostTables(f Family, hashes, columns int) int {
	if f == Bits {
		return MaxTables // without random numbers
	}
	return min(MaxTables, MaxNumbers/max(1, columns)/hashes)
}

// tables is the least number of tables, from least on, whose mean is at least recall; 0 if that is more than most.
func tables(collide []float64, recall float64, least, most int) int {
	below, reached := max(0, least-1), max(1, least)
	for reached < most && meanOf(collide, reached) < recall {
		below, reached = reached, min(most, 2*reached)
	}
	if reached > most || meanOf(collide, reached) < recall {
		return 0
	}
	for reached-below > 1 {
		middle := (below + reached) / 2
		if meanOf(collide, middle) >= recall {
			reached = middle
		} else {
			below = middle
		}
	}
	return reached
}

// meanOf is the mean probability of a collision in at least one of a number of tables.
func meanOf(collide []float64, tables int) float64 {
	sum := 0.0
	for _, q := range collide {
		sum += some(q, tables)
	}
	return sum / float64(len(collide))
}

func multiply(all, by []float64) {
	for i, p := range by {
		all[i] = float64(all[i] * p)
	}
}
