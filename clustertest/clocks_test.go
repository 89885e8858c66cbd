package clustertest_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// The damage that a clock did took 20 s: a sweep, and a look at the ticks. With 90 s it wants -timeout 20m.
var skewedFor = flag.Duration("clocks.skew", 8*time.Second, "how long TestOneBadMinute lets a leader's clock be off")

// skews are by how much the leader's clock goes wrong.
var skews = []time.Duration{time.Hour, 31 * 24 * time.Hour, 10 * 365 * 24 * time.Hour, -48 * time.Hour}

// ready reads a member's readiness page.
func ready(t *testing.T, q *clustertest.Quorum, m *clustertest.Member) (status int, text string) {
	t.Helper()
	res, err := q.HTTP().Get("https://" + m.Addr + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// short makes a token that lives for two seconds, waits until it has expired, and returns its file.
func short(t *testing.T, q *clustertest.Quorum) (file string) {
	t.Helper()
	file = filepath.Join(q.Home, "short.token")
	gram(t, q.Cluster, 0, "token", "create", "--scope", "read", "--ttl", "2s", "--name", "short", "--out", file)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	clustertest.Poll(ctx, t, "the token to expire", func() bool { return !admits(t, q, q.Members[0], file) })
	return file
}

// admits reports whether a member takes a token for a call that it answers itself.
func admits(t *testing.T, q *clustertest.Quorum, m *clustertest.Member, file string) bool {
	t.Helper()
	token, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+m.Addr+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	res, err := q.HTTP().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode != http.StatusUnauthorized
}

// clockSpec writes a spec over the digits; more is a schedule section, or nothing.
func clockSpec(t *testing.T, q *clustertest.Quorum, name, more string) (file string) {
	t.Helper()
	digits, err := filepath.Abs("../testdata/digits.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(q.Home, name+".yaml")
	text := fmt.Sprintf(`{apiVersion: v1, kind: KMeans, metadata: {name: %s}, spec: {input: {uri: %q, format: csv, label: 65},
 params: {k: 10, max_rounds: 2, init: random}, repro: {seed: 7}, run: {keep: 30d}}%s}`, name, "file://"+digits, more)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// minutely makes a schedule with a tick each minute.
func minutely(t *testing.T, q *clustertest.Quorum) {
	t.Helper()
	gram(t, q.Cluster, 0, "schedule", "create", "-f",
		clockSpec(t, q, "minutely", `, schedule: {cron: "* * * * *", catch_up: latest}`))
}

// plan is what `gram schedule show` tells.
type plan struct {
	NextTicks []string `json:"next"`
	Fired     int      `json:"fired"`
	Skipped   int      `json:"skipped"`
}

func planOf(t *testing.T, q *clustertest.Quorum) (p plan) {
	t.Helper()
	grams(t, q.Cluster, &p, "show", "minutely")
	if len(p.NextTicks) == 0 {
		t.Fatal("no next tick")
	}
	return p
}

// firedTicks lists the instants that a job was made for, by job.
func firedTicks(t *testing.T, q *clustertest.Quorum) map[int64]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var res *connect.Response[pb.ListResponse]
	clustertest.Poll(ctx, t, "a list by the leader, which may change meanwhile", func() (ok bool) {
		leader := "https://" + q.Leader(t).Addr
		jobs := gramv1connect.NewJobServiceClient(q.HTTP(), leader, clustertest.WithToken(q.Token(t)))
		var err error
		res, err = jobs.List(ctx, connect.NewRequest(&pb.ListRequest{}))
		if err != nil && connect.CodeOf(err) != connect.CodeUnavailable {
			t.Fatal(err)
		}
		return err == nil
	})
	ticks := make(map[int64]int)
	for _, job := range res.Msg.GetJobs() {
		if job.GetScheduleId() == "minutely" {
			ticks[job.GetTickUnixMs()]++
		}
	}
	return ticks
}

// The clock of the leader is wrong for a while, by an hour, a month, ten years, and back by two days. No job is
// retired, no tick is lost, doubled or fired early, no expired token is accepted; the lead goes to a member
// whose clock is right, and schedules are right when the clock is.
func TestOneBadMinute(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	q := clustertest.StartSkewed(t, 3, 5*time.Second, "--sweep-every", "2s", "--keep-jobs", "30d")
	q.Work(t, "", 1)
	gram(t, q.Cluster, 0, "submit", "-f", clockSpec(t, q, "kept", ""), "--id", "kept")
	gram(t, q.Cluster, 0, "wait", "kept")
	expired := short(t, q)
	minutely(t, q)
	began := time.Now()
	for _, skew := range skews {
		bad := q.Leader(t)
		bad.SetSkew(t, skew)
		deadline := time.Now().Add(*skewedFor)
		for time.Now().Before(deadline) {
			if admits(t, q, bad, expired) {
				t.Fatalf("clock %s: the token that had expired is accepted", skew)
			}
			if job, _ := gram(t, q.Cluster, 0, "status", "kept", "-o", "json"); !strings.Contains(job, `"Succeeded"`) {
				t.Fatalf("clock %s: job kept is %s", skew, job)
			}
			<-time.After(500 * time.Millisecond) // pace, not synchronization: the skew lasts as long as it does
		}
		if status, text := ready(t, q, bad); status != http.StatusServiceUnavailable ||
			!strings.Contains(text, "clock") {
			t.Errorf("clock %s: /readyz of %s answers %d %s", skew, bad.ID, status, text)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		// On a busy machine it may be elected once more; then it hands the lead over again.
		clustertest.Poll(ctx, t, bad.ID+" to hand the lead over", func() bool { return q.Leader(t) != bad })
		bad.SetSkew(t, 0)
		clustertest.Poll(ctx, t, bad.ID+" to trust its clock again", func() bool {
			status, _ := ready(t, q, bad)
			return status == http.StatusOK
		})
		cancel()
		if next, err := time.Parse(time.RFC3339, planOf(t, q).NextTicks[0]); err != nil ||
			time.Until(next) > time.Minute {
			t.Errorf("clock %s: the next tick is %s", skew, next)
		}
	}
	checkTicks(t, q, began)
}

// checkTicks compares the ticks that fired with the minutes that passed.
func checkTicks(t *testing.T, q *clustertest.Quorum, began time.Time) {
	t.Helper()
	ended := time.Now()
	first := began.Truncate(time.Minute).Add(time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	clustertest.Poll(ctx, t, "a tick after the clocks were right", func() bool {
		for tick := range firedTicks(t, q) {
			if tick > ended.UnixMilli() {
				return true
			}
		}
		return false
	})
	ticks := firedTicks(t, q)
	fired := 0
	for at := first; !at.After(ended); at = at.Add(time.Minute) {
		if fired++; ticks[at.UnixMilli()] != 1 {
			t.Errorf("tick %s fired %d times", at, ticks[at.UnixMilli()])
		}
	}
	for tick := range ticks {
		if at := time.UnixMilli(tick); at.After(time.Now()) || at.Before(first) {
			t.Errorf("tick %s fired; it is %s", at, time.Now())
		}
	}
	p := planOf(t, q)
	if p.Skipped != 0 {
		t.Errorf("%d ticks were skipped", p.Skipped)
	}
	t.Logf("%d minutes, %d ticks fired, %d skipped", fired, p.Fired, p.Skipped)
}

// clockOf is what `gram cluster status` says of the leader's clock.
func clockOf(t *testing.T, q *clustertest.Quorum) (c struct {
	Trusted    bool
	Reason     string
	LogAheadMs int64 `json:"log_ahead_ms"`
}) {
	t.Helper()
	text, _ := gram(t, q.Cluster, 0, "cluster", "status", "-o", "json")
	answer := struct{ Clock any }{&c}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	return c
}

func awaitTrust(t *testing.T, q *clustertest.Quorum, want bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	clustertest.Poll(ctx, t, fmt.Sprint("trust in the clock: ", want),
		func() bool { return clockOf(t, q).Trusted == want })
}

// A coordinator that is alone, over a folder: nothing can tell it the time. It goes along ahead by up to a day, and
// else stops the ticks until the clock comes back or a person accepts it.
func TestALoneClock(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	q := clustertest.StartSkewed(t, 1, 5*time.Second, "--sweep-every", "2s")
	only := q.Members[0]
	expired := short(t, q)
	minutely(t, q)

	only.SetSkew(t, time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	clustertest.Poll(ctx, t, "the ticks of an hour to pass", func() bool { return planOf(t, q).Skipped > 30 })
	only.SetSkew(t, 0)
	clustertest.Poll(ctx, t, "the log's time to be set back", func() bool {
		next, err := time.Parse(time.RFC3339, planOf(t, q).NextTicks[0])
		return err == nil && time.Until(next) <= time.Minute
	})

	only.SetSkew(t, -48*time.Hour)
	awaitTrust(t, q, false)
	if status, text := ready(t, q, only); status != http.StatusOK || !strings.Contains(text, "clock is not trusted") {
		t.Errorf("/readyz answers %d %s", status, text)
	}
	if admits(t, q, only, expired) {
		t.Error("the clock is two days back, and a token that had expired is accepted")
	}
	if _, stderr := gram(t, q.Cluster, 1, "cluster", "sweep"); !strings.Contains(stderr, "clock") {
		t.Errorf("a sweep by a clock that is not trusted: %s", stderr)
	}
	if _, stderr := gram(t, q.Cluster, 0, "cluster", "clock", "accept"); !strings.Contains(stderr, "set back by 4") {
		t.Errorf("clock accept says %q", stderr)
	}
	awaitTrust(t, q, true)
	if got := clockOf(t, q); got.LogAheadMs > 60_000 {
		t.Errorf("accepted, and the log's time is ahead: %+v", got)
	}
	audit, err := os.ReadFile(filepath.Join(only.Data, "audit.jsonl"))
	if err != nil || !strings.Contains(string(audit), "ClusterService.AcceptClock") {
		t.Errorf("the audit log does not tell of it: %v", err)
	}
	only.SetSkew(t, 0) // ahead by two days, as the coordinator sees it
	awaitTrust(t, q, false)
	gram(t, q.Cluster, 0, "cluster", "clock", "accept")
	awaitTrust(t, q, true)
	if next, err := time.Parse(time.RFC3339, planOf(t, q).NextTicks[0]); err != nil || time.Until(next) > time.Minute {
		t.Errorf("the next tick is %s", next)
	}
}
