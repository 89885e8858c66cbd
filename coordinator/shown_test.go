package coordinator

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// stepTest makes the leaves, merge and step of a round of two leaves by hand, with metrics in the store.
func stepTest(t *testing.T, c *Coordinator, id, metrics string, next *pb.Next) {
	t.Helper()
	for _, tasks := range []int{2, 1} { // the leaves, then their merge
		for _, task := range leaseTest(t, c, "w", tasks).GetTasks() {
			completeTest(t, c, "w", made(task, &pb.TaskOutput{Object: object(byte(task.GetId().GetIndex() + 40))}))
		}
	}
	step := leaseTest(t, c, "w", 1).GetTasks()[0]
	sum := sha256.Sum256([]byte(metrics))
	if _, err := c.cfg.Store.Put(t.Context(), protocol.ObjectKey(id, step.GetId().GetRound(), sum),
		[]byte(metrics)); err != nil {
		t.Fatal(err)
	}
	next.Metrics = &pb.ObjectRef{Sha256: sum[:], Size: int64(len(metrics))}
	completeTest(t, c, "w", made(step, &pb.TaskOutput{Next: next}))
}

// The numbers of rounds are read from the store and checked; a round that has none, or whose object is damaged, says
// so.
func TestMetricsOfRounds(t *testing.T) {
	c := startTest(t, testConfig(""))
	registerTest(t, c, "w", 2)
	submitTest(t, c, "a")
	completeTest(t, c, "w", made(leaseTest(t, c, "w", 1).GetTasks()[0], planOutput(2)))
	stepTest(t, c, "a", `[{"name":"x.001.moved","value":5},{"name":"words","value":"a"},{"name":"big","value":1e400},`+
		`{"name":"nothing","value":null},{"name":"list","value":[1]}]`,
		&pb.Next{Phase: "count", Trees: []uint32{2}, State: object(4)})
	stepTest(t, c, "a", `{"no":"list"}`, &pb.Next{Phase: "count", Trees: []uint32{2}, State: object(5)})
	stepTest(t, c, "a", `[{"name":"x.003.moved","value":-0.5}]`,
		&pb.Next{Phase: "count", Trees: []uint32{2}, State: object(6)})
	damaged := sha256.Sum256([]byte(`[{"name":"x.003.moved","value":-0.5}]`))
	if _, err := c.cfg.Store.Put(t.Context(), protocol.ObjectKey("a", 3, damaged),
		[]byte(`[{"name":"x.003.moved","value":-1.5}]`)); err != nil {
		t.Fatal(err)
	}
	res, err := c.services.Jobs.Metrics(t.Context(),
		connect.NewRequest(&pb.MetricsRequest{Id: "a", Rounds: []uint32{1, 2, 3, 4}}))
	if err != nil {
		t.Fatal(err)
	}
	rounds := res.Msg.GetRounds()
	if m := rounds[0].GetMetrics(); len(rounds) != 4 || len(m) != 1 || m[0].GetName() != "x.001.moved" ||
		m[0].GetValue() != 5 || rounds[0].GetMissing() != "" {
		t.Errorf("%v", rounds)
	}
	for i, want := range map[int]string{1: "no list", 2: "is damaged", 3: "has not ended"} {
		if len(rounds[i].GetMetrics()) > 0 || !strings.Contains(rounds[i].GetMissing(), want) {
			t.Errorf("round %d: %v, want %q", i+1, rounds[i], want)
		}
	}
	_, err = c.services.Jobs.Metrics(t.Context(),
		connect.NewRequest(&pb.MetricsRequest{Id: "a", Rounds: make([]uint32, 65)}))
	wantCode(t, "65 rounds", err, connect.CodeInvalidArgument)
	for _, call := range []func() error{
		func() error {
			_, err := c.services.Jobs.Leaves(t.Context(), connect.NewRequest(&pb.LeavesRequest{Id: "none"}))
			return err
		}, func() error {
			_, err := c.services.Jobs.Timeline(t.Context(), connect.NewRequest(&pb.TimelineRequest{Id: "none"}))
			return err
		}, func() error {
			_, err := c.services.Jobs.Report(t.Context(), connect.NewRequest(&pb.ReportRequest{Id: "none"}))
			return err
		}} {
		wantCode(t, "no such job", call(), connect.CodeNotFound)
	}
}

// An answer reads no more than it may, however much rounds found and however often one is asked for.
func TestMetricsAreBounded(t *testing.T) {
	c := startTest(t, testConfig(""))
	registerTest(t, c, "w", 2)
	submitTest(t, c, "a")
	completeTest(t, c, "w", made(leaseTest(t, c, "w", 1).GetTasks()[0], planOutput(2)))
	stepTest(t, c, "a", `[{"name":"x","value":1}`+strings.Repeat(" ", 3<<20)+`]`,
		&pb.Next{Phase: "count", Trees: []uint32{2}, State: object(4)})
	res, err := c.services.Jobs.Metrics(t.Context(),
		connect.NewRequest(&pb.MetricsRequest{Id: "a", Rounds: []uint32{1, 1, 1, 1, 1, 1, 1, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, found := range res.Msg.GetRounds() {
		if read += len(found.GetMetrics()); (found.GetMissing() == "") != (len(found.GetMetrics()) == 1) {
			t.Errorf("%v", found)
		}
	}
	if read != 2 {
		t.Errorf("%d rounds of 3 MiB were read", read)
	}
}

// A report that a worker wrote is served as it is, with a policy under which nothing in it works but its styles; one
// that is not what the log names is not served.
func TestReportPage(t *testing.T) {
	c := startTest(t, testConfig(""))
	registerTest(t, c, "w", 2)
	submitTest(t, c, "a")
	completeTest(t, c, "w", made(leaseTest(t, c, "w", 1).GetTasks()[0], planOutput(2)))
	stepTest(t, c, "a", `[]`, &pb.Next{Done: true, State: object(30)})
	page := []byte("<!doctype html><style>p{}</style><p>found</p>")
	sum := sha256.Sum256(page)
	key := protocol.OutputPrefix("a") + "report.html"
	if _, err := c.cfg.Store.Put(t.Context(), key, page); err != nil {
		t.Fatal(err)
	}
	files := []*pb.OutputFile{modelTest("a", object(30)),
		{Name: "report.html", Uri: "mem://m/" + key, Sha256: sum[:], Size: int64(len(page))}}
	wantVerdicts(t, completeTest(t, c, "w", made(leaseTest(t, c, "w", 1).GetTasks()[0], &pb.TaskOutput{Files: files})),
		pb.Verdict_VERDICT_ACCEPTED)
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
	if text := b.text(b.ask("GET", "/jobs/a", nil)); !strings.Contains(text, `href="/jobs/a/report"`) ||
		!strings.Contains(text, fmt.Sprintf("%x", sum)) {
		t.Errorf("the job's page has no way to its report, or no digest: %s", text)
	}
	res := b.ask("GET", "/jobs/a/report", nil)
	policy := res.Header.Get("Content-Security-Policy")
	if text := b.text(res); text != string(page) || !strings.HasPrefix(policy, "sandbox; default-src 'none';") ||
		strings.Contains(policy, "script") || strings.Contains(policy, "allow") {
		t.Errorf("policy %q, %s", policy, text)
	}
	other := strings.Replace(string(page), "found", "false", 1)
	if _, err := c.cfg.Store.Put(t.Context(), key, []byte(other)); err != nil {
		t.Fatal(err)
	}
	if res := b.ask("GET", "/jobs/a/report", nil); res.StatusCode == 200 || !strings.Contains(b.text(res), "damaged") {
		t.Errorf("a report with other bytes: %d", res.StatusCode)
	}
}

// Of a long log the last lines alone are read.
func TestLastLines(t *testing.T) {
	cfg := testConfig("")
	c := startTest(t, cfg)
	submitTest(t, c, "a")
	store := func(at int64, lines ...string) {
		if _, err := cfg.Store.Put(t.Context(), protocol.LogKey("a", at, "w", uint64(at)),
			[]byte(strings.Join(lines, "\n")+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	url, client := serveTest(t, c)
	jobs := gramv1connect.NewJobServiceClient(client, url, as(c.AdminToken()))
	last := func(tail uint32, cursor string) (*pb.LogsResponse, bool) {
		stream, err := jobs.Logs(t.Context(),
			connect.NewRequest(&pb.LogsRequest{Id: "a", Tail: tail, Cursor: cursor}))
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		if !stream.Receive() {
			return nil, stream.Err() == nil
		}
		found := stream.Msg()
		return found, !stream.Receive() && stream.Err() == nil
	}
	if found, ok := last(3, ""); found != nil || !ok {
		t.Errorf("of no log: %v", found)
	}
	store(1, "one", "two")
	store(2, "three")
	store(3, "four", "five")
	for tail, want := range map[uint32][]string{1: {"five"}, 3: {"three", "four", "five"},
		9: {"one", "two", "three", "four", "five"}} {
		if found, ok := last(tail, ""); !ok || !slices.Equal(found.GetLines(), want) ||
			found.GetSkipped() != (tail < 5) {
			t.Errorf("the last %d: %v", tail, found)
		}
	}
	all, _ := last(9, "")
	store(4, strings.Repeat("x", 1<<20), "end")
	if found, ok := last(9, all.GetCursor()); !ok || len(found.GetLines()) != 1 || found.GetLines()[0] != "end" ||
		!found.GetSkipped() {
		t.Errorf("of a segment that is too long to read: %d lines", len(found.GetLines()))
	}
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
	if text := b.text(b.ask("GET", "/jobs/a/logs", nil)); !strings.Contains(text, "one\ntwo\n") ||
		!strings.Contains(text, "/jobs/a/logs/live?from=") || !strings.HasSuffix(text, "</html>\n") {
		t.Errorf("%.2000s", text)
	}
}

// odd are texts that would steer a page, or make one of their own.
var odd = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "\x1b[31mred", "\u202egnp.exe",
	`</pre></section><h1>x</h1>`, "a\r\nevent: end\r\ndata: x", "\u2028</svg><script>", "{{.}}"}

// What workers and users write is shown as text, on the page and in its moving pieces.
func TestOddTextsOfAJob(t *testing.T) {
	cfg := testConfig("")
	c := startTest(t, cfg)
	registerTest(t, c, "w", 2)
	submitTest(t, c, "a")
	completeTest(t, c, "w", made(leaseTest(t, c, "w", 1).GetTasks()[0], planOutput(2)))
	for i, text := range odd {
		line := fmt.Sprintf(`{"time":"t","event":%q,"worker":%q,"message":%q}`, text, text, text)
		if _, err := cfg.Store.Put(t.Context(), protocol.LogKey("a", int64(i), "w", 1),
			[]byte(line+"\n"+text)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what, text string) {
		t.Helper()
		for _, bad := range []string{"<script>alert", "<img", "\x1b", "\u202e", "<h1>x", "\u2028", "\r"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q: %s", what, bad, text)
			}
		}
	}
	v := view(t, c, "/jobs/a/live", makeToken(t, c, gate.ScopeRead, 0))
	check("the log that moves", v.await("job-log", "alert(1)"))
	v.close()
	v.ended()
	leaves := leaseTest(t, c, "w", 2).GetTasks()
	completeTest(t, c, "w", broke(leaves[0], pb.FailureClass_FAILURE_CLASS_INPUT, strings.Join(odd, " ")))
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
	for _, path := range []string{"/jobs/a", "/jobs/a/logs"} {
		text := b.text(b.ask("GET", path, nil))
		check(path, strings.Replace(text, `<script src="/live.js" defer></script>`, "", 1))
		if !strings.Contains(text, "alert(1)") {
			t.Errorf("%s shows none of it", path)
		}
	}
}
