package coordinator

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/audit"
	"github.com/gram-compute/gram/coordinator/gate"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// ledger is where a test's coordinator writes its audit log.
type ledger struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *ledger) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *ledger) Close() error { return nil }

// take returns the lines that were not taken before, without those that the leader decided by itself
// unless they are asked for.
func (l *ledger) take(t *testing.T, decisions bool) (records []audit.Record) {
	t.Helper()
	l.mu.Lock()
	text := l.text.String()
	l.text.Reset()
	l.mu.Unlock()
	for line := range strings.Lines(text) {
		var r audit.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if decisions || !strings.HasPrefix(r.Who, "leader") && !strings.HasPrefix(r.Who, "schedule") {
			records = append(records, r)
		}
	}
	return records
}

func startAudited(t *testing.T) (*Coordinator, *ledger) {
	t.Helper()
	var l ledger
	cfg := testConfig("")
	cfg.AuditTo = &l
	return startTest(t, cfg), &l
}

// Every route that changes something leaves one line for each call, whatever becomes of it; a reading
// one, or a worker's, none, unless it is refused.
func TestEveryChangingCallLeavesOneLine(t *testing.T) {
	c, l := startAudited(t)
	url, client := serveTest(t, c)
	changing := 0
	for _, route := range slices.Sorted(maps.Keys(gate.Routes)) {
		token := c.AdminToken()
		if gate.Routes[route] == gate.ScopeWorker {
			token = c.WorkerToken()
		}
		for _, call := range []struct {
			body, authorization string
			always              bool
		}{{"{}", token.Reveal(), false}, {"{nonsense", token.Reveal(), false}, {"{}", gate.NewToken().Reveal(), true}} {
			post(t, client, url+route, call.body, call.authorization)
			want := 0
			if call.always || audit.Audited(route) {
				want = 1
				changing++
			}
			lines := l.take(t, false)
			if len(lines) != want {
				t.Errorf("%s with body %s: %d lines %+v, want %d", route, call.body, len(lines), lines, want)
				continue
			}
			for _, r := range lines {
				if name := audit.ProcedureName(route); r.What != name || r.Source == "" || r.Member != c.cfg.NodeID ||
					r.Time.IsZero() {
					t.Errorf("%s: %+v", route, r)
				}
				if call.always && (r.Who != "stranger" || r.Result != audit.Refused || r.Reason == "") ||
					!call.always && r.Who != "token "+token.ID {
					t.Errorf("%s: %+v", route, r)
				}
			}
		}
	}
	if changing < 30 {
		t.Errorf("only %d lines were called for", changing)
	}
}

// post calls a procedure with JSON; what it answers does not matter.
func post(t *testing.T, client *http.Client, url, body, token string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set(gate.SourceHeader, "forged")
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
}

func TestAuditTellsObjectResultAndEntry(t *testing.T) {
	c, l := startAudited(t)
	url, client := serveTest(t, c)
	submit := func(id, spec string) {
		body, err := json.Marshal(map[string]string{"id": id, "specJson": spec})
		if err != nil {
			t.Fatal(err)
		}
		post(t, client, url+"/gram.v1.JobService/Submit", string(body), c.AdminToken().Reveal())
	}
	submit("a", testSpec("canary-in-a-spec"))
	submit("a", testSpec("another-canary"))
	submit("b", `{"apiVersion":"canary"`)
	post(t, client, url+"/gram.v1.JobService/Cancel", `{"id":"a"}`, c.AdminToken().Reveal())
	post(t, client, url+"/gram.v1.JobService/Cancel", `{"id":"none"}`, c.AdminToken().Reveal())
	l.mu.Lock()
	text := l.text.String()
	l.mu.Unlock()
	for _, secret := range []string{"canary", "forged", c.AdminToken().Reveal(),
		strings.SplitN(c.AdminToken().Reveal(), "_", 3)[2]} {
		if strings.Contains(text, secret) {
			t.Errorf("the audit log holds %q:\n%s", secret, text)
		}
	}
	var got []string
	index := uint64(0)
	for _, r := range l.take(t, false) {
		reason, _, _ := strings.Cut(r.Reason, " (hash")
		got = append(got, strings.Join([]string{r.What, r.Object, string(r.Result), reason}, "|"))
		if r.Result == audit.OK && r.RaftIndex <= index {
			t.Errorf("%+v is no later entry than %d", r, index)
		}
		index = max(index, r.RaftIndex)
	}
	want := []string{
		"JobService.Submit|a|ok|",
		"JobService.Submit|a|refused|already_exists: job a exists with another spec",
		"JobService.Submit|b|refused|invalid_argument",
		"JobService.Cancel|a|ok|",
		"JobService.Cancel|none|refused|not_found: no job \"none\"",
	}
	if !slices.Equal(got, want) {
		t.Errorf("lines\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What the leader decides by itself is told too: here the admission of a job, and its failing.
func TestAuditTellsTheLeadersDecisions(t *testing.T) {
	c, l := startAudited(t)
	planTest(t, c, "a", 2)
	failure := &pb.Failure{Code: "BROKEN", Class: pb.FailureClass_FAILURE_CLASS_INPUT, Message: "canary"}
	registerTest(t, c, "w", 1)
	task := leaseTest(t, c, "w", 1).GetTasks()[0]
	completeTest(t, c, "w", &pb.TaskResult{Id: task.GetId(), Token: task.GetToken(),
		Outcome: &pb.TaskResult_Failure{Failure: failure}})
	await(t, c, "a fails", inStage("a", pb.JobState_JOB_STATE_FAILED))
	var got []string
	for _, r := range l.take(t, true) {
		if r.RaftIndex == 0 || strings.Contains(r.Reason, "canary") {
			t.Errorf("%+v", r)
		}
		got = append(got, r.Who+" "+r.What+" "+r.Object)
	}
	for _, want := range []string{"leader init ", "leader put_token " + c.AdminToken().ID, "leader start a",
		"leader fail a"} {
		if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("no line %q among\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// A call that reaches a follower leaves its line at the leader, once, with its true caller.
func TestAuditOfACallThatIsHandedOn(t *testing.T) {
	q := startQuorum(t, 2)
	jobs, _ := q.calls(q.follower())
	if _, err := jobs.Submit(t.Context(),
		connect.NewRequest(&pb.SubmitRequest{Id: "a", SpecJson: testSpec("a")})); err != nil {
		t.Fatal(err)
	}
	var lines []audit.Record
	for _, c := range q.members {
		for _, r := range auditOf(t, c) {
			if r.What == "JobService.Submit" {
				lines = append(lines, r)
			}
		}
	}
	if len(lines) != 1 {
		t.Fatalf("%d lines: %+v", len(lines), lines)
	}
	r := lines[0]
	if r.Member != q.leader().cfg.NodeID || r.Via != q.follower().cfg.NodeID || r.Who != "token "+q.token.ID ||
		!strings.HasPrefix(r.Source, "127.0.0.1:") || r.RaftIndex == 0 {
		t.Errorf("%+v", r)
	}
}

// auditOf reads the audit log in a coordinator's data directory.
func auditOf(t *testing.T, c *Coordinator) (records []audit.Record) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.cfg.DataDir, AuditFile))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r audit.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		records = append(records, r)
	}
	return records
}

func TestAuditOff(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.Audit = AuditOff
	c := startTest(t, cfg)
	submitTest(t, c, "a")
	if _, err := os.Stat(filepath.Join(cfg.DataDir, AuditFile)); !os.IsNotExist(err) {
		t.Errorf("an audit log is written: %v", err)
	}
}

// A sweep names the jobs that it retires, also one that somebody asked for.
func TestASweepByHandNamesWhatItRetires(t *testing.T) {
	var l ledger
	cfg := testConfig("")
	cfg.AuditTo, cfg.KeepJobs, cfg.SweepEvery = &l, time.Millisecond, time.Hour
	c := startTest(t, cfg)
	url, client := serveTest(t, c)
	run{t, c, "a"}.finish()
	<-time.After(2 * time.Millisecond) // its time is over
	l.take(t, true)
	post(t, client, url+gramv1connect.UpkeepServiceSweepProcedure, "{}", c.AdminToken().Reveal())
	var lines []string
	for _, r := range l.take(t, true) {
		lines = append(lines, r.Who+" "+r.What+" "+r.Object)
	}
	if want := []string{"leader retire_jobs jobs a", "token " + c.AdminToken().ID +
		" UpkeepService.Sweep "}; !slices.Equal(lines, want) {
		t.Errorf("lines %q, want %q", lines, want)
	}
}
