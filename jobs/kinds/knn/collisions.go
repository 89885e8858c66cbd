package knn

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/lsh"
)

// Metrics of an index by hashing.
const (
	chosenMetric     = "neighbors.lsh_chosen"
	collisionsMetric = "neighbors.lsh"
)

// Chosen is the metric "neighbors.lsh_chosen": what a recall was asked for was chosen, by a sample.
type Chosen struct {
	Tables  int     `json:"tables"`
	Hashes  int     `json:"hashes"`
	Width   float64 `json:"width,omitempty"`
	Queries int     `json:"queries"` // of the sample
	Recall  float64 `json:"recall"`  // expected by the S-curve on the neighbors of these
	Share   float64 `json:"share"`   // of records that are expected to be candidates, by pairs drawn at random
}

// Collisions is the metric "neighbors.lsh": what hash tables found, and what it took.
type Collisions struct {
	// Recall is the share of the neighbors of sampled queries that was found, 0 of none. Its intervals of 99 % are
	// Wilson's, with an effective sample size by how recall varies between queries (ListsLow and ListsHigh: the recall
	// of the lists of this job), and between tables as well (Low and High: that of tables like these). Predicted is the
	// mean of the S-curve at the distances of these neighbors, which is the mean over tables.
	Recall    float64 `json:"recall"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Predicted float64 `json:"predicted"`
	// Share is that of all records that a query was compared with, Candidates their mean number.
	Share      float64 `json:"share"`
	Candidates float64 `json:"candidates"`
	Queries    int64   `json:"queries"`
	// Short counts the queries with fewer neighbors than k and than there are records.
	Short     int64   `json:"short"`
	Tables    int     `json:"tables"`
	Hashes    int     `json:"hashes"`
	Width     float64 `json:"width,omitempty"`
	ListsLow  float64 `json:"lists_low"`
	ListsHigh float64 `json:"lists_high"`
	// Sampled is how many queries were searched exactly as well, Neighbors how many neighbors these have.
	Sampled   int64 `json:"sampled"`
	Neighbors int64 `json:"neighbors"`
	// Bins are neighbors by distance, ascending; Curve is the S-curve itself.
	Bins  []CollisionBin `json:"bins"`
	Curve []CurvePoint   `json:"curve"`
}

// CollisionBin is what became of the neighbors at about one distance.
type CollisionBin struct {
	Distance  float64 `json:"distance"`
	Neighbors int64   `json:"neighbors"`
	Found     int64   `json:"found"`
	Predicted float64 `json:"predicted"` // share
}

// CurvePoint is a point of the S-curve.
type CurvePoint struct {
	Distance float64 `json:"distance"`
	Share    float64 `json:"share"`
}

// collisions adds up what tables found. All parts are integers, so that no order of the queries shows.
type collisions struct {
	in             *index
	candidates     int64
	queries, short int64
	sampled        int64
	found, exact   int64   // of sampled queries
	ff, fe, ee     int64   // sums over sampled queries of the squares and the product of both
	alone          []int64 // neighbors that one table alone found, by table
	predicted      int64   // sum over neighbors, in units of 2^-24
	bins           map[uint64]*collisionBin
	farthest       float64
}

type collisionBin struct{ neighbors, found, predicted int64 }

// unitsOfOne is 1 in the units of sums of probabilities.
const unitsOfOne = 1 << 24

// ownNeighbors reports whether queries are records of the base.
func (p *plan) ownNeighbors() bool { return p.Own != nil && !p.holdsOut }

// binBits is what is left out of a distance for its bin: 16 bins an octave.
const binBits = 52 - 4

// binOf is the bin of a distance; distances of hamming are bins themselves.
func binOf(of metric, d float64) uint64 {
	if of == hamming {
		return math.Float64bits(d)
	}
	return math.Float64bits(d) >> binBits
}

// distanceOf is the middle of a bin.
func distanceOf(of metric, bin uint64) float64 {
	switch {
	case of == hamming:
		return math.Float64frombits(bin)
	case bin == 0:
		return 0
	}
	return math.Float64frombits(bin<<binBits + 1<<(binBits-1))
}

func (c *collisions) add(root *partial) error {
	p := root.plan
	if p.params.Index != indexLSH {
		return nil
	}
	if c.bins == nil {
		c.bins, c.alone = map[uint64]*collisionBin{}, make([]int64, c.in.hashed.tables)
	}
	c.candidates += root.candidates
	c.queries += int64(len(root.found.rows))
	if p.params.K != nil {
		most := c.in.records
		if p.ownNeighbors() {
			most--
		}
		for _, row := range root.found.rows {
			if int64(len(row)) < min(int64(*p.params.K), most) {
				c.short++
			}
		}
	}
	curve := c.in.curve(c.in.hashed)
	return root.sampledLists(func(exact, found []neighbor) error {
		return c.addQuery(p.params.Metric, curve, exact, found)
	})
}

// addQuery compares the list of a sampled query with the exact one.
func (c *collisions) addQuery(of metric, curve lsh.Curve, exact, found []neighbor) error {
	got := make(map[int64]bool, len(found))
	for _, n := range found {
		got[n.id] = true
	}
	hit := int64(0)
	for _, n := range exact {
		d := of.distance(n.key)
		bin := c.bins[binOf(of, d)]
		if bin == nil {
			bin = &collisionBin{}
			c.bins[binOf(of, d)] = bin
		}
		bin.neighbors++
		units := int64(math.Round(float64(curve.At(d) * unitsOfOne))) //lint:checked a probability
		bin.predicted, c.predicted = bin.predicted+units, c.predicted+units
		mark := int(max(-1, min(n.target, float64(len(c.alone)+2)))) //lint:checked cut to marks
		if mark < missed || mark > len(c.alone)+1 || float64(mark) != n.target || got[n.id] != (mark != missed) {
			return jobs.Malformed("a neighbor with the mark %v of %d tables, found: %v", n.target, len(c.alone),
				got[n.id])
		}
		if got[n.id] {
			bin.found++
			hit++
		}
		if mark != missed && mark <= len(c.alone) {
			c.alone[mark-1]++
		}
		c.farthest = max(c.farthest, d)
	}
	all := int64(len(exact))
	c.sampled++
	c.found, c.exact = c.found+hit, c.exact+all
	c.ff, c.fe, c.ee = c.ff+hit*hit, c.fe+hit*all, c.ee+all*all
	return nil
}

// z99 is the quantile of the normal distribution for an interval of 99 %.
const z99 = 2.5758293035489004

// wilson is the interval of a share of n independent trials, z the quantile and square its square (Wilson, "Probable
// inference, the law of succession, and statistical inference", Journal of the American Statistical Association
// 22(158), 1927).
func wilson(share, n, z, square float64) (low, high float64) {
	spread := float64(z * math.Sqrt(float64(float64(share*(1-share))/n)+square/float64(4*float64(n*n))))
	center, scale := share+square/float64(2*n), 1+square/n
	return max(0, (center-spread)/scale), min(1, (center+spread)/scale)
}

// trials is how many independent neighbors would make the recall vary as much as it does between queries and between
// tables (Korn and Graubard, "Confidence intervals for proportions with small expected number of positive counts
// estimated from survey data", Survey Methodology 24(2), 1998), from 1 to their number; the number of queries where all
// have one recall. Neighbors of one query are missed together, and so are neighbors that lie alike, of many queries, by
// one set of tables. The variance between tables is that of the jackknife, which leaves out one at a time: without
// table t, the neighbors are missed that it alone finds (Efron and Stein, "The jackknife estimate of variance", Annals
// of Statistics 9(3), 1981).
func (c *collisions) trials() (ofLists, ofTables float64) {
	n, m, tables := float64(c.exact), float64(c.sampled), float64(len(c.alone))
	share := float64(c.found) / n
	square := float64(c.ff) - float64(2*float64(share*float64(c.fe))) + float64(float64(share*share)*float64(c.ee))
	if m < 2 || !(square > 0) || c.found == 0 || c.found == c.exact {
		return min(n, m), min(n, m)
	}
	lists := float64(float64(m/(m-1)) * square)
	sum, squares := int64(0), 0.0
	for _, alone := range c.alone {
		sum += alone
		squares += float64(float64(alone) * float64(alone)) // whole numbers
	}
	between := float64((tables - 1) / tables * (squares - float64(float64(sum)*float64(sum))/tables))
	one := float64(float64(share*(1-share)) * float64(n*n)) // of one neighbor in place of all, times their square
	return min(n, max(1, one/lists)), min(n, max(1, one/(lists+between)))
}

// metrics appends what the tables found, and a warning where lists are short.
func (c *collisions) metrics(metrics []jobs.Metric) ([]jobs.Metric, error) {
	var facts jobs.Facts
	r := c.report()
	facts.Add(collisionsMetric, r)
	if text := r.warning(); text != "" {
		facts.Add(jobs.WarningsMetric, []string{text})
	}
	more, err := facts.Metrics()
	return append(metrics, more...), err
}

// pointsOfCurve is how many points of the S-curve the report has.
const pointsOfCurve = 41

func (c *collisions) report() Collisions {
	h, of := c.in.hashed, c.in.params.Metric
	r := Collisions{Tables: h.tables, Hashes: h.hashes, Width: h.width, Queries: c.queries, Short: c.short,
		Sampled: c.sampled, Neighbors: c.exact, Bins: []CollisionBin{}, Curve: []CurvePoint{}}
	if c.queries > 0 {
		r.Candidates = float64(c.candidates) / float64(c.queries)
		r.Share = r.Candidates / float64(c.in.records)
	}
	if c.exact == 0 {
		r.High, r.ListsHigh = 1, 1 // nothing was to be found: any recall may be
		return r
	}
	r.Recall = float64(c.found) / float64(c.exact)
	ofLists, ofTables := c.trials()
	r.ListsLow, r.ListsHigh = wilson(r.Recall, ofLists, z99, z99*z99)
	if r.Low, r.High = 0, 1; h.tables > 1 { // one table shows nothing of others
		r.Low, r.High = wilson(r.Recall, ofTables, z99, z99*z99)
	}
	r.Predicted = float64(c.predicted) / unitsOfOne / float64(c.exact)
	for _, number := range slices.Sorted(maps.Keys(c.bins)) {
		bin := c.bins[number]
		r.Bins = append(r.Bins, CollisionBin{Distance: distanceOf(of, number), Neighbors: bin.neighbors,
			Found: bin.found, Predicted: float64(bin.predicted) / unitsOfOne / float64(bin.neighbors)})
	}
	curve := c.in.curve(h)
	for i := range pointsOfCurve {
		d := float64(1.5*c.farthest) * float64(i) / (pointsOfCurve - 1)
		r.Curve = append(r.Curve, CurvePoint{d, curve.At(d)})
	}
	return r
}

// leastOfBin is how many neighbors a bin has that is drawn.
const leastOfBin = 20

func collisionFigures(value json.RawMessage) ([]jobs.Figure, error) {
	var r Collisions
	if err := json.Unmarshal(value, &r); err != nil {
		return nil, err
	}
	percent := func(v float64) string { return fmt.Sprintf("%.2f %%", float64(100*v)) }
	table := &jobs.FigureTable{
		Columns: []string{"tables", "hashes", "candidates of a query", "of all records", "recall", "99 %, these tables",
			"99 %, tables like these", "predicted"},
		Rows: [][]string{{fmt.Sprint(r.Tables), fmt.Sprint(r.Hashes), fmt.Sprintf("%.1f", r.Candidates),
			percent(r.Share), percent(r.Recall), percent(r.ListsLow) + " to " + percent(r.ListsHigh),
			percent(r.Low) + " to " + percent(r.High), percent(r.Predicted)}}}
	caption := fmt.Sprintf("%d of %d queries were searched exactly too, and have %d neighbors. The intervals are "+
		"Wilson's, for the spread of recall between queries, and between tables as well; predicted is the mean of the "+
		"S-curve at the distances of these neighbors.", r.Sampled, r.Queries, r.Neighbors)
	if r.Sampled == 0 {
		caption = "No query was searched exactly: the recall is not known (params.lsh.sample)."
		table.Columns, table.Rows[0] = table.Columns[:4], table.Rows[0][:4]
	}
	if r.Tables == 1 && r.Sampled > 0 {
		caption += " One table does not show how recall varies between tables."
	}
	if text := r.warning(); text != "" {
		caption = text + " " + caption
	}
	figures := []jobs.Figure{{Title: "What the hash tables found", Table: table, Caption: caption}}
	if len(r.Curve) == 0 || r.Curve[len(r.Curve)-1].Distance == 0 {
		return figures, nil
	}
	return append(figures, r.curveFigure()), nil
}

// warning says that lists are short; empty where none is.
func (r Collisions) warning() string {
	if r.Short == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d queries have fewer neighbors than were asked for, because fewer records collide with "+
		"them. More tables, fewer hashes or a larger width find more.", r.Short, r.Queries)
}

// curveFigure is the S-curve, with what was found at each distance.
func (r Collisions) curveFigure() jobs.Figure {
	predicted, found := jobs.Series{Name: "S-curve"}, jobs.Series{Name: "found", Points: true}
	for _, at := range r.Curve {
		predicted.X, predicted.Y = append(predicted.X, at.Distance), append(predicted.Y, at.Share)
	}
	for _, bin := range r.Bins {
		if bin.Neighbors >= leastOfBin {
			found.X = append(found.X, bin.Distance)
			found.Y = append(found.Y, float64(bin.Found)/float64(bin.Neighbors))
		}
	}
	chart := &jobs.LineChart{X: "distance", Y: "share found", Series: []jobs.Series{predicted}, UnitY: true}
	if len(found.X) > 0 {
		chart.Series = append(chart.Series, found)
	}
	return jobs.Figure{Title: "The S-curve", Lines: chart,
		Caption: fmt.Sprintf("The probability that two records collide in one of %d tables of %d hashes, by their "+
			"distance, and the share of exact neighbors that was found, where at least %d lie at about one distance.",
			r.Tables, r.Hashes, leastOfBin)}
}
