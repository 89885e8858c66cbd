package margin

import (
	"math"

	"github.com/gram-compute/gram/jobs"
)

// Grid is the values of a function of two columns at steps+1 places from X0 to X1 and as many from Y0 to Y1.
type Grid struct {
	X0, X1, Y0, Y1 float64
	steps          int
	values         []float64 // [steps+1, steps+1], a row for each y
}

// GridOf spans all points of a picture, and so much around them that no picture with one scale for both axes shows
// more. It has no values yet.
func GridOf(groups []jobs.PointGroup, steps int) *Grid {
	g := &Grid{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1), steps, make([]float64, (steps+1)*(steps+1))}
	for _, group := range groups {
		for i, x := range group.X {
			g.X0, g.X1 = min(g.X0, x), max(g.X1, x)
			g.Y0, g.Y1 = min(g.Y0, group.Y[i]), max(g.Y1, group.Y[i])
		}
	}
	if g.X0 > g.X1 {
		return &Grid{X1: 1, Y1: 1, steps: steps, values: g.values}
	}
	const around, unequal = 1.25, 4
	across, down := float64(around*(g.X1-g.X0)), float64(around*(g.Y1-g.Y0))
	wide := across
	if down < unequal*across || across == 0 {
		wide = max(across, float64(around*down))
	}
	if across < unequal*down || down == 0 {
		down = max(down, across)
	}
	if wide == 0 {
		wide, down = max(2, math.Abs(g.X0)), max(2, math.Abs(g.Y0))
	}
	g.X0, g.X1 = spanAround(g.X0, g.X1, wide)
	g.Y0, g.Y1 = spanAround(g.Y0, g.Y1, down)
	return g
}

// spanAround is a span around the middle of another.
func spanAround(from, to, span float64) (low, high float64) {
	middle := from/2 + to/2
	return middle - span/2, middle + span/2
}

// Points are the places of the grid, in the order of the values.
func (g *Grid) Points() (list [][2]float64) {
	for i := range g.steps + 1 {
		for j := range g.steps + 1 {
			list = append(list, [2]float64{g.at(g.X0, g.X1, j), g.at(g.Y0, g.Y1, i)})
		}
	}
	return list
}

func (g *Grid) at(from, to float64, i int) float64 {
	return from + float64((to-from)*(float64(i)/float64(g.steps)))
}

// Set sets the value of a place.
func (g *Grid) Set(i int, v float64) { g.values[i] = v }

// edge is a side of a cell: from a place to the next one to the right, or above.
type edge struct {
	place int
	above bool
}

// Contour returns the curves where the function has a level, by marching squares: straight within a cell, between
// places that linear interpolation gives (Lorensen and Cline, "Marching cubes", SIGGRAPH 1987, in two dimensions).
// Where a cell has two pieces, the mean of its corners says how they run.
func (g *Grid) Contour(name string, level float64, dashed bool) (list []jobs.Curve) {
	var pieces [][2]edge
	for i := range g.steps {
		for j := range g.steps {
			pieces = append(pieces, g.cell(i*(g.steps+1)+j, level)...)
		}
	}
	for _, chain := range chains(pieces) {
		c := jobs.Curve{Name: name, Dashed: dashed}
		for _, e := range chain {
			x, y := g.crossing(e, level)
			c.X, c.Y = append(c.X, x), append(c.Y, y)
		}
		list = append(list, c)
	}
	return list
}

// cell returns the pieces of a contour in a cell, by the edges that they lead from and to.
func (g *Grid) cell(place int, level float64) [][2]edge {
	n := g.steps + 1
	corners := [4]int{place, place + 1, place + n + 1, place + n} // around the cell
	sides := [4]edge{{place, false}, {place + 1, true}, {place + n, false}, {place, true}}
	var crossed []edge
	mean := 0.0
	for k, c := range corners {
		mean += g.values[c] / 4
		if (g.values[c] >= level) != (g.values[corners[(k+1)%4]] >= level) {
			crossed = append(crossed, sides[k])
		}
	}
	switch {
	case len(crossed) == 2:
		return [][2]edge{{crossed[0], crossed[1]}}
	case len(crossed) == 4 && (mean >= level) == (g.values[place] >= level):
		return [][2]edge{{crossed[0], crossed[1]}, {crossed[2], crossed[3]}}
	case len(crossed) == 4:
		return [][2]edge{{crossed[3], crossed[0]}, {crossed[1], crossed[2]}}
	}
	return nil
}

// crossing is where a contour crosses an edge.
func (g *Grid) crossing(e edge, level float64) (x, y float64) {
	n := g.steps + 1
	i, j, next := e.place/n, e.place%n, e.place+1
	if e.above {
		next = e.place + n
	}
	part := (level - g.values[e.place]) / (g.values[next] - g.values[e.place])
	x, y = g.at(g.X0, g.X1, j), g.at(g.Y0, g.Y1, i)
	if e.above {
		return x, y + float64(part*(g.at(g.Y0, g.Y1, i+1)-y))
	}
	return x + float64(part*(g.at(g.X0, g.X1, j+1)-x)), y
}

// chains joins pieces that meet. Each edge is in one or two pieces.
func chains(pieces [][2]edge) (list [][]edge) {
	at := make(map[edge][]int, len(pieces)) // pieces of an edge
	for i, p := range pieces {
		at[p[0]], at[p[1]] = append(at[p[0]], i), append(at[p[1]], i)
	}
	used := make([]bool, len(pieces))
	follow := func(from edge) (chain []edge) {
		for chain = []edge{from}; ; chain = append(chain, from) {
			next := -1
			for _, i := range at[from] {
				if !used[i] {
					next = i
				}
			}
			if next < 0 {
				return chain
			}
			used[next] = true
			if p := pieces[next]; p[0] == from {
				from = p[1]
			} else {
				from = p[0]
			}
		}
	}
	begin := func(open bool) {
		for i, p := range pieces {
			for _, e := range p {
				if !used[i] && (!open || len(at[e]) == 1) {
					list = append(list, follow(e))
				}
			}
		}
	}
	begin(true) // those that end at the border first
	begin(false)
	return list
}
