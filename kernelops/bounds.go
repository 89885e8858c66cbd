package kernelops

import "math"

// Bounds are what is known from round to round of k-means about how far rows are from centers that are not their own.
// They spare distances and change no result: Nearest of Bounds returns what Nearest of the Set does. (Ding, Zhao, Shen,
// Musuvathi and Mytkowicz, "Yinyang k-means: a drop-in replacement of the classic k-means with consistent speedup",
// ICML 2015, with the centers in up to 16 groups.) What they hold differs from set to set: keep them in memory only.
type Bounds struct {
	set              *Set
	cols             int
	groups, perGroup int         // panels of each group
	place            []int32     // of each center among those of all panels
	values           []float64   // the centers that lower is about
	lower            []float32   // [rows x boundGroups]: no center of the group but the row's own is nearer
	looks            int64       // at groups of centers, since the last Move
	eight            *boundBytes // nil without rows of bytes, or with too few panels

	// of the round
	centers     *Centers
	panels, low []float32
	drift       [boundGroups]float32
	constants   [6]float32
	near        boundScratch
}

// boundGroups is how many groups of centers a row has bounds for, and panelLanes how many centers a panel has.
const (
	boundGroups = 16
	panelLanes  = 16
)

// screenSteps bounds the fused steps of a call of screen, and of one row in it.
const screenSteps = 1 << 20

// A screen is asm.ScreenAVX512.
type screen func(lower, drift, upper *float32, own *int32, pending *uint32, x *float32, xStride int, origin, shifted,
	panels, low *float32, dim, perGroup, groups, rows int, constants *float32) (computed int)

// NewBounds returns bounds that say nothing yet, about a number of rows of which each has a center in c. It returns nil
// where distances are computed as fast without: the set has no kernel for it, there is one center, or a row takes more
// than screenSteps. bytes are the same rows, or nil.
func NewBounds(s *Set, c *Centers, rows int, bytes *ByteRows) *Bounds {
	if s.screen == nil || c.matrix == nil || c.rows < 2 {
		return nil
	}
	panels := (c.rows + panelLanes - 1) / panelLanes
	b := &Bounds{set: s, cols: c.cols, groups: min(panels, boundGroups), values: c.values}
	b.perGroup = (panels + b.groups - 1) / b.groups
	if c.cols > screenSteps/(b.groups*b.perGroup) {
		return nil
	}
	b.place = newGrouping(c).places(b.groups, b.perGroup*panelLanes)
	b.lower = make([]float32, rows*boundGroups)
	b.eight = newBoundBytes(s, bytes, b.groups*b.perGroup)
	relative := c.bound.relative
	b.constants = [...]float32{1 - 0x1p-22, roundDown32(1 - float64(2*relative)),
		roundDown32(float64(-2 * c.bound.absolute)), maxNorm, 1 - 0x1p-20, 0}
	b.Move(c)
	return b
}

// Rows returns the number of rows.
func (b *Bounds) Rows() int { return len(b.lower) / boundGroups }

// Bytes is about how much memory bounds take.
func (b *Bounds) Bytes() int64 {
	return int64(4*len(b.lower)+16*len(b.values)+8*len(b.panels)) + b.eight.bytes()
}

// Share returns how much of the distances were computed since the last Move: 1 is each row with each center, once. A
// group that is looked at by 8 bits and then in float32 counts twice.
func (b *Bounds) Share() float64 { return float64(b.looks) / float64(max(1, b.Rows()*b.groups)) }

// Spares reports whether rounds like the last one are faster with bounds than without.
func (b *Bounds) Spares() bool {
	if b.eight != nil && b.eight.usable {
		return b.Share() < 1.2
	}
	return b.Share() < 0.5
}

// Move replaces the centers: center j has moved from where it was. It returns false, and the bounds are of no more use,
// if there is another number of centers, or there are no bounds for them.
func (b *Bounds) Move(c *Centers) bool {
	if c.matrix == nil || len(c.values) != len(b.values) || c.cols != b.cols {
		return false
	}
	clear(b.drift[:])
	for j, place := range b.place {
		from, to := j*b.cols, (j+1)*b.cols
		g := int(place) / (b.perGroup * panelLanes)
		b.drift[g] = max(b.drift[g], drift(b.values[from:to], c.values[from:to]))
	}
	b.centers, b.values, b.looks = c, c.values, 0
	b.pack()
	return true
}

// drift is at least the distance of two points.
func drift(x, y []float64) float32 {
	sum, same := 0.0, true
	for j, v := range x {
		t := v - y[j]
		sum += float64(t * t)
		same = same && v == y[j]
	}
	if same {
		return 0
	}
	return above(sum)
}

// above is more than the root of a squared distance computed in float64, of up to a million columns. It is a normal
// number: what underflows is below it.
func above(sqDist float64) float32 {
	d := float32(float64(math.Sqrt(sqDist) * (1 + 0x1p-20)))
	if d >= 0x1p-126 {
		return d
	}
	if d >= 0 {
		return 0x1p-126
	}
	return float32(math.Inf(1)) // of a NaN
}

// below is less than the root of a squared distance computed in float64, if it is above 0.
func below(sqDist float64) float32 {
	if d := float32(float64(math.Sqrt(sqDist) * (1 - 0x1p-20))); d >= 0x1p-126 && d < float32(math.Inf(1)) {
		return d
	}
	return 0
}

// pack lays the centers out by place, less the origin.
func (b *Bounds) pack() {
	c, n := b.centers, b.groups*b.perGroup*panelLanes
	b.panels, b.low = Resize(b.panels, n*b.cols), Resize(b.low, n)
	clear(b.panels)
	for i := range b.low {
		b.low[i] = float32(math.Inf(1))
	}
	for j, place := range b.place {
		b.low[place] = c.low[j]
		panel, lane := b.panels[int(place)/panelLanes*panelLanes*b.cols:], int(place)%panelLanes
		for k, v := range c.values[j*b.cols : (j+1)*b.cols] {
			panel[k*panelLanes+lane] = float32(v - float64(c.origin[k]))
		}
	}
	if b.eight != nil {
		b.eight.pack(c, b.place)
		b.constants[5] = b.eight.unit
	}
}

// boundScratch is the memory of Bounds.Nearest.
type boundScratch struct {
	upper    []float32
	own      []int32
	pending  []uint32
	shifted  []float32
	open     []int32   // rows of x whose center is not decided yet
	rows     []float32 // those rows
	index    []int32
	sqDist   []float64
	lower    []float32
	moved    []int32
	from, to []int32
}

// Nearest is Set.Nearest for the centers of the last Move, and for the rows from number first on. index has the
// centers of the rows before that Move. It returns the rows of x that have another center now, and the centers that
// they had.
//
// A row keeps its center without a look at a group of others if their bound, less what the group's farthest center
// moved, is above the row's distance. The bound of another group is found anew: by 8 bits where there are such rows, or
// in float32 and rounded against us (nearestBound). Rows with a group that is not farther then are decided by
// Set.Nearest. Distances are those of GroupDistances.
func (b *Bounds) Nearest(index []int32, sqDist []float64, x Matrix, first int, ws *Workspace) (moved, from []int32) {
	x.check()
	switch {
	case len(index) != x.Rows || len(sqDist) != x.Rows:
		panic("kernelops: result has the wrong shape")
	case x.Cols != b.cols:
		panic("kernelops: points have different dimensions")
	case first < 0 || first > b.Rows()-x.Rows:
		panic("kernelops: bounds of other rows")
	}
	n := &b.near
	n.moved, n.from, n.open = n.moved[:0], n.from[:0], n.open[:0]
	lower := b.lower[first*boundGroups : (first+x.Rows)*boundGroups]
	height := b.height()
	for i := 0; i < x.Rows; i += height {
		end := min(i+height, x.Rows)
		b.screen(index[i:end], sqDist[i:end], lower[i*boundGroups:end*boundGroups], x.RowRange(i, end), first+i,
			&b.drift)
		for r, pending := range n.pending[:end-i] {
			if pending != 0 {
				n.open = append(n.open, int32(i+r))
			}
		}
	}
	if len(n.open) > 0 {
		b.decide(index, sqDist, lower, x, ws)
	}
	return n.moved, n.from
}

// height is how many rows screen takes in a call.
func (b *Bounds) height() int {
	return min(max(screenSteps/(b.cols*b.groups*b.perGroup), 1), blockRows)
}

// screen sets sqDist to the distances of rows to their centers, and n.pending to the groups that may be as near. The
// rows are those from number first on; below 0, others.
func (b *Bounds) screen(index []int32, sqDist []float64, lower []float32, x Matrix, first int,
	drift *[boundGroups]float32) {
	n, s := &b.near, b.set
	n.upper, n.own = Resize(n.upper, x.Rows), Resize(n.own, x.Rows)
	n.pending, n.shifted = Resize(n.pending, x.Rows), Resize(n.shifted, b.cols)
	s.GroupDistances(sqDist, x, b.values, index)
	for i, d := range sqDist {
		n.upper[i], n.own[i] = above(d), b.place[index[i]]
	}
	computed, rest := 0, drift
	if e := b.eight; e != nil && e.usable && first >= 0 {
		e.rows.add(x, first)
		for at := 0; at < x.Rows; {
			p, from, rows := e.rows.part(first+at, x.Rows-at)
			computed += e.screen(&lower[at*boundGroups], &drift[0], &n.upper[at], &n.own[at], &n.pending[at],
				&p.words[from*e.rows.groups], &p.rows[from].product, &e.panels[0], &e.factors[0][0][0], e.rows.groups,
				b.perGroup, 1<<b.groups-1, rows, &b.constants[0])
			at += rows
		}
		rest = new([boundGroups]float32)
	}
	computed += s.screen(&lower[0], &rest[0], &n.upper[0], &n.own[0], &n.pending[0], &x.Data[0], x.Stride,
		&b.centers.origin[0], &n.shifted[0], &b.panels[0], &b.low[0], b.cols, b.perGroup, 1<<b.groups-1, x.Rows,
		&b.constants[0])
	b.looks += int64(computed)
}

// decide finds the centers of the open rows. The bounds of a row that moves are made again for the group of its new
// center, which is its own now; its old center becomes one of the others.
func (b *Bounds) decide(index []int32, sqDist []float64, lower []float32, x Matrix, ws *Workspace) {
	n := &b.near
	open := b.gather(n.open, x)
	n.index, n.sqDist = Resize(n.index, open.Rows), Resize(n.sqDist, open.Rows)
	b.set.Nearest(n.index, n.sqDist, open, b.centers, ws)
	for i, r := range n.open {
		if was := index[r]; n.index[i] != was {
			group := int(b.place[was]) / (b.perGroup * panelLanes)
			l := &lower[int(r)*boundGroups+group]
			*l = min(*l, below(sqDist[r]))
			n.moved, n.from = append(n.moved, r), append(n.from, was)
			index[r], sqDist[r] = n.index[i], n.sqDist[i]
		}
	}
	if len(n.moved) > 0 {
		b.renew(index, lower, x)
	}
}

// gather copies rows of x.
func (b *Bounds) gather(rows []int32, x Matrix) Matrix {
	b.near.rows = Resize(b.near.rows, len(rows)*b.cols)
	return gather(b.near.rows, rows, x)
}

// gather copies rows of x to to, which is as long.
func gather(to []float32, rows []int32, x Matrix) Matrix {
	m := Matrix{Data: to, Rows: len(rows), Cols: x.Cols, Stride: x.Cols}
	for i, r := range rows {
		copy(m.Row(i), x.Row(int(r)))
	}
	return m
}

// renew makes the bounds of rows that moved, of their new centers' groups.
func (b *Bounds) renew(index []int32, lower []float32, x Matrix) {
	n := &b.near
	rows := b.gather(n.moved, x)
	n.to, n.lower = n.to[:0], n.lower[:0]
	for _, r := range n.moved {
		at := len(n.lower)
		n.lower = append(n.lower, lower[int(r)*boundGroups:(int(r)+1)*boundGroups]...)
		n.to = append(n.to, max(index[r], 0)) // no center is at a finite distance: any is as good
		n.lower[at+int(b.place[n.to[len(n.to)-1]])/(b.perGroup*panelLanes)] = float32(math.Inf(-1))
	}
	var still [boundGroups]float32
	height := b.height()
	for i := 0; i < rows.Rows; i += height {
		end := min(i+height, rows.Rows)
		b.screen(n.to[i:end], n.sqDist[:end-i], n.lower[i*boundGroups:end*boundGroups], rows.RowRange(i, end), -1,
			&still)
	}
	for i, r := range n.moved {
		copy(lower[int(r)*boundGroups:], n.lower[i*boundGroups:(i+1)*boundGroups])
	}
}
