package coordinator

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// liveEvent is a server-sent event: a piece has the id of its element and its HTML.
type liveEvent struct{ name, id, data string }

// viewer watches a job's page.
type viewer struct {
	*testing.T
	events chan liveEvent // closed when the stream ends
	close  context.CancelFunc
}

// flusher is an answer that is read while it is written.
type flusher struct {
	*httptest.ResponseRecorder
	to *io.PipeWriter
}

func (f flusher) Write(p []byte) (int, error) { return f.to.Write(p) }
func (f flusher) Flush()                      {}

// view begins to watch. It needs no network, so that it runs in a bubble.
func view(t *testing.T, c *Coordinator, path string, token gate.Token) *viewer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	v := &viewer{T: t, events: make(chan liveEvent, 1000), close: cancel}
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	req.AddCookie(&http.Cookie{Name: gate.SiteCookie, Value: token.Reveal()})
	from, to := io.Pipe()
	go func() {
		c.Handler().ServeHTTP(flusher{httptest.NewRecorder(), to}, req)
		_ = to.Close() // never fails
	}()
	go func() {
		defer close(v.events)
		event, data := liveEvent{}, []string(nil)
		for lines := bufio.NewScanner(from); lines.Scan(); {
			text := lines.Text()
			switch {
			case strings.HasPrefix(text, "event: "):
				event.name = text[len("event: "):]
			case strings.HasPrefix(text, "data: "):
				data = append(data, text[len("data: "):])
			case text == "" && event.name != "":
				if event.data = strings.Join(data, "\n"); event.name == "piece" {
					event.id, event.data = data[0], strings.Join(data[1:], "\n")
				}
				v.events <- event
				event, data = liveEvent{}, nil
			}
		}
	}()
	return v
}

// await returns the next event of an element, or of a name, that has a text.
func (v *viewer) await(id, text string) string {
	v.Helper()
	seen := ""
	for e := range v.events {
		if e.id == id || e.name == id {
			if seen = e.data; strings.Contains(seen, text) {
				return seen
			}
		}
	}
	v.Fatalf("the stream ended without %q in %s; the last was %q", text, id, seen)
	return ""
}

// ended reads until the stream ends, and returns the name of the last event.
func (v *viewer) ended() (last string) {
	for e := range v.events {
		last = e.name
	}
	return last
}

// calls is how many calls of a procedure were answered.
func calls(t *testing.T, c *Coordinator, procedure string) (n float64) {
	t.Helper()
	for name, value := range gathered(t, c) { //lint:ordered a sum of whole numbers
		if strings.HasPrefix(name, "gram_calls_total{") && strings.Contains(name, procedure) {
			n += value
		}
	}
	return n
}

// A job by hand, as three who watch it see it: the same pieces, asked for once. The first to watch goes in between.
func TestLiveToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		registerTest(t, c, "w", 2)
		submitTest(t, c, "a")
		plan := leaseTest(t, c, "w", 1)
		token := makeToken(t, c, gate.ScopeRead, 0)
		all := []*viewer{view(t, c, "/jobs/a/live", token)}
		synctest.Wait()
		for range 2 {
			all = append(all, view(t, c, "/jobs/a/live", makeToken(t, c, gate.ScopeRead, 0)))
		}
		for _, v := range all {
			v.await("job-state", "planning")
		}
		wantVerdicts(t, completeTest(t, c, "w", made(plan.GetTasks()[0], planOutput(2))), pb.Verdict_VERDICT_ACCEPTED)
		leaves := leaseTest(t, c, "w", 2).GetTasks()
		<-time.After(time.Second)
		completeTest(t, c, "w", made(leaves[0], &pb.TaskOutput{Object: object(10)}))
		pictures := map[string]bool{}
		for _, v := range all {
			v.await("job-state", "1 of 2 leaves")
			pictures[v.await("job-leaves", "1 of 2 committed, 1 running")] = true
		}
		if len(pictures) != 1 {
			t.Errorf("they see different pictures: %v", pictures)
		}
		if n := calls(t, c, "Timeline"); n > 2 {
			t.Errorf("the timeline was asked for %g times for three who watch", n)
		}
		all[0].close() // it asked for all
		all[0].ended()
		completeTest(t, c, "w", made(leaves[1], &pb.TaskOutput{Object: object(11)}))
		merge := leaseTest(t, c, "w", 1).GetTasks()[0]
		for _, v := range all[1:] {
			v.await("job-leaves", "1 merge")
			v.await("job-timeline", "<svg")
		}
		completeTest(t, c, "w", made(merge, &pb.TaskOutput{Object: object(20)}))
		step := leaseTest(t, c, "w", 1).GetTasks()[0]
		completeTest(t, c, "w", made(step, &pb.TaskOutput{Next: &pb.Next{Done: true, State: object(30)}}))
		report := leaseTest(t, c, "w", 1).GetTasks()[0]
		for _, v := range all[1:] {
			v.await("job-rounds", "<td>count</td>")
		}
		completeTest(t, c, "w",
			made(report, &pb.TaskOutput{Files: []*pb.OutputFile{modelTest("a", object(30))}}))
		for _, v := range all[1:] {
			if last := v.ended(); last != "end" {
				t.Errorf("the last event is %q", last)
			}
		}
		if v := view(t, c, "/jobs/a/live", makeToken(t, c, gate.ScopeRead, 0)); v.ended() != "end" {
			t.Error("a job that has ended is not told to have")
		}
		stopTest(t, c)
	})
}

// Each line of the log stands once on the page, also after another has its turn to ask.
func TestLiveLogAfterAnotherAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig("")
		if _, err := cfg.Store.Put(t.Context(), protocol.LogKey("a", 1, "w", 1), []byte("one\n")); err != nil {
			t.Fatal(err)
		}
		c := startTest(t, cfg)
		planTest(t, c, "a", 2)
		first := view(t, c, "/jobs/a/live", makeToken(t, c, gate.ScopeRead, 0))
		first.await("job-log", "one")
		second := view(t, c, "/jobs/a/live", makeToken(t, c, gate.ScopeRead, 0))
		second.await("job-log", "one")
		first.close() // it asked for both
		first.ended()
		sleep(5 * time.Second)
		if _, err := cfg.Store.Put(t.Context(), protocol.LogKey("a", 2, "w", 1), []byte("two\n")); err != nil {
			t.Fatal(err)
		}
		if text := second.await("job-log", "two"); strings.Count(text, "one") != 1 {
			t.Errorf("the log is %q", text)
		}
		second.close()
		second.ended()
		stopTest(t, c)
	})
}

// A round of many commits is told twice a second, whatever their number.
func TestLiveKeepsItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		planTest(t, c, "a", 1000)
		registerTest(t, c, "w", 1)
		v := view(t, c, "/jobs/a/live", makeToken(t, c, gate.ScopeRead, 0))
		v.await("job-state", "0 of 1,000 leaves")
		began := time.Now()
		for leaf := range uint32(500) {
			if _, err := c.leads.Log().Complete(t.Context(), leafDone("a", leaf)); err != nil {
				t.Fatal(err)
			}
			<-time.After(20 * time.Millisecond)
		}
		seconds := int(time.Since(began) / time.Second)
		v.await("job-state", "500 of 1,000 leaves")
		synctest.Wait()
		v.close()
		for e := range v.events {
			if e.id == "job-state" {
				t.Errorf("a late piece: %+v", e)
			}
		}
		if calls := calls(t, c, "Leaves"); calls < 10 || calls > float64(3*seconds+5) {
			t.Errorf("the leaves were asked for %g times in %d s", calls, seconds)
		}
		stopTest(t, c)
	})
}

// The stream of a revoked token ends, also while the calls for all are made with it. The others go on, with their own.
func TestLiveOfARevokedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		planTest(t, c, "a", 2)
		token := makeToken(t, c, gate.ScopeRead, 0)
		first := view(t, c, "/jobs/a/live", token)
		synctest.Wait() // it asks
		second := view(t, c, "/jobs/a/live", makeToken(t, c, gate.ScopeRead, 0))
		second.await("job-state", "0 of 2 leaves")
		revokeToken(t, c, token.ID)
		first.ended()
		if _, err := c.leads.Log().Complete(t.Context(), leafDone("a", 1)); err != nil {
			t.Fatal(err)
		}
		second.await("job-state", "1 of 2 leaves")
		second.close()
		second.ended()
		for _, token := range []gate.Token{token, gate.NewToken(), makeToken(t, c, gate.ScopeWorker, 0)} {
			if v := view(t, c, "/jobs/a/live", token); v.ended() != "" {
				t.Error("a token without the right watches")
			}
		}
		stopTest(t, c)
	})
}

// A member that stops tells who watches, and waits for none of them.
func TestLiveEndsWithItsMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		planTest(t, c, "a", 2)
		v := view(t, c, "/jobs/a/live", makeToken(t, c, gate.ScopeRead, 0))
		v.await("job-state", "0 of 2 leaves")
		stopTest(t, c)
		if last := v.ended(); last != "problem" {
			t.Errorf("the last event is %q", last)
		}
	})
}

// A job that was cancelled, and one that failed, show what led there while the leader knows it.
func TestPagesOfJobsThatFailed(t *testing.T) {
	cfg := testConfig("")
	c := startTest(t, cfg)
	registerTest(t, c, "w", 4)
	planTest(t, c, "a", 2)
	planTest(t, c, "b", 2)
	for _, task := range leaseTest(t, c, "w", 4).GetTasks() {
		if task.GetId().GetJobId() == "a" {
			completeTest(t, c, "w", broke(task, pb.FailureClass_FAILURE_CLASS_INPUT, "X: row 3 is no number"))
			break
		}
	}
	if _, err := c.services.Jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "b"})); err != nil {
		t.Fatal(err)
	}
	line := `{"time":"2026-11-21T09:00:01Z","level":"error","event":"failed","worker":"w","task":"plan"}`
	if _, err := cfg.Store.Put(t.Context(), protocol.LogKey("a", 1, "w1", 1), []byte(line+"\n")); err != nil {
		t.Fatal(err)
	}
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
	for id, wants := range map[string][]string{
		"a": {"row 3 is no number", "<code>X</code>", "round 1, tree 0", "told by worker w", "task failed",
			"Timeline by worker", `class="state failed"`, "error w plan: failed", `href="/jobs/a/logs"`},
		"b": {`class="state cancelled"`, "Timeline by worker"},
	} {
		text := b.text(b.ask("GET", "/jobs/"+id, nil))
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("the page of job %s has no %q:\n%s", id, want, text)
			}
		}
		if strings.Contains(text, "data-live") || strings.Contains(text, "/cancel") {
			t.Errorf("job %s moves, or can be cancelled", id)
		}
	}
}
