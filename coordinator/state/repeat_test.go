package state_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

// with has a result made with a kernel set.
func with(kernels string, c *pb.Completion) *pb.Completion {
	c.Kernels = kernels
	return c
}

// again has a worker make a result once more, with its other kernel set.
func again(worker string, c *pb.Completion) *pb.Completion {
	c.Id.Again = true
	return with("avx2", by(worker, c))
}

// split is a job whose leaf 0 has two results: 10 of worker "x", and 66 of worker "y". Its plan is verified.
func split(t *testing.T) state.State {
	t.Helper()
	s := audited(t, 2)
	s = wantVerdict(t, s, by("z", planned("a", 2)), heard)
	s = wantVerdict(t, s, with("generic", by("x", node("a", 1, 0, 0, 0, 10))), accepted)
	return wantVerdict(t, s, with("generic", by("y", node("a", 1, 0, 0, 0, 66))), heard)
}

// leaf0 is the audit of leaf 0; nil where none is pending.
func leaf0(t *testing.T, s state.State) *state.Audit {
	t.Helper()
	for _, a := range pendingAudits(auditedJob(t, s)) {
		if a.Kind == pb.TaskKind_TASK_KIND_NODE && a.Node.Index == 0 {
			return a
		}
	}
	return nil
}

// Two workers and two results of one leaf, by hand: what each makes of it with another kernel set, and who is wrong.
func TestTwoWorkersMakeItAgain(t *testing.T) {
	for name, c := range map[string]struct {
		x, y  byte // made again
		wrong string
	}{
		"both insist":                             {10, 66, ""},
		"the maker yields":                        {66, 66, "x"},
		"the auditor yields":                      {10, 10, "y"},
		"each makes what the other made":          {66, 10, ""},
		"the maker makes a third result":          {99, 66, ""},
		"the auditor makes a third result":        {10, 99, ""},
		"one yields, the other makes a third one": {66, 99, ""},
		"both make the same third one":            {99, 99, ""},
	} {
		for _, order := range []string{"xy", "yx"} {
			t.Run(name+" "+order, func(t *testing.T) {
				s := split(t)
				result := map[string]byte{"x": c.x, "y": c.y}
				first, second := order[:1], order[1:]
				s = wantVerdict(t, s, again(first, node("a", 1, 0, 0, 0, result[first])), heard)
				if a := leaf0(t, s); a == nil || len(auditedJob(t, s).Audits.Convicted) != 0 {
					t.Fatalf("decided by one alone: %v", auditedJob(t, s).Audits.Convicted)
				}
				s = wantVerdict(t, s, again(first, node("a", 1, 0, 0, 0, 200)), stale) // it has said so
				s = wantVerdict(t, s, again(second, node("a", 1, 0, 0, 0, result[second])), heard)
				job, wrong := auditedJob(t, s), ""
				for _, w := range job.Audits.Convicted {
					wrong += w.WorkerID
				}
				if wrong != c.wrong || (leaf0(t, s) == nil) != (c.wrong != "") {
					t.Errorf("convicted %q, want %q; audit %v", wrong, c.wrong, leaf0(t, s))
				}
				if job.Audits.Counts.Again != 2 || job.Audits.Counts.Disputed != 1 || job.Counters.Violations != 1 {
					t.Errorf("%+v, %d violations", job.Audits.Counts, job.Counters.Violations)
				}
			})
		}
	}
}

// The dispute is over: what the wrong worker made is made again, its conviction names both results of the other, and a
// third worker has nothing left to decide.
func TestWhoYieldsIsConvicted(t *testing.T) {
	s := split(t)
	s = wantVerdict(t, s, again("x", node("a", 1, 0, 0, 0, 66)), heard)
	s = wantVerdict(t, s, again("y", node("a", 1, 0, 0, 0, 66)), heard)
	job := auditedJob(t, s)
	if len(job.Audits.Convicted) != 1 || job.Rounds.Open.Covered != 0 || job.Counters.Remade.Changes != 1 {
		t.Fatalf("%+v, %d leaves, %+v", job.Audits.Convicted, job.Rounds.Open.Covered, job.Counters.Remade)
	}
	if job.Audits.Counts.Repeated != 1 || job.Audits.Counts.Agreed != 2 {
		t.Errorf("%+v", job.Audits.Counts)
	}
	const task, than = "round 1, tree 0, node 0/0", "worker y, and than its own with the kernels avx2"
	if got := job.Audits.Convicted[0]; got.WorkerID != "x" || got.Whose() != than || got.Task != task {
		t.Errorf("%+v", got)
	}
	if got, want := job.Counters.Remade.Last, "worker x made another result of "+task+" than "+than; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if c, known := s.Convicted.Get("x"); !known || c.Than == "" {
		t.Errorf("the cluster knows %+v", c)
	}
	s = wantVerdict(t, s, now(s, by("x", node("a", 1, 0, 0, 0, 66))), stale)
	wantVerdict(t, s, now(s, by("y", node("a", 1, 0, 0, 0, 66))), accepted)
	// An auditor that yields takes nothing of the maker's with it.
	s = split(t)
	s = wantVerdict(t, s, again("x", node("a", 1, 0, 0, 0, 10)), heard)
	s = wantVerdict(t, s, again("y", node("a", 1, 0, 0, 0, 10)), heard)
	job = auditedJob(t, s)
	if job.Rounds.Open.Covered != 1 || job.Counters.Remade.Changes != 0 {
		t.Errorf("%d leaves, %+v", job.Rounds.Open.Covered, job.Counters.Remade)
	}
	if len(job.Audits.Convicted) != 1 || job.Audits.Counts.OtherSets != 1 {
		t.Errorf("%v, %+v", job.Audits.Convicted, job.Audits.Counts)
	}
}

func TestOpinionsOfAnAudit(t *testing.T) {
	a := leaf0(t, split(t))
	for worker, want := range map[string]bool{"x": true, "y": true, "z": false} {
		if o, said := a.Opinion(worker); said != want || said && o.WorkerID != worker {
			t.Errorf("worker %s: %+v, %v", worker, o, said)
		}
	}
}

// Only the two that disagree are asked, only with another kernel set, and only while there is no third opinion.
func TestWhatIsMadeAgainInVain(t *testing.T) {
	s := split(t)
	empty := again("x", node("a", 1, 0, 0, 0, 66))
	empty.Output = &pb.TaskOutput{}
	for name, c := range map[string]*pb.Completion{
		"by a third worker":                  again("z", node("a", 1, 0, 0, 0, 10)),
		"with the same set":                  with("generic", again("x", node("a", 1, 0, 0, 0, 66))),
		"with no known set":                  with("", again("x", node("a", 1, 0, 0, 0, 66))),
		"of a task that nobody audits":       again("x", node("a", 1, 0, 0, 1, 66)),
		"without a result":                   empty,
		"of a job that went back since then": after(7, again("x", node("a", 1, 0, 0, 0, 66))),
	} {
		if wantVerdict(t, s, c, stale).Digest() != s.Digest() {
			t.Errorf("made again %s, it changes the state", name)
		}
	}
	undisputed := wantVerdict(t, audited(t, 1), again("p", planned("a", 1)), stale)
	if auditedJob(t, undisputed).Audits.Counts.Again != 0 {
		t.Error("a task that nobody disputes is made again")
	}
	three := wantVerdict(t, s, by("z", node("a", 1, 0, 0, 0, 99)), heard)
	three = wantVerdict(t, three, again("x", node("a", 1, 0, 0, 0, 66)), stale)
	if a := leaf0(t, three); a == nil || len(a.Opinions) != 3 || a.Opinions[0].Repeated() {
		t.Errorf("%+v", a)
	}
}

// What one made again counts no more than what it made first, once a third worker decides.
func TestAThirdWorkerDecidesBetweenTwoThatInsist(t *testing.T) {
	s := split(t)
	s = wantVerdict(t, s, again("x", node("a", 1, 0, 0, 0, 10)), heard)
	s = wantVerdict(t, s, again("y", node("a", 1, 0, 0, 0, 66)), heard)
	s = wantVerdict(t, s, by("z", node("a", 1, 0, 0, 0, 10)), heard)
	job := auditedJob(t, s)
	if leaf0(t, s) != nil || len(job.Audits.Convicted) != 1 {
		t.Fatalf("%v, %+v", leaf0(t, s), job.Audits.Convicted)
	}
	if got := job.Audits.Convicted[0]; got.WorkerID != "y" || got.Whose() != "two others" {
		t.Errorf("%+v", got)
	}
}

// A plan whose maker lists another input the second time convicts nobody, and is made again: the input has changed.
func TestAPlanThatIsListedAgain(t *testing.T) {
	other := func(worker string, c func(string, *pb.Completion) *pb.Completion) *pb.Completion {
		made := c(worker, planned("a", 1))
		made.Output.Manifest, made.Output.Next.State = ref(101), ref(3)
		return made
	}
	s := audited(t, 1)
	s = wantVerdict(t, s, other("x", by), heard)
	s = wantVerdict(t, s, other("p", again), heard)
	s = wantVerdict(t, s, other("x", again), heard)
	job := auditedJob(t, s)
	if job.Stage != pb.JobState_JOB_STATE_PLANNING || job.Counters.Remade.Anew != 1 {
		t.Errorf("%v, %+v", job.Stage, job.Counters.Remade)
	}
	if len(job.Audits.Convicted) != 0 || job.Audits.Pending() != 0 {
		t.Errorf("%v, %d audits", job.Audits.Convicted, job.Audits.Pending())
	}
}

// twoOpinions is a second account of an audit: who made what first, and what again.
type twoOpinions struct {
	first, second map[string]byte
	order         []string
	ended         bool
	wrong         map[string]bool
}

// says has a worker make the task, as worker "x" did at first.
func (m *twoOpinions) says(worker string, digest byte) {
	if _, said := m.first[worker]; m.ended || said {
		return
	}
	m.first[worker], m.order = digest, append(m.order, worker)
	for _, other := range m.order[:len(m.order)-1] {
		m.ended = m.ended || m.first[other] == digest
	}
	if m.ended {
		m.convict(digest)
	}
}

// repeats has a worker make it again: each of two, once; then one may be wrong.
func (m *twoOpinions) repeats(worker string, digest byte) {
	_, said := m.first[worker]
	if _, before := m.second[worker]; m.ended || !said || before || len(m.order) != 2 {
		return
	}
	if m.second[worker] = digest; len(m.second) < 2 {
		return
	}
	for i, w := range m.order {
		other := m.order[1-i]
		if b := m.first[other]; m.second[other] == b && m.second[w] == b {
			m.ended = true
			m.convict(b)
		}
	}
}

func (m *twoOpinions) convict(right byte) {
	for w, digest := range m.first {
		m.wrong[w] = digest != right
	}
}

// Whatever four workers make of a task in whatever order, first and again, it is decided as the second account has it,
// and a snapshot in between changes nothing.
func TestOpinionsByASecondAccount(t *testing.T) {
	begin := audited(t, 2)
	begin = wantVerdict(t, begin, by("z", planned("a", 2)), heard)
	begin = wantVerdict(t, begin, with("generic", by("x", node("a", 1, 0, 0, 0, 10))), accepted)
	rapid.Check(t, func(t *rapid.T) {
		s := begin
		m := twoOpinions{
			first: map[string]byte{"x": 10}, second: map[string]byte{}, order: []string{"x"}, wrong: map[string]bool{},
		}
		for range rapid.IntRange(1, 8).Draw(t, "results") {
			worker := rapid.SampledFrom([]string{"x", "y", "y", "u", "v"}).Draw(t, "worker")
			digest := rapid.SampledFrom([]byte{10, 66, 99}).Draw(t, "digest")
			c := with("generic", by(worker, node("a", 1, 0, 0, 0, digest)))
			if rapid.Bool().Draw(t, "again") {
				c = again(worker, node("a", 1, 0, 0, 0, digest))
				m.repeats(worker, digest)
			} else if worker != "x" {
				m.says(worker, digest)
			} else {
				continue // it would contradict its own commit
			}
			if s, _ = state.Apply(s, completions(c)); rapid.Bool().Draw(t, "snapshot") {
				s = reread(t, s)
			}
			if m.ended {
				break
			}
		}
		job, _ := s.Job("a")
		wrong := map[string]bool{}
		for _, c := range job.Audits.Convicted {
			wrong[c.WorkerID] = true
		}
		for w, guilty := range m.wrong {
			if wrong[w] != guilty {
				t.Fatalf("worker %s convicted: %v, want %v; %+v", w, wrong[w], guilty, m)
			}
		}
		if len(wrong) > len(m.wrong) || m.ended != (job.Audits.Pending() == 0) {
			t.Fatalf("convicted %v, %d audits pending, want %+v", wrong, job.Audits.Pending(), m)
		}
	})
}

// What is counted: the workers that audited, their kernel sets and time, what was left out, and what workers checked
// themselves.
func TestAuditsAreCounted(t *testing.T) {
	s := audited(t, 2)
	took := func(us uint64, c *pb.Completion) *pb.Completion {
		c.SpentUs = us
		return c
	}
	s = wantVerdict(t, s, took(5, with("avx2", by("y", planned("a", 2)))), heard)
	checked := took(100, with("generic", by("x", node("a", 1, 0, 0, 0, 10))))
	checked.Output.SelfChecked = 3
	s = wantVerdict(t, s, checked, accepted)
	s = wantVerdict(t, s, took(1<<62, with("generic", by("x", node("a", 1, 0, 0, 1, 11)))), accepted)
	s = wantVerdict(t, s, took(40, with("avx2", by("y", node("a", 1, 0, 0, 0, 10)))), heard)
	s = wantVerdict(t, s, took(7, with("generic", by("z", node("a", 1, 0, 0, 1, 11)))), heard)
	a := auditedJob(t, s).Audits.Summary()
	const longest = 10 * 24 * 3600 * 1_000_000
	if a.GetDrawn() != 3 || a.GetNodes() != 2 || a.GetAgreed() != 3 || a.GetOtherSets() != 2 ||
		a.GetSelfChecked() != 3 {
		t.Errorf("%v", a)
	}
	if a.GetSpentUs() != 52 || a.GetWorkUs() != 152+longest || a.GetEndedUnixMs() != 1002 {
		t.Errorf("%v", a)
	}
	if got := fmt.Sprint(auditedJob(t, s).Audits.Auditors); got != "[{y y avx2 2 2} {z z generic 1 0}]" {
		t.Errorf("auditors %s", got)
	}
	s = wantVerdict(t, s, took(9, by("x", node("a", 1, 0, 1, 0, 12))), accepted)
	s, _ = run(t, s, at(2000, waiver(node("a", 1, 0, 1, 0, 0).Id)))
	a = auditedJob(t, s).Audits.Summary()
	tasks := []string{"round 1, tree 0, node 1/0"}
	if a.GetWaived() != 1 || a.GetFailed() != 1 || !slices.Equal(a.GetWaivedTasks(), tasks) {
		t.Errorf("waived: %v", a)
	}
	if a.GetEndedUnixMs() != 2000 || a.GetWorkUs() != 161+longest {
		t.Errorf("waived: %v", a)
	}
}

// A job names 63 auditors and counts the others together.
func TestManyAuditors(t *testing.T) {
	s := audited(t, 80)
	s = wantVerdict(t, s, by("z", planned("a", 80)), heard)
	for leaf := range uint32(80) {
		s = wantVerdict(t, s, by("x", node("a", 1, 0, 0, leaf, 10)), accepted)
		s = wantVerdict(t, s, by(fmt.Sprintf("y%02d", leaf), node("a", 1, 0, 0, leaf, 10)), heard)
	}
	all := auditedJob(t, s).Audits.Auditors
	if len(all) != 64 {
		t.Fatalf("%d auditors", len(all))
	}
	named, rest := all[62], all[63]
	if all[0].WorkerID != "z" || named.WorkerID != "y61" || named.Tasks != 1 || rest.WorkerID != "" ||
		rest.Tasks != 18 {
		t.Errorf("the first auditor is %+v, the last two are %+v and %+v", all[0], named, rest)
	}
}
