package knn

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/rows"
)

// partial is what is found of the queries of a tree.
type partial struct {
	*plan
	found *lists
	sampled
}

// sampled is what a projection was measured to cost.
type sampled struct {
	exact *lists  // of sampled queries
	rows  []int64 // which these are; every leaf of a tree has the same
	pairs distortion
}

func (p *plan) newPartial() *partial {
	n := &partial{plan: p, found: &lists{rule: p.params.rule(), of: p.params.Metric, targets: p.params.Mode != modeSearch}}
	if p.measures() {
		n.exact = &lists{rule: n.found.rule, of: n.found.of}
	}
	return n
}

// measures reports whether the cost of a projection is measured.
func (p *plan) measures() bool { return p.params.Projection != nil && !p.params.Counts }

// Fields lists what is found, and what was measured.
func (p *partial) Fields(f *jobs.Fields) {
	p.found.fields(f, "found")
	if p.measures() {
		p.exact.fields(f, "exact")
		jobs.List(f, "sample.rows", &p.rows)
		p.pairs.Fields(f)
	}
}

// merge takes the first k of each two lists, or all by radius.
func (p *partial) merge(right *partial) (*partial, error) {
	if err := p.found.merge(right.found); err != nil || !p.measures() {
		return p, err
	}
	p.pairs.plus(right.pairs)
	return p, p.exact.merge(right.exact)
}

// Arrays of lists below a prefix: list q is entries indptr[q] to indptr[q+1].
const (
	listIndptr = ".indptr" // I64 [queries+1]
	listID     = ".id"     // I64
	listKey    = ".key"    // F64
	listTarget = ".target" // F64; not in mode search
	listCount  = ".count"  // I64 [queries], alone, where neighbors are counted
)

// fields lists sorted lists.
func (l *lists) fields(f *jobs.Fields, prefix string) {
	if l.counts {
		jobs.List(f, prefix+listCount, &l.count)
		return
	}
	c := l.columns()
	jobs.List(f, prefix+listIndptr, &c.ends)
	jobs.List(f, prefix+listID, &c.ids)
	n := len(c.ids)
	jobs.List(f, prefix+listKey, &c.keys, n)
	if l.targets {
		jobs.List(f, prefix+listTarget, &c.targets, n)
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
