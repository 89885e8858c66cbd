package web

import (
	"os"
	"slices"
	"strings"
	"testing"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// troubled is a cluster in which everything is wrong that it can tell of itself.
func troubled() (*pb.StatusResponse, []*pb.Member) {
	return &pb.StatusResponse{TasksWaiting: 1, StoreDeniedJobs: 2, StoreDenied: "403 <b>", WorkersConvicted: 1,
			CheckpointMismatches: 1, RaftLogBytes: mostLogBytes + 1, CommittedLeased: 1, SchedulesHeldUnixMs: 1000,
			Clock: &pb.ClockStatus{Trusted: true, LogAheadMs: 120_001}},
		[]*pb.Member{{Id: "c1", Healthy: true, Clock: &pb.ClockStatus{Reason: "it jumped."}},
			{Id: "c2", DiskLow: true, Behind: mostBehind + 1, Clock: &pb.ClockStatus{Trusted: true, OffsetMs: -5001}}}
}

// Each alert with a rule's name is raised by a rule of that name and severity, at that limit.
func TestAlertsAreThoseOfTheRules(t *testing.T) {
	text, err := os.ReadFile("../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]string{}
	for _, rule := range strings.Split(string(text), "- alert: ")[1:] {
		name, rest, _ := strings.Cut(rule, "\n")
		rules[name] = rest
	}
	raised := map[string]bool{}
	for _, a := range alertsOf(troubled()) {
		if a.Rule == "" {
			continue
		}
		raised[a.Rule] = true
		severity := map[bool]string{true: "severity: critical", false: "severity: warning"}[a.Critical]
		if !strings.Contains(rules[a.Rule], severity) {
			t.Errorf("%s is no rule with %s", a.Rule, severity)
		}
	}
	for name, expr := range map[string]string{"GramClockOff": "> 5", "GramLogTimeAhead": "> 120",
		"GramMemberBehind": "> 10000", "GramRaftLogLarge": "> 2 * 1024 * 1024 * 1024", "GramMemberUnhealthy": "== 0",
		"GramClockNotTrusted": "== 0", "GramDiskLow": "== 1", "GramTasksWithoutWorkers": "gram_workers == 0",
		"GramStoreDenied": "> 0", "GramWorkerConvicted": "> 0", "GramStatesDiffer": "> 0",
		"GramCommittedLeased": "> 0"} {
		line, _, _ := strings.Cut(rules[name], "\n")
		if !raised[name] || !strings.Contains(line, expr) {
			t.Errorf("%s: raised %t by %s, want %s", name, raised[name], line, expr)
		}
	}
}

// At the limits, and where something is not known, nothing is raised.
func TestNoAlerts(t *testing.T) {
	s := &pb.StatusResponse{TasksWaiting: 1, Workers: []*pb.WorkerStatus{{}}, RaftLogBytes: mostLogBytes,
		Clock: &pb.ClockStatus{Trusted: true, LogAheadMs: 120_000}}
	members := []*pb.Member{{Healthy: true}, {Healthy: true, Behind: mostBehind,
		Clock: &pb.ClockStatus{Trusted: true, OffsetMs: 5000}}}
	if alerts := alertsOf(s, members); len(alerts) != 0 {
		t.Errorf("%v", alerts)
	}
}

// Critical alerts come first, and a worker in quarantine is told of.
func TestAlertsInOrder(t *testing.T) {
	s, members := troubled()
	s.Workers = []*pb.WorkerStatus{{}, {Quarantine: "it fails"}}
	mild := false
	var all []string
	for _, a := range alertsOf(s, members) {
		if a.Critical && mild {
			t.Errorf("%s comes after a warning", a.Rule)
		}
		mild = !a.Critical
		all = append(all, a.Text)
	}
	if text := strings.Join(all, "\n"); !strings.Contains(text, "1 worker in quarantine") ||
		strings.Contains(text, "there is no worker") {
		t.Error(text)
	}
}

func TestFleet(t *testing.T) {
	rows := fleet([]*pb.WorkerStatus{
		{Kernels: "avx2", Slots: 2, Tasks: 2, Build: "1"}, {Kernels: "avx2", Slots: 2, Tasks: 1, Build: "2"},
		{Kernels: "avx2", Slots: 2, Build: "2"}, {Kernels: "neon", Slots: 4, Tasks: 1, Quarantine: "it fails"}})
	want := []fleetRow{{Kernels: "neon", Workers: 1, Shunned: 1, Tasks: 1, Slots: 4, Builds: 1},
		{Kernels: "avx2", Workers: 3, Tasks: 3, Slots: 6, Idle: 1, Working: 1, AtFull: 1, Builds: 2}}
	if !slices.Equal(rows, want) {
		t.Errorf("%+v", rows)
	}
}

func TestCompareNames(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"w9", "w10", -1}, {"w10", "w9", 1}, {"w", "w0", -1}, {"w007", "w7", -1}, {"w7", "w7", 0}, {"a2", "b1", -1},
		{"", "1", -1}, {"w99999999999999999999", "w100000000000000000000", -1},
	} {
		if got := compareNames(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %d", c.a, c.b, got)
		}
	}
}
