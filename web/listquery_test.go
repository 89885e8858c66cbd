package web

import (
	"net/url"
	"strings"
	"testing"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

func TestAsk(t *testing.T) {
	for query, want := range map[string]*pb.ListRequest{
		"":                                    {Order: pb.JobOrder_JOB_ORDER_SUBMITTED, Filter: &pb.JobFilter{}},
		"state=&kind=&name=&schedule=&since=": {Order: pb.JobOrder_JOB_ORDER_SUBMITTED, Filter: &pb.JobFilter{}},
		"state=failed&sort=name": {Order: pb.JobOrder_JOB_ORDER_NAME, Ascending: true,
			Filter: &pb.JobFilter{States: []pb.JobState{pb.JobState_JOB_STATE_FAILED}}},
		"state=active&sort=took&dir=asc&from=t": {Order: pb.JobOrder_JOB_ORDER_TOOK, Ascending: true, PageToken: "t",
			Filter: &pb.JobFilter{States: activeStates}},
		"kind=K&name=+a+b+&schedule=s&since=1970-01-01T00:02": {Order: pb.JobOrder_JOB_ORDER_SUBMITTED,
			Filter: &pb.JobFilter{Kind: "K", NameContains: "a b", ScheduleId: "s", SinceUnixMs: 120_000}},
		"since=1970-01-01T01:00:00%2B01:00": {Order: pb.JobOrder_JOB_ORDER_SUBMITTED, Filter: &pb.JobFilter{}},
	} {
		form, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		ask, err := parseAsk(form)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		want.Limit = jobsOfPage
		if got := ask.request(); !proto.Equal(got, want) {
			t.Errorf("%s asks for %v, want %v", query, got, want)
		}
		again, err := url.ParseQuery(strings.TrimPrefix(ask.query(), "?"))
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := parseAsk(again); err != nil || twice != ask {
			t.Errorf("%s: the address again is %s: %v", query, ask.query(), err)
		}
	}
}

func TestBadAsks(t *testing.T) {
	for query, says := range map[string]string{
		"state=asleep": "one of active, queued, planning, running, succeeded, failed, cancelled",
		"state=ACTIVE": "no job is in a state", "state=unspecified": "no job is in a state",
		"sort=size": "nothing is sorted by", "dir=up": "no direction", "since=yesterday": "no time after 1970",
		"since=1969-12-31": "no time after 1970", "stat=failed": `a list has no "stat"`,
		"state=failed&state=queued": "more than once", "name=" + strings.Repeat("a", 9) + "&name=": "more than once",
		"sort=%1b[2J": `"\x1b[2J"`, "%3Cscript%3E=1": "a list has no",
	} {
		form, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseAsk(form); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", query, err, says)
		}
	}
}

// The headings order the list by their column; that of the present order turns it around. Both keep the filter.
func TestHeadings(t *testing.T) {
	v := &jobList{listAsk: listAsk{State: "failed", Sort: "took", From: "token"}}
	for _, h := range v.Headings() {
		want := map[string]string{"name": "asc", "state": "asc", "took": "asc", "kind": "asc",
			"submitted": "desc"}[h.Sort]
		if h.Href != "/jobs?dir="+want+"&sort="+h.Sort+"&state=failed" {
			t.Errorf("%s leads to %s", h.Sort, h.Href)
		}
		if aria := map[bool]string{true: "descending"}[h.Sort == "took"]; h.Aria != aria {
			t.Errorf("%s is %q", h.Sort, h.Aria)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[uint32]string{0: "0", 999: "999", 1000: "1,000", 12345: "12,345",
		4294967295: "4,294,967,295"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
