package worker

import (
	"slices"
	"strings"
	"testing"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report"
)

// What a report says of audits, by hand: it never leaves out tasks that nobody made a second time.
func TestAuditsInTheReport(t *testing.T) {
	liar := &pb.ConvictedWorker{Id: "w-1", Name: "l", Task: "plan", JobId: "j", Than: "its own before"}
	elsewhere := &pb.ConvictedWorker{Id: "w-2", Name: "k", Task: "plan", JobId: "i"}
	const (
		alone  = " more were drawn, and there was no second worker to make them"
		failed = " more were drawn, and every other worker failed to make them, so that nobody verified them "
		lied   = "; what it had a part in was made again; "
	)
	for _, c := range []struct {
		name    string
		summary *pb.AuditSummary
		says    string
	}{
		{"off", &pb.AuditSummary{}, "no task was audited: spec.run.audit is 0"},
		{
			"all agree", &pb.AuditSummary{SharePpm: 10, Drawn: 7, Agreed: 7},
			"two workers agree on all 7 tasks that were drawn",
		},
		{
			"one agrees", &pb.AuditSummary{SharePpm: 10, Drawn: 1, Agreed: 1},
			"two workers agree on the one task that was drawn",
		},
		{
			"alone", &pb.AuditSummary{SharePpm: 10, Drawn: 7, Waived: 7},
			"no task was made twice: there was no second worker",
		},
		{
			"then alone", &pb.AuditSummary{SharePpm: 10, Drawn: 7, Agreed: 4, Waived: 3},
			"two workers agree on 4 tasks; 3" + alone,
		},
		{
			"failed",
			&pb.AuditSummary{SharePpm: 10, Drawn: 7, Agreed: 4, Waived: 3, Failed: 2, WaivedTasks: []string{"plan"}},
			"two workers agree on 4 tasks; 1 more was drawn, and there was no second worker to make it; 2" + failed +
				"(plan; and 1 more)",
		},
		{
			"all failed", &pb.AuditSummary{SharePpm: 10, Drawn: 1, Waived: 1, Failed: 1, WaivedTasks: []string{"plan"}},
			"no task was made twice; 1 more was drawn, and every other worker failed to make it, " +
				"so that nobody verified it (plan)",
		},
		{
			"a liar, then alone",
			&pb.AuditSummary{SharePpm: 10, Drawn: 7, Agreed: 4, Waived: 3, Convicted: []*pb.ConvictedWorker{liar}},
			"worker l made another result of plan than its own before" + lied +
				"two workers agree on 4 tasks; 3" + alone,
		},
		{
			"a liar elsewhere",
			&pb.AuditSummary{SharePpm: 10, Drawn: 4, Agreed: 4, Convicted: []*pb.ConvictedWorker{elsewhere}},
			"worker k made another result of plan of job i than two others" + lied + "two workers agree on 4 tasks",
		},
	} {
		if r := auditFrom("j", c.summary, 0); r.Says != c.says {
			t.Errorf("%s: %q, want %q", c.name, r.Says, c.says)
		}
	}
	if auditFrom("j", nil, 0) != nil || (*auditReport)(nil).page() != nil {
		t.Error("a report on audits, without any from the coordinator")
	}
}

// The page shows the audits' number, workers, kernel sets and cost, what was left out, and which workers were wrong.
func TestAuditsOnThePage(t *testing.T) {
	r := auditFrom("j", &pb.AuditSummary{
		SharePpm: 10_000, Drawn: 20, Nodes: 8, Agreed: 17, OtherSets: 5, Waived: 3, Failed: 2,
		WaivedTasks: []string{"round 1, step", "round 2, step"},
		Disputed:    1, Again: 2, Repeated: 4, SelfChecked: 6, SpentUs: 1_500_000, WorkUs: 60_000_000,
		EndedUnixMs: 10_250,
		Auditors:    []*pb.Auditor{{Id: "w-1", Name: "a", Kernels: "avx2", Tasks: 12, OtherSets: 5}, {Tasks: 5}},
		Convicted:   []*pb.ConvictedWorker{{Id: "w-2", Name: "l", Task: "plan", JobId: "j"}},
	}, 10_000)
	page := r.page()
	var text strings.Builder
	for _, f := range page.Facts {
		text.WriteString(f[0] + ": " + f[1] + "\n")
	}
	want := `drawn: 20 tasks: 8 nodes (1% of them, and one of each phase), and 12 steps and plans
agreed: 17, of them 5 with different kernel sets
waived: 3, which no second worker made
failed: 2 of these: round 1, step; round 2, step
disputed: 1, with two results; 2 results were made again by their own worker
taken back: 4 results, since a worker that was wrong had a part in them
self-check: 6 leaves were computed by their own worker with a second kernel set
cost: 1.5s of the 1m0s that workers took (2.5%); the report waited 250ms
`
	if text.String() != want {
		t.Errorf("%s\nwant\n%s", text.String(), want)
	}
	auditors := []report.Auditor{{Name: "a", Kernels: "avx2", Tasks: 12, OtherSets: 5}, {Name: "others", Tasks: 5}}
	if !slices.Equal(page.Auditors, auditors) {
		t.Errorf("%+v, want %+v", page.Auditors, auditors)
	}
	if len(page.Convicted) != 1 || page.Convicted[0].Name != "l" || page.Convicted[0].Than != "two others" {
		t.Errorf("%+v", page.Convicted)
	}
	if early := auditFrom("j", &pb.AuditSummary{EndedUnixMs: 9_000}, 10_000); early.Waited != 0 {
		t.Errorf("the report waited %g s for audits that were done", early.Waited)
	}
}
