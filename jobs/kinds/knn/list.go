package knn

import (
	"cmp"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/protocol"
)

// neighbor is one record of the base as a query's list has it.
type neighbor struct {
	key    float64 // what the distance is ordered by: see metric
	id     int64   // number of the record in spec.input, or its place among names
	target float64 // number of its class, or its value; 0 in a plain search; of exact lists beside hashing, a mark
}

func (n neighbor) compare(m neighbor) int {
	return cmp.Or(cmp.Compare(n.key, m.key), cmp.Compare(n.id, m.id))
}

// rule says which neighbors a list keeps: the first k, or, where k is 0, all within the radius.
type rule struct {
	k      int
	radius float64
	most   int // of a list by radius; more are a fault
	counts bool
}

// lists are the neighbors found so far of each query.
type lists struct {
	rule
	of      metric
	targets bool         // neighbors carry what they vote for
	rows    [][]neighbor // of each query; by radius in no order before sort
	count   []int64      // of each query, where the rule counts
}

// begin makes lists of n queries.
func (l *lists) begin(queries int) *lists {
	if l.counts {
		l.count = make([]int64, queries)
	} else {
		l.rows = make([][]neighbor, queries)
	}
	return l
}

// queries is how many have a list or a count.
func (l *lists) queries() int { return len(l.rows) + len(l.count) }

// worst is a key beyond which nothing can enter the list of query q.
func (l *lists) worst(q int) float64 {
	if l.k == 0 {
		return l.of.keyOf(l.radius)
	}
	if row := l.rows[q]; len(row) == l.k {
		return row[l.k-1].key
	}
	return inf
}

// add enters n into the list of query q if it belongs there.
func (l *lists) add(q int, n neighbor) error {
	if l.k == 0 {
		return l.addWithin(q, n)
	}
	row := l.rows[q]
	if len(row) == l.k {
		if n.compare(row[l.k-1]) >= 0 {
			return nil
		}
		row = row[:l.k-1]
	}
	at, _ := slices.BinarySearchFunc(row, n, neighbor.compare)
	l.rows[q] = slices.Insert(row, at, n)
	return nil
}

func (l *lists) addWithin(q int, n neighbor) error {
	switch {
	case !(l.of.distance(n.key) <= l.radius):
		return nil
	case l.counts:
		l.count[q]++
		return nil
	case len(l.rows[q]) == l.most:
		return l.tooMany()
	}
	l.rows[q] = append(l.rows[q], n)
	return nil
}

// sort puts the lists into their order.
func (l *lists) sort() {
	if l.k > 0 {
		return // add keeps them so
	}
	for _, row := range l.rows {
		slices.SortFunc(row, neighbor.compare) // total order: ids differ
	}
}

// renumber replaces the ids by others of the same order.
func (l *lists) renumber(ids []int64) {
	for _, row := range l.rows {
		for i := range row {
			row[i].id = ids[row[i].id]
		}
	}
}

// merge enters the sorted lists of other, whose ids are others, into the sorted lists of l.
func (l *lists) merge(other *lists) error {
	if l.queries() != other.queries() {
		return jobs.Malformed("lists of %d and %d queries", l.queries(), other.queries())
	}
	l.count = slices.Clone(l.count)
	for q := range l.count {
		l.count[q] += other.count[q]
	}
	for q, row := range l.rows {
		merged := mergeRows(row, other.rows[q], l.k)
		if l.k == 0 && len(merged) > l.most {
			return l.tooMany()
		}
		l.rows[q] = merged
	}
	return nil
}

// mergeRows merges two sorted lists and keeps the first k, or all where k is 0.
func mergeRows(a, b []neighbor, k int) []neighbor {
	n := len(a) + len(b)
	if k > 0 {
		n = min(n, k)
	}
	merged := make([]neighbor, 0, n)
	for len(merged) < n {
		if len(b) == 0 || len(a) > 0 && a[0].compare(b[0]) < 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return merged
}

func (l *lists) tooMany() error {
	return protocol.InputFault(protocol.CodeInputLimit,
		"a query has more than %d neighbors within %v", l.most, l.radius).
		WithHint("Lower params.radius, raise params.max_neighbors, or set params.counts.")
}

// partial is what is found of the queries of a tree.
type partial struct {
	*plan
	found *lists
	names *names // of the neighbors in all lists; nil where they have none
	sampled
	candidates int64 // pairs that were compared, of an index by hashing
}

// sampled is what a projection or an index was measured to cost.
type sampled struct {
	exact *lists     // of sampled queries
	rows  []int64    // which these are; every leaf of a tree has the same
	pairs distortion // of a projection
}

func (p *plan) newPartial() *partial {
	n := &partial{plan: p, found: &lists{rule: p.params.rule(), of: p.params.Metric,
		targets: p.params.Mode != modeSearch}}
	if p.measures() {
		n.exact = &lists{rule: n.found.rule, of: n.found.of, targets: p.params.Index == indexLSH}
	}
	if p.named && !p.params.Counts {
		n.names = &names{}
	}
	return n
}

// lists are those of all queries and of the sampled ones.
func (p *partial) lists() []*lists {
	if p.measures() {
		return []*lists{p.found, p.exact}
	}
	return []*lists{p.found}
}

// measures reports whether the cost of a projection or an index is measured.
func (p *plan) measures() bool { return p.params.approximate() && !p.params.Counts }

// Fields lists what is found, and what was measured.
func (p *partial) Fields(f *jobs.Fields) {
	p.found.fields(f, "found")
	if p.measures() {
		p.exact.fields(f, "exact")
		jobs.List(f, "sample.rows", &p.rows)
	}
	if p.measures() && p.params.Projection != nil {
		p.pairs.Fields(f)
	}
	if p.params.Index == indexLSH {
		jobs.Scalar(f, "candidates", &p.candidates)
	}
	if p.names != nil {
		p.names.Fields(f)
		f.Check(p.checkNames)
	}
}

// checkNames holds that every neighbor has a name.
func (p *partial) checkNames() error {
	for _, l := range p.lists() {
		for _, row := range l.rows {
			for _, n := range row {
				if n.id < 0 || n.id >= int64(len(p.names.numbers)) {
					return jobs.Malformed("a neighbor is name %d of %d", n.id, len(p.names.numbers))
				}
			}
		}
	}
	return nil
}

// merge takes the first k of each two lists, or all by radius.
func (p *partial) merge(right *partial) (*partial, error) {
	var all *union
	if p.names != nil {
		all = unite(p.names, right.names)
	}
	for i, l := range p.lists() {
		other := right.lists()[i]
		if all != nil {
			l.renumber(all.places[0])
			other.renumber(all.places[1])
		}
		if err := l.merge(other); err != nil {
			return p, err
		}
	}
	if all != nil {
		p.names = all.listed(p.lists())
	}
	if p.measures() && p.params.Projection != nil {
		p.pairs.plus(right.pairs)
	}
	p.candidates += right.candidates
	return p, nil
}

// fields lists sorted lists: list q is entries indptr[q] to indptr[q+1].
func (l *lists) fields(f *jobs.Fields, prefix string) {
	if l.counts {
		jobs.List(f, prefix+".count", &l.count) // alone, where neighbors are counted
		return
	}
	c := l.columns()
	jobs.List(f, prefix+".indptr", &c.ends)
	jobs.List(f, prefix+".id", &c.ids)
	n := len(c.ids)
	jobs.List(f, prefix+".key", &c.keys, n)
	if l.targets {
		jobs.List(f, prefix+".target", &c.targets, n) // not in mode search
	}
	if !f.Reading() {
		return
	}
	f.Require(rows.Spans(c.ends, n), "the lists %q do not span their %d entries", prefix, n)
	all := make([]neighbor, n)
	for i := range all {
		all[i] = neighbor{key: c.keys[i], id: c.ids[i]}
		if l.targets {
			all[i].target = c.targets[i]
		}
	}
	l.rows = make([][]neighbor, len(c.ends)-1)
	for q := range l.rows {
		l.rows[q] = all[c.ends[q]:c.ends[q+1]:c.ends[q+1]]
	}
}

// columns are all lists, one below the other.
type columns struct {
	ends, ids     []int64
	keys, targets []float64
}

func (l *lists) columns() (c columns) {
	n := 0
	for _, row := range l.rows {
		n += len(row)
	}
	c.ends, c.ids = make([]int64, 1, len(l.rows)+1), make([]int64, 0, n)
	c.keys, c.targets = make([]float64, 0, n), make([]float64, 0, n)
	for _, row := range l.rows {
		for _, at := range row {
			c.ids, c.keys, c.targets = append(c.ids, at.id), append(c.keys, at.key), append(c.targets, at.target)
		}
		c.ends = append(c.ends, int64(len(c.ids)))
	}
	return c
}
