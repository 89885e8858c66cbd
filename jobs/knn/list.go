package knn

import (
	"cmp"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// neighbor is one record of the base as a query's list has it.
type neighbor struct {
	key    float64 // what the distance is ordered by: see metric
	id     int64   // number of the record in spec.input
	target float64 // number of its class, or its value; 0 in a plain search
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

// begin makes lists of so many queries.
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
