package knn

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// Arrays of lists below a prefix: list q is entries indptr[q] to indptr[q+1].
const (
	listIndptr = ".indptr" // I64 [queries+1]
	listID     = ".id"     // I64
	listKey    = ".key"    // F64
	listTarget = ".target" // F64; not in mode search
	listCount  = ".count"  // I64 [queries], alone, where neighbors are counted
)

// put stores sorted lists.
func (l *lists) put(a jobs.Arrays, prefix string, targets bool) {
	if l.counts {
		jobs.Put(a, prefix+listCount, l.count)
		return
	}
	indptr := make([]int64, len(l.rows)+1)
	for q, row := range l.rows {
		indptr[q+1] = indptr[q] + int64(len(row))
	}
	n := indptr[len(l.rows)]
	ids, keys := make([]int64, 0, n), make([]float64, 0, n)
	target := make([]float64, 0, n)
	for _, row := range l.rows {
		for _, at := range row {
			ids, keys = append(ids, at.id), append(keys, at.key)
			target = append(target, at.target)
		}
	}
	jobs.Put(a, prefix+listIndptr, indptr)
	jobs.Put(a, prefix+listID, ids)
	jobs.Put(a, prefix+listKey, keys)
	if targets {
		jobs.Put(a, prefix+listTarget, target)
	}
}

// getLists reads what put stored.
func getLists(a jobs.Arrays, prefix string, r rule, of metric, targets bool) (*lists, error) {
	l := &lists{rule: r, of: of}
	var err error
	if r.counts {
		l.count, err = jobs.Get[int64](a, prefix+listCount)
		l.count = slices.Clone(l.count)
		return l, err
	}
	indptr, err := jobs.Get[int64](a, prefix+listIndptr)
	if err != nil {
		return nil, err
	}
	ids, err := jobs.Get[int64](a, prefix+listID)
	if err != nil {
		return nil, err
	}
	keys, err := jobs.Get[float64](a, prefix+listKey, len(ids))
	if err != nil {
		return nil, err
	}
	target := make([]float64, len(ids))
	if targets {
		if target, err = jobs.Get[float64](a, prefix+listTarget, len(ids)); err != nil {
			return nil, err
		}
	}
	if !spans(indptr, len(ids)) {
		return nil, jobs.Malformed("the lists %q do not span their %d entries", prefix, len(ids))
	}
	all := make([]neighbor, len(ids))
	for i := range all {
		all[i] = neighbor{keys[i], ids[i], target[i]}
	}
	l.rows = make([][]neighbor, len(indptr)-1)
	for q := range l.rows {
		l.rows[q] = all[indptr[q]:indptr[q+1]:indptr[q+1]]
	}
	return l, nil
}

// spans reports whether indptr rises from 0 to n.
func spans(indptr []int64, n int) bool {
	if len(indptr) == 0 || indptr[0] != 0 || indptr[len(indptr)-1] != int64(n) {
		return false
	}
	return slices.IsSorted(indptr)
}

// mergeLists merges the lists of two partials into out.
func mergeLists(out, left, right jobs.Arrays, prefix string, r rule, of metric, targets bool) error {
	a, err := getLists(left, prefix, r, of, targets)
	if err != nil {
		return err
	}
	b, err := getLists(right, prefix, r, of, targets)
	if err != nil {
		return err
	}
	if len(a.rows) != len(b.rows) || len(a.count) != len(b.count) {
		return jobs.Malformed("the lists %q are of %d and %d queries", prefix, len(a.rows)+len(a.count), len(b.rows)+len(b.count))
	}
	if err := a.merge(b); err != nil {
		return err
	}
	a.put(out, prefix, targets)
	return nil
}

// Arrays that only the first leaf of a tree writes: what its queries are.
const (
	queryNumber = "query.number" // I64: record of each query within its shard
	queryShard  = "query.shard"  // I64 scalar: records of the shard
	queryLabels = "query.labels" // strings, where classes are known
	queryValues = "query.values" // F64, where values are
)

// asked are the queries of a tree as its root tells them.
type asked struct {
	numbers []int64
	shard   int64
	truths
}

func (q asked) put(a jobs.Arrays, mode string) {
	jobs.Put(a, queryNumber, q.numbers)
	jobs.PutScalar(a, queryShard, q.shard)
	switch {
	case !q.known:
	case mode == modeClassify:
		a.PutStrings(queryLabels, q.labels)
	case mode == modeRegress:
		jobs.Put(a, queryValues, q.values)
	}
}

func getAsked(a jobs.Arrays) (q asked, err error) {
	if q.numbers, err = jobs.Get[int64](a, queryNumber); err != nil {
		return asked{}, err
	}
	if q.shard, err = jobs.GetScalar[int64](a, queryShard); err != nil {
		return asked{}, err
	}
	if _, ok := a[queryLabels+".bytes"]; ok {
		q.known = true
		if q.labels, err = a.Strings(queryLabels); err != nil {
			return asked{}, err
		}
	}
	if _, ok := a[queryValues]; ok {
		q.known = true
		q.values, err = jobs.Get[float64](a, queryValues)
	}
	if n := q.labels.Len() + len(q.values); err == nil && q.known && n != len(q.numbers) {
		return asked{}, jobs.Malformed("%d queries with %d labels", len(q.numbers), n)
	}
	return q, err
}
