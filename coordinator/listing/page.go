package listing

import (
	"maps"
	"slices"

	"github.com/gram-compute/gram/coordinator/state"
)

// Page is the jobs of a page.
type Page struct {
	Jobs     []*state.Job
	Next     string   // the token of the next page; empty on the last one
	Matching int      // jobs that the filter lets through
	Kinds    []string // of all jobs, sorted
}

// Page finds the jobs in one pass over all that the view has.
func (q Query) Page(view state.State) Page {
	page, kinds := Page{}, map[string]bool{}
	first := chosen{query: &q, most: q.limit + 1} // one more tells whether there is a next page
	view.EachJob(func(j *state.Job) bool {
		if !kinds[j.Kind] {
			kinds[j.Kind] = true
		}
		if !q.lets(j) {
			return true
		}
		page.Matching++
		if at := q.placeOf(j); q.after == nil || q.compare(at, *q.after) > 0 {
			first.offer(listed{at, j})
		}
		return true
	})
	first.cut()
	for _, l := range first.jobs[:min(q.limit, len(first.jobs))] {
		page.Jobs = append(page.Jobs, l.job)
	}
	if len(first.jobs) > q.limit {
		page.Next = q.token(first.jobs[q.limit-1].at)
	}
	page.Kinds = slices.Sorted(maps.Keys(kinds))
	return page
}

// listed is a job and its place.
type listed struct {
	at  place
	job *state.Job
}

// chosen keeps the first of the jobs that it is offered. Most of 10,000 are past the end of a page that is full, and
// cost one comparison each.
type chosen struct {
	query *Query
	most  int
	jobs  []listed
	full  bool
	last  place // where full: what comes later is not among the first
}

func (c *chosen) offer(l listed) {
	if c.full && c.query.compare(l.at, c.last) > 0 {
		return
	}
	if c.jobs = append(c.jobs, l); len(c.jobs) == 2*c.most {
		c.cut()
	}
}

// cut sorts what is kept, and drops what is too much.
func (c *chosen) cut() {
	// total order: numbers differ
	slices.SortFunc(c.jobs, func(a, b listed) int { return c.query.compare(a.at, b.at) })
	if len(c.jobs) < c.most {
		return
	}
	c.jobs = c.jobs[:c.most]
	c.full, c.last = true, c.jobs[c.most-1].at
}
