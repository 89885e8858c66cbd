package show

import (
	"testing"

	"github.com/gram-compute/gram/protocol/gramv1"
)

// The line of `gram status` on audits: what nobody made a second time, and why, and whose result was another.
func TestAuditText(t *testing.T) {
	liar := []*gramv1.ConvictedWorker{{Name: "l", Task: "plan"}}
	for _, c := range []struct {
		audits *gramv1.AuditSummary
		want   string
	}{
		{nil, ""},
		{
			&gramv1.AuditSummary{Drawn: 9, Agreed: 4, Pending: 5},
			"of 9 tasks drawn, two workers agree on 4, 5 to be made",
		},
		{
			&gramv1.AuditSummary{Drawn: 9, Agreed: 4, Waived: 5, Failed: 3},
			"of 9 tasks drawn, two workers agree on 4, 2 left out: there was no second worker, " +
				"3 left out: every other worker failed to make them",
		},
		{
			&gramv1.AuditSummary{Drawn: 9, Agreed: 9, Disputed: 1, Convicted: liar},
			"of 9 tasks drawn, two workers agree on 9, 1 disputed; wrong: l (plan, another result than two others), " +
				"and what it had a part in was made again",
		},
	} {
		if got := AuditText(c.audits); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestAuditView(t *testing.T) {
	v := viewAudit(&gramv1.AuditSummary{
		Nodes: 3, SpentUs: 1_500_000, WorkUs: 9_000_000,
		Auditors:  []*gramv1.Auditor{{Id: "i", Name: "n", Kernels: "avx2", Tasks: 2, OtherSets: 1}},
		Convicted: []*gramv1.ConvictedWorker{{Id: "l", Than: "its own before"}},
	})
	if v.Nodes != 3 || v.Seconds != 1.5 || v.AllSeconds != 9 {
		t.Errorf("%+v", v)
	}
	if v.Auditors[0] != (auditorView{"i", "n", "avx2", 2, 1}) || v.Convicted[0].Than != "its own before" {
		t.Errorf("%+v", v)
	}
}
