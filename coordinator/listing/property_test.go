package listing_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

// plainly is the second method: all jobs, filtered and sorted by what the request says, in words of its own.
func plainly(view state.State, req *pb.ListRequest, now int64) (ids []string) {
	var jobs []*state.Job
	view.EachJob(func(j *state.Job) bool {
		f := req.GetFilter()
		inState := len(f.GetStates()) == 0
		for _, s := range f.GetStates() {
			inState = inState || s == j.Stage
		}
		text := strings.ToLower(f.GetNameContains())
		named := strings.Contains(strings.ToLower(j.Name), text) || strings.Contains(j.ID, text)
		if inState && named && (f.GetKind() == "" || f.GetKind() == j.Kind) && j.SubmittedAt >= f.GetSinceUnixMs() {
			jobs = append(jobs, j)
		}
		return true
	})
	took := func(j *state.Job) int64 {
		if j.FinishedAt == 0 || j.FinishedAt > now {
			return max(0, now-j.SubmittedAt)
		}
		return j.FinishedAt - j.SubmittedAt
	}
	title := func(j *state.Job) string {
		if j.Name == "" {
			return j.ID
		}
		return strings.ToLower(j.Name)
	}
	by := map[pb.JobOrder]func(a, b *state.Job) int{
		pb.JobOrder_JOB_ORDER_UNSPECIFIED: func(a, b *state.Job) int { return cmp.Compare(a.Number, b.Number) },
		pb.JobOrder_JOB_ORDER_SUBMITTED:   func(a, b *state.Job) int { return cmp.Compare(a.Number, b.Number) },
		pb.JobOrder_JOB_ORDER_TOOK:        func(a, b *state.Job) int { return cmp.Compare(took(a), took(b)) },
		pb.JobOrder_JOB_ORDER_NAME:        func(a, b *state.Job) int { return cmp.Compare(title(a), title(b)) },
		pb.JobOrder_JOB_ORDER_KIND:        func(a, b *state.Job) int { return cmp.Compare(a.Kind, b.Kind) },
		pb.JobOrder_JOB_ORDER_STATE:       func(a, b *state.Job) int { return cmp.Compare(a.Stage, b.Stage) },
	}[req.GetOrder()]
	slices.SortFunc(jobs, func(a, b *state.Job) int { return cmp.Compare(b.Number, a.Number) }) // newest first
	slices.SortStableFunc(jobs, func(a, b *state.Job) int {
		if req.GetAscending() {
			return by(a, b)
		}
		return by(b, a)
	})
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

func drawRequest(t *rapid.T) *pb.ListRequest {
	req := &pb.ListRequest{Limit: rapid.Uint32Range(1, 6).Draw(t, "limit"),
		Order:     pb.JobOrder(rapid.Int32Range(0, 5).Draw(t, "order")),
		Ascending: rapid.Bool().Draw(t, "ascending")}
	if rapid.Bool().Draw(t, "filtered") {
		req.Filter = &pb.JobFilter{
			Kind:         rapid.SampledFrom([]string{"", "", "K", "L"}).Draw(t, "of kind"),
			NameContains: rapid.SampledFrom([]string{"", "", "X", "a-1", "topics"}).Draw(t, "contains"),
			SinceUnixMs:  rapid.Int64Range(0, 1004).Draw(t, "since")}
		for i := int32(1); i <= 6; i++ {
			if rapid.Bool().Draw(t, "state") {
				req.Filter.States = append(req.Filter.States, pb.JobState(i))
			}
		}
	}
	return req
}

// The pages in turn are what the second method gives at once.
func TestPagesAreTheWholeList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t, state.New(), 0, rapid.IntRange(0, 30).Draw(t, "jobs"), 1000)
		req := drawRequest(t)
		want, got := plainly(s, req, 1005), []string(nil)
		for {
			ids, next := ask(t, s, req, 1005)
			page := strings.Fields(ids)
			if got = append(got, page...); next == "" {
				break
			}
			if len(page) != int(req.GetLimit()) {
				t.Fatalf("a page of %d with a next one", len(page))
			}
			req.PageToken = next
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", req, got, want)
		}
	})
}

// While jobs come between pages, no job is listed twice, and none of those that were there is left out.
func TestPagesHoldWhileJobsCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 20).Draw(t, "jobs")
		s := drawn(t, state.New(), 0, n, 1000)
		req := drawRequest(t)
		want, got := plainly(s, req, 1005), []string(nil)
		for {
			ids, next := ask(t, s, req, 1005+int64(n))
			if len(got) == 0 {
				want = plainly(s, req, 1005+int64(n)) // the time of the first page
			}
			if got = append(got, strings.Fields(ids)...); next == "" {
				break
			}
			req.PageToken = next
			more := 0 // or pages of one would never come to an end
			if n < 40 {
				more = rapid.IntRange(0, 3).Draw(t, "more")
			}
			s = drawn(t, s, n, n+more, 2000)
			n += more
		}
		seen := map[string]bool{}
		for _, id := range got {
			if seen[id] {
				t.Fatalf("%v: %s is listed twice: %v", req, id, got)
			}
			seen[id] = true
		}
		for _, id := range want {
			if !seen[id] {
				t.Fatalf("%v: %s is left out: %v", req, id, got)
			}
		}
	})
}
