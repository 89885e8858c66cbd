package coordinator

import (
	"net/url"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A job is run again by a form of ours: a new job of the same spec, one however often the form is sent.
func TestRunAgain(t *testing.T) {
	c := startTest(t, testConfig(""))
	spec := `{"apiVersion":"v1","kind":"NaiveBayes","metadata":{"name":"n"},"spec":{"input":{"uri":` +
		`"mem://jobs/x.csv","format":"csv","label":"y"},"output":{},"params":{},"repro":{"seed":1},"run":{}}}`
	first, err := c.services.Jobs.Submit(t.Context(),
		connect.NewRequest(&pb.SubmitRequest{Id: "a-job", SpecJson: spec}))
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
	if res := b.ask("GET", "/jobs/a-job/again", nil); res.StatusCode != 403 {
		t.Errorf("by a token of scope read: %d", res.StatusCode)
	}
	b.logIn(makeToken(t, c, gate.ScopeSubmit, 0), "")
	page := b.wantText("/jobs/a-job/again", 200, `action="/jobs/a-job/again"`)
	key, id := hidden(page, "key"), hidden(page, "new")
	for _, form := range []url.Values{{"key": {"00"}, "new": {id}}, {"key": {key}, "new": {"No id"}}, {"key": {key}}} {
		if res := b.ask("POST", "/jobs/a-job/again", form); res.StatusCode != 403 {
			t.Errorf("%v: %d", form, res.StatusCode)
		}
	}
	for range 2 {
		res := b.ask("POST", "/jobs/a-job/again", url.Values{"key": {key}, "new": {id}})
		if res.StatusCode != 303 || res.Header.Get("Location") != "/jobs/"+id {
			t.Fatalf("%d to %q", res.StatusCode, res.Header.Get("Location"))
		}
	}
	again, err := c.services.Jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: id}))
	if err != nil || !protocol.ValidJobID(id) || again.Msg.GetJob().GetSpecHash() != first.Msg.GetJob().GetSpecHash() {
		t.Errorf("%v, error %v", again, err)
	}
	jobs, err := c.services.Jobs.List(t.Context(), connect.NewRequest(&pb.ListRequest{}))
	if err != nil || len(jobs.Msg.GetJobs()) != 2 {
		t.Errorf("%v, error %v", jobs, err)
	}
}

// hidden is the value of a hidden field of the last form of a page.
func hidden(page, name string) string {
	at := strings.LastIndex(page, `name="`+name+`" value="`)
	_, rest, _ := strings.Cut(page[at:], `value="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}
