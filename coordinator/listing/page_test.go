package listing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/listing"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// apply changes a state by commands at a time.
func apply(t rapid.TB, s state.State, now int64, commands ...*pb.Command) state.State {
	t.Helper()
	for _, cmd := range commands {
		cmd.NowUnixMs = now
		entry, err := proto.Marshal(cmd)
		if err != nil {
			t.Fatal(err)
		}
		next, reply := state.ApplyBytes(s, entry)
		if reply.Err != nil {
			t.Fatal(reply.Err)
		}
		s = next
	}
	return s
}

func submit(id, name, kind string) *pb.Command {
	return &pb.Command{Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: id, Name: name, Kind: kind, SpecHash: id}}}
}

func cancel(id string) *pb.Command {
	return &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: id}}}
}

func fail(id string) *pb.Command {
	return &pb.Command{Body: &pb.Command_Fail{Fail: &pb.FailJob{Id: id, Failure: &pb.Failure{Message: "broke"}}}}
}

func start(id string) *pb.Command {
	return &pb.Command{Body: &pb.Command_Start{Start: &pb.StartJob{Id: id}}}
}

// ask returns a page's ids, joined, and the token of the next.
func ask(t rapid.TB, view state.State, req *pb.ListRequest, now int64) (ids string, next string) {
	t.Helper()
	query, err := listing.Parse(req, now)
	if err != nil {
		t.Fatal(err)
	}
	page := query.Page(view)
	var all []string
	for _, j := range page.Jobs {
		all = append(all, j.ID)
	}
	return strings.Join(all, " "), page.Next
}

// Five jobs by hand: d has taken 900 ms when it fails, c runs since 2000, and the rest is still in the queue at 5000.
func TestOrdersAndFiltersByHand(t *testing.T) {
	s := apply(t, state.New(), 1000, submit("a", "Zebra", "KMeans"), submit("b", "apple", "NaiveBayes"))
	s = apply(t, s, 2000, submit("c", "", "KMeans"), start("c"))
	s = apply(t, s, 3000, submit("d", "zebra 2", "KMeans"))
	s = apply(t, s, 3900, fail("d"))
	s = apply(t, s, 4000, submit("e", "Apple", "Perceptron"))
	kmeans := &pb.JobFilter{Kind: "KMeans"}
	for _, c := range []struct {
		order  pb.JobOrder
		up     bool
		filter *pb.JobFilter
		want   string
	}{
		{0, false, nil, "e d c b a"},
		{0, true, nil, "a b c d e"},
		{pb.JobOrder_JOB_ORDER_NAME, true, nil, "e b c a d"}, // apple twice, the newer first; c by its id
		{pb.JobOrder_JOB_ORDER_NAME, false, nil, "d a c e b"},
		{pb.JobOrder_JOB_ORDER_KIND, true, nil, "d c a b e"},
		{pb.JobOrder_JOB_ORDER_STATE, true, nil, "e b a c d"},
		{pb.JobOrder_JOB_ORDER_TOOK, false, nil, "b a c e d"}, // 4000, 4000, 3000, 1000, 900
		{0, false, kmeans, "d c a"},
		{0, false, &pb.JobFilter{NameContains: "ZEBRA"}, "d a"},
		{0, false, &pb.JobFilter{NameContains: "c"}, "c"}, // an id
		{0, false, &pb.JobFilter{SinceUnixMs: 3000}, "e d"},
		{0, false, &pb.JobFilter{ScheduleId: "nightly"}, ""},
		{0, false, &pb.JobFilter{States: []pb.JobState{pb.JobState_JOB_STATE_FAILED,
			pb.JobState_JOB_STATE_PLANNING}}, "d c"},
		{pb.JobOrder_JOB_ORDER_NAME, true, &pb.JobFilter{Kind: "KMeans", SinceUnixMs: 2000}, "c d"},
	} {
		req := &pb.ListRequest{Order: c.order, Ascending: c.up, Filter: c.filter}
		if got, next := ask(t, s, req, 5000); got != c.want || next != "" {
			t.Errorf("%v: %q, want %q", req, got, c.want)
		}
	}
}

// A page says how many jobs match on all pages, and which kinds there are, whatever the filter.
func TestPageCounts(t *testing.T) {
	s := apply(t, state.New(), 1000, submit("a", "", "X"), submit("b", "", "Y"), submit("c", "", "X"))
	query, err := listing.Parse(&pb.ListRequest{Limit: 1, Filter: &pb.JobFilter{Kind: "X"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	page := query.Page(s)
	if page.Matching != 2 || !slices.Equal(page.Kinds, []string{"X", "Y"}) || len(page.Jobs) != 1 || page.Next == "" {
		t.Errorf("%+v", page)
	}
}

// A job that runs has taken longer with each page that is asked for later, and one that ends has not: the time of the
// first page counts for all.
func TestPagesByTimeTaken(t *testing.T) {
	s := apply(t, state.New(), 1000, submit("a", "", "K"), submit("b", "", "K"))
	s = apply(t, s, 2000, submit("c", "", "K"), submit("d", "", "K"))
	req := &pb.ListRequest{Limit: 2, Order: pb.JobOrder_JOB_ORDER_TOOK}
	first, next := ask(t, s, req, 3000)
	s = apply(t, s, 9000, cancel("a"), cancel("c"))
	req.PageToken = next
	second, next := ask(t, s, req, 9_999_000)
	if first != "b a" || second != "d c" || next != "" {
		t.Errorf("%q then %q, and %q", first, second, next)
	}
}

func TestBadQueries(t *testing.T) {
	long := strings.Repeat("x", 257)
	s := apply(t, state.New(), 1, submit("a", "", "K"), submit("b", "", "K"))
	_, other := ask(t, s, &pb.ListRequest{Limit: 1}, 1)
	for says, req := range map[string]*pb.ListRequest{
		"order 9 is not":    {Order: 9},
		"order -1 is not":   {Order: -1},
		"states has 0":      {Filter: &pb.JobFilter{States: []pb.JobState{0}}},
		"states has 77":     {Filter: &pb.JobFilter{States: []pb.JobState{1, 77}}},
		"kind has 257":      {Filter: &pb.JobFilter{Kind: long}},
		"name_contains has": {Filter: &pb.JobFilter{NameContains: long}},
		`is "a\x1b[2J"`:     {Filter: &pb.JobFilter{NameContains: "a\x1b[2J"}},
		`is "\u202e"`:       {Filter: &pb.JobFilter{ScheduleId: "\u202e"}},
		"since_unix_ms":     {Filter: &pb.JobFilter{SinceUnixMs: -1}},
		"another filter":    {PageToken: other, Ascending: true},
		"not one that List": {PageToken: other + "AA"},
	} {
		if _, err := listing.Parse(req, 1); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", req, err, says)
		}
	}
	for _, text := range []string{"!", "MQ", "e30", "bnVsbA", other[1:], other + "=", other[:len(other)-1],
		// {"of":"","now":0,"after":{"number":1},"more":1}, and a number below 0
		"eyJvZiI6IiIsIm5vdyI6MCwiYWZ0ZXIiOnsibnVtYmVyIjoxfSwibW9yZSI6MX0", "eyJhZnRlciI6eyJudW1iZXIiOi0xfX0"} {
		if _, err := listing.Parse(&pb.ListRequest{PageToken: text}, 1); err == nil {
			t.Errorf("page token %q is taken", text)
		}
	}
	if _, err := listing.Parse(&pb.ListRequest{PageToken: other}, 1); err != nil {
		t.Errorf("the token itself: %v", err)
	}
}

// drawn is a state with some jobs, each in some state.
func drawn(t *rapid.T, s state.State, from, to int, now int64) state.State {
	for n := from; n < to; n++ {
		id := fmt.Sprintf("%s-%d", rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id"), n)
		s = apply(t, s, now+rapid.Int64Range(0, 3).Draw(t, "later"), submit(id,
			rapid.SampledFrom([]string{"", "x", "X", "topics", "Topics of a-1"}).Draw(t, "name"),
			rapid.SampledFrom([]string{"K", "L", "M"}).Draw(t, "kind")))
		for _, change := range []func(string) *pb.Command{start, fail, cancel} {
			if rapid.Bool().Draw(t, "change") {
				s = apply(t, s, now+rapid.Int64Range(0, 9).Draw(t, "end"), change(id))
			}
		}
	}
	return s
}
