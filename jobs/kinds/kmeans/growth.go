package kmeans

import (
	"cmp"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rows"
)

// How far a node of a growing tree is.
const (
	stageLeaf   = int32(iota)
	stageFirst  // the first seed of its split is drawn next
	stageSecond // the second
	stageMeans  // 2-means goes on
	stageSplit  // its children are final
	stageWhole  // its records are equal: it cannot be split
)

// maxActive bounds the nodes that are being split at a time.
const maxActive = 256

// growth is a tree of clusters that grows: each node is the records that reach it. Node 0 has all records.
type growth struct {
	id      []uint64 // of each node: by the sides on the way to it, so that draws do not depend on when it is split
	child   []int32  // the first of its two children, which follow each other; 0 for none
	stage   []int32
	rounds  []int32   // of 2-means so far
	ended   []int32   // why 2-means ended: a number of bisectingStops
	centers []float64 // of each node: of the root, zeros
	weight  []float64 // of each node, by the last round of its parent
	cost    []float64 // the same: sum of w |x - mu|^2; the root has 1
}

var bisectingStops = []string{stopUnchanged, stopTolerance, stopRounds}

func newGrowth(width int) *growth {
	g := &growth{}
	g.add(1, make([]float64, width))
	g.weight[0], g.cost[0], g.stage[0] = 1, 1, stageFirst
	return g
}

func (g *growth) add(id uint64, center []float64) {
	g.id, g.child, g.stage = append(g.id, id), append(g.child, 0), append(g.stage, stageLeaf)
	g.rounds, g.ended = append(g.rounds, 0), append(g.ended, 0)
	g.centers = append(g.centers, center...)
	g.weight, g.cost = append(g.weight, 0), append(g.cost, 0)
}

// Fields lists the tree.
func (g *growth) Fields(f *jobs.Fields, width int) {
	jobs.List(f, "bisecting.id", &g.id)
	n := len(g.id)
	f.Require(n > 0, "a tree without a root")
	jobs.List(f, "bisecting.child", &g.child, n)
	jobs.List(f, "bisecting.stage", &g.stage, n)
	jobs.List(f, "bisecting.rounds", &g.rounds, n)
	jobs.List(f, "bisecting.ended", &g.ended, n)
	jobs.List(f, "bisecting.centers", &g.centers, n, width)
	jobs.List(f, "bisecting.weight", &g.weight, n)
	jobs.List(f, "bisecting.cost", &g.cost, n)
	for i := range n {
		child, stage := int(g.child[i]), g.stage[i]
		has := child > i && child+1 < n
		f.Require(stage >= stageLeaf && stage <= stageWhole && has == (stage >= stageSecond && stage < stageWhole) &&
			(has || child == 0) && g.ended[i] >= 0 && int(g.ended[i]) < len(bisectingStops),
			"node %d of %d at stage %d has the child %d", i, n, stage, child)
	}
}

// childID mixes the id of a node and a side (splitmix64).
func childID(id uint64, side uint64) uint64 {
	z := 2*id + side + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (g *growth) center(node int32, width int) []float64 {
	return g.centers[int(node)*width : (int(node)+1)*width]
}

// divide gives a node two children, the first of which has a center.
func (g *growth) divide(node int32, first []float64) {
	g.child[node] = int32(len(g.id))
	g.add(childID(g.id[node], 0), first)
	g.add(childID(g.id[node], 1), make([]float64, len(first)))
}

// find returns the node that a row reaches, past the splits that are final.
func (g *growth) find(row []float32) (node int32) {
	for g.stage[node] == stageSplit {
		node = g.nearer(node, row)
	}
	return node
}

// nearer returns the child of a node that is nearer to a row, the first at a tie.
func (g *growth) nearer(node int32, row []float32) int32 {
	width, child := len(row), g.child[node]
	if rows.SquaredDistance(row, g.center(child+1, width)) < rows.SquaredDistance(row, g.center(child, width)) {
		return child + 1
	}
	return child
}

// active lists the nodes that are being split.
func (g *growth) active() (nodes []int32) {
	for i, stage := range g.stage {
		if stage == stageFirst || stage == stageSecond || stage == stageMeans {
			nodes = append(nodes, int32(i))
		}
	}
	return nodes
}

func (g *growth) divisible(node int32) bool { return g.stage[node] != stageWhole && g.cost[node] > 0 }

// size is what the cluster to split next has most of.
func (g *growth) size(node int32, bySize bool) float64 {
	if bySize {
		return g.weight[node]
	}
	return g.cost[node]
}

// greedy splits, k-1 times, the leaf with the most distortion, or weight: the first of equals. It calls split for each
// and returns the leaves. They are fewer than k if no leaf can be split; open reports that the split of the next leaf
// is not final yet. O(k^2).
func (g *growth) greedy(k int, bySize bool, split func(node int32)) (leaves []int32, open bool) {
	leaves = []int32{0}
	for len(leaves) < k {
		best := -1
		for at, node := range leaves {
			if g.divisible(node) && (best < 0 || g.size(node, bySize) > g.size(leaves[best], bySize)) {
				best = at
			}
		}
		if best < 0 {
			return leaves, false
		}
		node := leaves[best]
		if g.stage[node] != stageSplit {
			return leaves, true
		}
		split(node)
		leaves[best] = g.child[node]
		leaves = append(leaves, g.child[node]+1)
	}
	return leaves, false
}

// begin begins to split the leaves that may be split before there are k: as many of the largest as are missing.
func (g *growth) begin(leaves []int32, k int, bySize bool) {
	order := slices.DeleteFunc(slices.Clone(leaves), func(node int32) bool { return !g.divisible(node) })
	// total order: leaves of one size stay in the order of greedy
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(g.size(b, bySize), g.size(a, bySize)) })
	room := maxActive - len(g.active())
	for _, node := range order[:min(len(order), k-len(leaves))] {
		if g.stage[node] == stageLeaf && room > 0 {
			g.stage[node] = stageFirst
			room--
		}
	}
}

// tree returns the splits that greedy makes, with clusters numbered in lexicographic order of their centers, and the
// centers in that order.
func (g *growth) tree(leaves []int32, width int) (*tree, []float64) {
	order := slices.Clone(leaves)
	// total order: leaves with equal centers stay in the order of greedy
	slices.SortStableFunc(order, func(a, b int32) int {
		return slices.Compare(g.center(a, width), g.center(b, width))
	})
	number := make([]int32, len(g.id)) // ^ that of a cluster
	for i, node := range order {
		number[node] = ^int32(i)
	}
	var centers []float64
	for _, node := range order {
		centers = append(centers, g.center(node, width)...)
	}
	t, splits := &tree{}, []int32{0}
	for at := 0; at < len(splits); at++ {
		for side := range int32(2) {
			node := g.child[splits[at]] + side
			child := number[node]
			if child == 0 {
				child = int32(len(splits))
				splits = append(splits, node)
			}
			t.children = append(t.children, child)
			t.centers = append(t.centers, g.center(node, width)...)
		}
	}
	return t, centers
}

func (g *growth) clone() *growth {
	return &growth{slices.Clone(g.id), slices.Clone(g.child), slices.Clone(g.stage), slices.Clone(g.rounds),
		slices.Clone(g.ended), slices.Clone(g.centers), slices.Clone(g.weight), slices.Clone(g.cost)}
}
