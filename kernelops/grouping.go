package kernelops

import (
	"cmp"
	"slices"
)

// grouping deals centers into groups of near ones: halves by the direction from one of two distant centers to the
// other, and halves of these. How good the groups are changes the speed alone.
type grouping struct {
	centers *Centers
	order   []int32   // centers, group by group
	along   []float64 // how far a center is along the direction
}

func newGrouping(c *Centers) *grouping {
	g := &grouping{centers: c, order: make([]int32, c.rows), along: make([]float64, c.rows)}
	for j := range g.order {
		g.order[j] = int32(j)
	}
	return g
}

// places returns the place of each center among those of all groups, which have room for that many centers each.
func (g *grouping) places(groups, room int) []int32 {
	places := make([]int32, len(g.order))
	g.split(g.order, groups, 0, func(group int, members []int32) {
		for i, j := range members {
			places[j] = int32(group*room + i)
		}
	})
	return places
}

// split deals members into groups numbered from first.
func (g *grouping) split(members []int32, groups, first int, visit func(group int, members []int32)) {
	if groups == 1 {
		visit(first, members)
		return
	}
	g.sort(members)
	left := groups / 2
	at := (len(members)*left + groups - 1) / groups
	g.split(members[:at], left, first, visit)
	g.split(members[at:], groups-left, first+left, visit)
}

// sort orders members along the direction from the one farthest from the first to the one farthest from that.
func (g *grouping) sort(members []int32) {
	from := g.farthest(members, members[0])
	to := g.farthest(members, from)
	x, y := g.row(from), g.row(to)
	for _, j := range members {
		sum := 0.0
		for k, v := range g.row(j) {
			sum += float64(v * (y[k] - x[k]))
		}
		g.along[j] = sum
	}
	// total order: by number at a tie
	slices.SortFunc(members, func(i, j int32) int {
		return cmp.Or(cmp.Compare(g.along[i], g.along[j]), cmp.Compare(i, j))
	})
}

func (g *grouping) row(j int32) []float64 {
	return g.centers.values[int(j)*g.centers.cols:][:g.centers.cols]
}

// farthest returns the member farthest from a center, the first of equals.
func (g *grouping) farthest(members []int32, from int32) int32 {
	most, at, x := -1.0, members[0], g.row(from)
	for _, j := range members {
		sum := 0.0
		for k, v := range g.row(j) {
			t := v - x[k]
			sum += float64(t * t)
		}
		if sum > most {
			most, at = sum, j
		}
	}
	return at
}
