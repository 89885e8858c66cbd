package clustertest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all/casetest"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// When the cluster is gone, data directories and all, and its store lies somewhere else, the report and
// the log of a job are read from the store; a report that was changed is refused.
func TestReportAndLogsOutliveTheCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	const id = "left-1"
	cluster := clustertest.StartCluster(t, "", 2*time.Second)
	input := filepath.Join(cluster.Home, "all.tsv")
	if err := os.WriteFile(input, casetest.Glosses(t, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster.Work(t, "", 1)
	cluster.Work(t, "", 2)
	cluster.Submit(t, id, naiveBayes(64<<10, `{"alpha":0.1}`)(clustertest.Inputs{Input: "file://" + input}))
	if job := cluster.Wait(t, id, 2*time.Minute); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("job ended as %v: %v", job.GetState(), job.GetFailure())
	}
	cluster.StopWorkers(t)
	if err := cluster.Coordinator.Stop(t); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(cluster.Home, "data")); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(filepath.Join(cluster.Home, "store"), store); err != nil {
		t.Fatal(err)
	}
	r := left{T: t, home: t.TempDir(), store: store}
	r.wantReport(id)
	r.wantLogs(id)
	r.wantRefusals(id)
}

// left runs gram against what a cluster has left.
type left struct {
	*testing.T
	home, store string
}

func (l left) run(code int, args ...string) (stdout, stderr string) {
	l.Helper()
	stdout, stderr, got := clustertest.Run(l.Context(), l, l.home, nil, strings.NewReader(""),
		append(args, "--store", l.store)...)
	if got != code {
		l.Fatalf("gram %v: exit code %d, want %d\n%s%s", args, got, code, stdout, stderr)
	}
	return stdout, stderr
}

func (l left) wantReport(id string) {
	l.Helper()
	if text, _ := l.run(0, "report", id); !strings.Contains(text, id) {
		l.Errorf("the report in short:\n%s", text)
	}
	text, _ := l.run(0, "report", id, "-o", "json")
	var report struct {
		Rounds   []struct{ Round uint32 }
		Timeline struct {
			Workers  []struct{ Name string }
			Works    []string
			Outcomes []string
			Marks    [][]float64 // worker, slot, from, to, work, round, tasks, outcome, speculative
		}
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		l.Fatal(err)
	}
	line := report.Timeline
	works := make(map[string]int)
	for _, m := range line.Marks {
		if len(m) != 9 || m[0] < 0 || int(m[0]) >= len(line.Workers) || m[3] < m[2] ||
			line.Outcomes[int(m[7])] != "committed" && m[8] == 0 {
			l.Errorf("mark %v", m)
			continue
		}
		works[line.Works[int(m[4])]] += int(m[6])
	}
	// Plan and steps are made a second time, as audits. The last step keeps the timeline.
	if works["plan"] < 1 || works["plan"] > 2 || works["map"] == 0 || works["step"] < len(report.Rounds)-1 ||
		works["step"] > 2*len(report.Rounds) {
		l.Errorf("the timeline tells of %v in %d rounds", works, len(report.Rounds))
	}
	page, _ := l.run(0, "report", id, "--page", "-")
	if !strings.Contains(page, "<h2>Timeline</h2>") || strings.Count(page, "<title>") < len(line.Marks) {
		l.Errorf("the page has no timeline of %d marks", len(line.Marks))
	}
}

func (l left) wantLogs(id string) {
	l.Helper()
	text, _ := l.run(0, "logs", id)
	lines, _ := l.run(0, "logs", id, "-o", "json")
	if strings.Count(text, "\n") != strings.Count(lines, "\n") || !strings.Contains(lines, `"event":"computed"`) ||
		!strings.Contains(lines, `"task":"report"`) {
		l.Errorf("the log:\n%s", text)
	}
}

func (l left) wantRefusals(id string) {
	l.Helper()
	l.run(3, "report", "no-such-job")
	l.run(3, "logs", "no-such-job")
	l.run(2, "report", "../../etc")
	l.run(2, "logs", "-f", id)
	file := filepath.Join(l.store, "models", id, "report.json")
	text, err := os.ReadFile(file)
	if err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, ' '), 0o600); err != nil {
		l.Fatal(err)
	}
	if _, stderr := l.run(1, "report", id); !strings.Contains(stderr, "SHA-256") {
		l.Errorf("a changed report is refused with %q", stderr)
	}
}
