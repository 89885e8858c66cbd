// Package listing chooses the jobs of a list: those that a filter lets through, in an order, a page at a time.
package listing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Bounds of a request.
const (
	usualJobs  = 100
	mostJobs   = 1000
	maxPattern = 256 // bytes of a text of the filter
)

// Query is a request for a page that was found to be valid.
type Query struct {
	filter    *pb.JobFilter
	lowered   string // the text that names are searched for
	order     pb.JobOrder
	ascending bool
	limit     int
	now       int64  // up to which jobs that have not ended have taken time; that of the first page
	after     *place // of the last job of the page before; nil on the first page
	digest    string // of filter and order, by which a token of another list is known
}

// Parse checks a request. The time counts for the first page of a list.
func Parse(req *pb.ListRequest, nowUnixMs int64) (Query, error) {
	q := Query{filter: req.GetFilter(), lowered: strings.ToLower(req.GetFilter().GetNameContains()),
		order: cmp.Or(req.GetOrder(), pb.JobOrder_JOB_ORDER_SUBMITTED), ascending: req.GetAscending(),
		limit: min(cmp.Or(int(req.GetLimit()), usualJobs), mostJobs), now: nowUnixMs}
	if pb.JobOrder_name[int32(q.order)] == "" {
		return q, fmt.Errorf("order %d is not one of JobOrder", q.order)
	}
	if err := checkFilter(q.filter); err != nil {
		return q, err
	}
	q.digest = digestOf(q)
	if req.GetPageToken() == "" {
		return q, nil
	}
	return q.continued(req.GetPageToken())
}

func checkFilter(f *pb.JobFilter) error {
	for _, s := range f.GetStates() {
		if s == pb.JobState_JOB_STATE_UNSPECIFIED || pb.JobState_name[int32(s)] == "" {
			return fmt.Errorf("filter.states has %d, which is no state of a job", s)
		}
	}
	for _, field := range []struct{ name, text string }{
		{"kind", f.GetKind()}, {"name_contains", f.GetNameContains()}, {"schedule_id", f.GetScheduleId()},
	} {
		if len(field.text) > maxPattern {
			return fmt.Errorf("filter.%s has %d bytes; it may have %d", field.name, len(field.text), maxPattern)
		}
		if strings.ContainsFunc(field.text, protocol.Steers) {
			return fmt.Errorf("filter.%s is %q; it may hold no control characters", field.name, field.text)
		}
	}
	if f.GetSinceUnixMs() < 0 {
		return fmt.Errorf("filter.since_unix_ms is %d; it is at least 0", f.GetSinceUnixMs())
	}
	return nil
}

// lets reports whether the filter lets a job through.
func (q *Query) lets(j *state.Job) bool {
	f := q.filter
	switch {
	case f == nil:
		return true
	case len(f.States) > 0 && !slices.Contains(f.States, j.Stage),
		f.Kind != "" && j.Kind != f.Kind,
		f.ScheduleId != "" && j.ScheduleID != f.ScheduleId,
		j.SubmittedAt < f.SinceUnixMs:
		return false
	}
	return q.lowered == "" || strings.Contains(j.ID, q.lowered) || strings.Contains(strings.ToLower(j.Name), q.lowered)
}

// place is what a job is ordered by. Two jobs never have the same.
type place struct {
	Value  int64  `json:"value,omitempty"`
	Text   string `json:"text,omitempty"`
	Number uint64 `json:"number"`
}

func (q *Query) placeOf(j *state.Job) place {
	at := place{Number: j.Number}
	switch q.order {
	case pb.JobOrder_JOB_ORDER_TOOK:
		end := q.now
		if j.Ended() {
			end = min(end, j.FinishedAt) // one that has ended since the first page keeps its place
		}
		at.Value = max(0, end-j.SubmittedAt)
	case pb.JobOrder_JOB_ORDER_NAME:
		at.Text = strings.ToLower(cmp.Or(j.Name, j.ID))
	case pb.JobOrder_JOB_ORDER_KIND:
		at.Text = j.Kind
	case pb.JobOrder_JOB_ORDER_STATE:
		at.Value = int64(j.Stage)
	default:
		at.Value = int64(j.Number)
	}
	return at
}

// compare orders places as the list does. Of equal ones the newest comes first.
func (q *Query) compare(a, b place) int {
	by := cmp.Or(cmp.Compare(a.Value, b.Value), strings.Compare(a.Text, b.Text))
	if !q.ascending {
		by = -by
	}
	return cmp.Or(by, cmp.Compare(b.Number, a.Number))
}
