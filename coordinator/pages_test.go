package coordinator

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/listen"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// page reads one of a coordinator's pages.
func page(t *testing.T, c *Coordinator, path string, token gate.Token) (status int, body string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	if token.ID != "" {
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	rec := httptest.NewRecorder()
	c.Handler().ServeHTTP(rec, req)
	text, err := io.ReadAll(rec.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Code, string(text)
}

func wantPage(t *testing.T, c *Coordinator, path string, status int, text string) {
	t.Helper()
	if got, body := page(t, c, path, gate.Token{}); got != status || !strings.Contains(body, text) {
		t.Errorf("%s answers %d %q, want %d %q", path, got, body, status, text)
	}
}

func TestProbesOfALeader(t *testing.T) {
	c := startTest(t, testConfig(""))
	wantPage(t, c, "/healthz", 200, "ok\n")
	wantPage(t, c, "/readyz", 200, "ok\n")
	wantPage(t, c, "/metrics", 401, "no valid token")
	stopTest(t, c)
	wantPage(t, c, "/readyz", 503, "shutting down")
	wantPage(t, c, "/healthz", 200, "ok\n")
}

func TestProbesTellOfAFailedLog(t *testing.T) {
	var d disk
	c := startTest(t, d.under(testConfig("")))
	d.breakWith(errors.New("it is on fire"))
	c.fail(errors.New("raft log: append: it is on fire")) // what the watchdog does
	wantPage(t, c, "/healthz", 503, "failed")
	wantPage(t, c, "/readyz", 503, "failed")
	d.breakWith(nil)
}

// Before the log is applied probes are answered and calls wait.
func TestProbesBeforeTheLogIsApplied(t *testing.T) {
	c := unstarted(testConfig("").withTimes())
	reached := make(chan struct{})
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(reached) })
	handler := listen.Hold(gate.New(c.gatePolicy()).Wrap(listen.Pages(health{c}, c.meters.Handler(), next)), c.begun,
		c.tasks)
	c.handler = handler
	wantPage(t, c, "/healthz", 200, "ok\n")
	wantPage(t, c, "/readyz", 503, "starting")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the caller does not wait
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/gram.v1.JobService/Get", nil)
	rec := httptest.NewRecorder()
	handler.ServeHTTP(rec, req)
	select {
	case <-reached:
		t.Error("a call came through")
	default:
	}
	c.tasks.Stop()
	rec = httptest.NewRecorder()
	handler.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/gram.v1.JobService/Get", nil))
	if rec.Code != http.StatusServiceUnavailable {
		t.Errorf("a waiting call is told %d when the coordinator stops", rec.Code)
	}
}

// A follower answers for itself; alone it knows no leader and says so.
func TestProbesAndMetricsOfAFollower(t *testing.T) {
	q := startQuorum(t, 2)
	follower := q.follower()
	wantPage(t, follower, "/readyz", 200, "ok\n")
	var got map[string]float64
	q.poll("the follower to hear of its vote", func() bool {
		got = gathered(t, follower)
		return got["gram_raft_voters"] == 2
	})
	if got["gram_raft_is_leader"] != 0 || got["gram_raft_has_leader"] != 1 || got["gram_raft_applied_index"] == 0 {
		t.Errorf("a follower says %v", got)
	}
	for name := range got {
		if strings.HasPrefix(name, "gram_jobs") || strings.HasPrefix(name, "gram_worker") ||
			strings.HasPrefix(name, "gram_tasks") {
			t.Errorf("a follower exports %s, which is the leader's", name)
		}
	}
	leader := q.leader()
	q.poll("the leader to have asked",
		func() bool { return gathered(t, leader)[`gram_member_healthy{`+follower.cfg.NodeID+`}`] == 1 })
	stopTest(t, leader)
	q.poll("the follower to be alone", func() bool {
		status, body := page(t, follower, "/readyz", gate.Token{})
		return status == 503 && strings.Contains(body, "leader")
	})
	wantPage(t, follower, "/healthz", 200, "ok\n")
}

// gathered reads a coordinator's metrics: name, or name{label values}, to value.
func gathered(t *testing.T, c *Coordinator) map[string]float64 {
	t.Helper()
	families, err := c.meters.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]float64)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			name := family.GetName()
			if len(labels) > 0 {
				name += "{" + strings.Join(labels, ",") + "}"
			}
			values[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(
				m.GetHistogram().GetSampleCount())
		}
	}
	return values
}

func TestMetricsOfALeaderAtWork(t *testing.T) {
	c := startTest(t, testConfig(""))
	planTest(t, c, "a", 8)
	await(t, c, "a runs", inStage("a", pb.JobState_JOB_STATE_RUNNING))
	w := c.services.Workers
	if _, err := w.Register(t.Context(), connect.NewRequest(&pb.RegisterRequest{WorkerId: "w", Slots: 3})); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		"gram_jobs{running}": 1, "gram_jobs{failed}": 0, "gram_workers": 1, "gram_worker_slots": 3,
		"gram_tasks_waiting": 8, "gram_tasks_leased": 0,
		"gram_worker_slots_wanted": 8, "gram_raft_is_leader": 1, "gram_raft_has_leader": 1, "gram_ready": 1,
		"gram_raft_voters":            1,
		"gram_determinism_violations": 0, "gram_committed_leased_total": 0, "gram_state_mismatches_total": 0,
	}
	wantMetrics(t, c, want)
	if _, err := w.Lease(t.Context(), connect.NewRequest(&pb.LeaseRequest{WorkerId: "w", MaxTasks: 3})); err != nil {
		t.Fatal(err)
	}
	wantMetrics(t, c, map[string]float64{"gram_tasks_waiting": 5, "gram_tasks_leased": 3, "gram_worker_slots_wanted": 8,
		"gram_leases_granted_total": 3})
	if status, body := page(t, c, "/metrics", c.AdminToken()); status != 200 ||
		!strings.Contains(body, "gram_worker_slots_wanted 8\n") {
		t.Errorf("/metrics answers %d\n%s", status, body)
	}
	wantPage(t, c, "/metrics", 401, "")
	wantMetrics(t, c, map[string]float64{"gram_denied_total{unauthenticated}": 1})
}

func wantMetrics(t *testing.T, c *Coordinator, want map[string]float64) {
	t.Helper()
	got := gathered(t, c)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value, there := got[name]; !there || value != want[name] {
			t.Errorf("%s is %v (%v), want %v", name, value, there, want[name])
		}
	}
}

// The names, units and help texts are as Prometheus' own linter wants them, and labels do not grow
// with what callers send.
func TestMetricsArePromlintClean(t *testing.T) {
	c := startTest(t, testConfig(""))
	url, client := serveTest(t, c)
	for range 20 {
		res, err := client.Post(url+"/gram.v1.JobService/"+gate.NewToken().ID, "application/json",
			strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	families, err := c.meters.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	for _, family := range families {
		if n := len(family.GetMetric()); strings.HasPrefix(family.GetName(), "gram_") && n > 8 {
			t.Errorf("%s has %d label sets", family.GetName(), n)
		}
	}
	if prometheus.DefaultRegisterer == prometheus.Registerer(c.meters.Registry) {
		t.Error("the registry is the global one")
	}
}
