package coordinator

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// leave makes a job succeed in one round that found something, with a model whose digest is object(model)'s.
func leave(t *testing.T, c *Coordinator, id, spec, found string, model byte) {
	t.Helper()
	leaveModel(t, c, id, spec, found, object(model))
}

func leaveModel(t *testing.T, c *Coordinator, id, spec, found string, model *pb.ObjectRef) {
	t.Helper()
	if _, err := submitSpec(t, c, id, spec); err != nil {
		t.Fatal(err)
	}
	await(t, c, id+" is planning", inStage(id, pb.JobState_JOB_STATE_PLANNING))
	planned(t, c, id, 1)
	r := run{t, c, id}
	sum := sha256.Sum256([]byte(found))
	if _, err := c.cfg.Store.Put(t.Context(), protocol.ObjectKey(id, 1, sum), []byte(found)); err != nil {
		t.Fatal(err)
	}
	r.complete(pb.TaskKind_TASK_KIND_NODE, 1, &pb.TaskOutput{Object: object(10)})
	r.complete(pb.TaskKind_TASK_KIND_STEP, 1, &pb.TaskOutput{Next: &pb.Next{Done: true, State: model,
		Metrics: &pb.ObjectRef{Sha256: sum[:], Size: int64(len(found))}}})
	key := protocol.OutputPrefix(id) + protocol.ModelFile
	r.complete(pb.TaskKind_TASK_KIND_REPORT, 1, &pb.TaskOutput{Files: []*pb.OutputFile{{Name: protocol.ModelFile,
		Uri: c.cfg.StoreURI + "/" + key, Sha256: model.GetSha256(), Size: model.GetSize()}}})
}

// hostile is a text that would be more than a text, were it not escaped.
const hostile = "<script>alert(1)</script>\u202e\x1b[2J"

// wantText checks that a page answers with a status, says what it must, and shows what is hostile as text.
func (b *browser) wantText(path string, status int, says ...string) string {
	b.Helper()
	res := b.ask("GET", path, nil)
	text := b.text(res)
	if res.StatusCode != status {
		b.Errorf("%s: %d, want %d: %s", path, res.StatusCode, status, text)
	}
	if strings.Contains(text, "<script>alert") || strings.ContainsAny(text, "\u202e\x1b") {
		b.Errorf("%s obeys what it shows", path)
	}
	for _, want := range says {
		if !strings.Contains(text, want) {
			b.Errorf("%s does not say %q: %s", path, want, text)
		}
	}
	return text
}

func TestComparePage(t *testing.T) {
	c := startTest(t, testConfig(""))
	name := strings.NewReplacer(`\`, `\\`, "\u202e", `\u202e`, "\x1b", `\u001b`).Replace(hostile)
	spec := func(alpha string) string {
		return strings.Replace(testSpec("NAME"), `"repro"`, `"params":{"alpha":"`+alpha+`"},"repro"`, 1)
	}
	leave(t, c, "one", strings.Replace(spec("1"), "NAME", name, 1), `[{"name":"lloyd.001.distortion","value":4},
		{"name":"evaluation","value":{"accuracy":0.5}},{"name":"`+name+`","value":"`+name+`"}]`, 21)
	leave(t, c, "two", spec(name), `[{"name":"lloyd.001.distortion","value":3},
		{"name":"evaluation","value":{"accuracy":0.75}}]`, 22)
	leave(t, c, "three", spec("1"), `[]`, 21)
	submitTest(t, c, "waits")

	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
	b.wantText("/compare", 200, `name="a"`, `name="b"`)
	b.wantText("/compare?a=one&b=two", 200, "The spec: spec.params.alpha", "&lt;script&gt;alert(1)", "evaluation.<wbr>accuracy",
		"43;0.25", "lloyd.distortion", "They part in round 1", "The models differ", "Not compared", "gram verify one")
	b.wantText("/compare?job=one&job=three", 200, "Nothing that a result follows from", "the same, byte for byte")
	b.wantText("/compare?a=one&b=waits", 200, "it has not ended", "has left no model",
		"Not both jobs have made a model")
	b.wantText("/compare?job=one", 200, "Choose two jobs")
	b.wantText("/compare?a=one&b="+url.QueryEscape(hostile), 404, "no job")
	b.wantText("/compare?a=one&b=%ff", 400)
	b.wantText("/jobs/one", 200, `action="/compare"`)
	b.wantText("/jobs", 200, `name="job" value="one" form="pick"`, `<form id="pick" method="get" action="/compare"`)

	retireTest(t, c, "three")
	b.wantText("/compare?a=one&b=three", 404, "is retired")
}

func retireTest(t *testing.T, c *Coordinator, id string) {
	t.Helper()
	if _, err := c.services.Models.Retire(t.Context(), connect.NewRequest(&pb.RetireRequest{Id: id})); err != nil {
		t.Fatal(err)
	}
}

// What the store has lost is named; the rest is compared.
func TestCompareOfLostObjects(t *testing.T) {
	c := startTest(t, testConfig(""))
	found := `[{"name":"a","value":1}]`
	leave(t, c, "one", testSpec("n"), found, 21)
	leave(t, c, "two", testSpec("n"), found, 22)
	compareJobs := func() *pb.Comparison {
		res, err := c.services.Compares.CompareJobs(t.Context(),
			connect.NewRequest(&pb.CompareJobsRequest{Left: "one", Right: "two"}))
		if err != nil {
			t.Fatal(err)
		}
		return res.Msg.GetComparison()
	}
	if err := c.cfg.Store.Delete(t.Context(), protocol.ObjectKey("two", 1, sha256.Sum256([]byte(found)))); err != nil {
		t.Fatal(err)
	}
	// The two found the same bytes: one object of the two is enough, once it is known.
	if got := compareJobs(); len(got.GetMetrics()) != 1 || got.GetMetrics()[0].Left == nil {
		t.Errorf("%v", got)
	}
	var said []string
	for _, gap := range compareJobs().GetNotCompared() {
		said = append(said, gap.GetWhat()+": "+gap.GetWhy())
	}
	// no member of these jobs left provenance.json
	if len(said) != 1 || !strings.Contains(said[0], "is not in the store any more") {
		t.Errorf("%q", said)
	}
}

// The models, by kind, with what is known of them.
func TestModelsPage(t *testing.T) {
	c := startTest(t, testConfig(""))
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
	b.wantText("/models", 200, "No job has left a model")
	name := strings.NewReplacer("\u202e", `\u202e`, "\x1b", `\u001b`).Replace(hostile)
	for i, id := range []string{"m-1", "m-2", "m-3"} {
		kind := []string{"NaiveBayes", "KMeans", "NaiveBayes"}[i]
		found := []string{`[{"name":"evaluation","value":{"accuracy":0.5}}]`, `[{"name":"kmeans.distortion","value":7}]`, `[]`}[i]
		spec := strings.NewReplacer("NaiveBayes", kind, "NAME", name).Replace(testSpec("NAME"))
		leave(t, c, id, spec, found, byte(20+i))
	}
	run{t, c, "waits"}.plan()
	setAliasTest(t, c, "prod", "m-1")
	if _, err := c.cfg.Store.Put(t.Context(), "models/m-2/model.sig", []byte("x")); err != nil {
		t.Fatal(err)
	}
	text := b.wantText("/models", 200, "@prod", "accuracy", "0.5", "distortion", "&lt;script&gt;", "gram verify", "present",
		"no task")
	if strings.Contains(text, "waits") || strings.Index(text, "m-3") > strings.Index(text, "m-1") {
		t.Errorf("the newest first, and models alone: %s", text)
	}
	if text := b.wantText("/models?kind=KMeans", 200, "m-2"); strings.Contains(text, "m-1") {
		t.Errorf("models of another kind: %s", text)
	}
	b.wantText("/models?kind="+url.QueryEscape(hostile), 200, "No job has left a model of kind")
	b.wantText("/models?from=x", 400)
}

// Pages of a list follow each other without a gap, and each model is on one.
func TestModelsArePaged(t *testing.T) {
	c := startTest(t, testConfig(""))
	for _, id := range []string{"m-1", "m-2", "m-3"} {
		run{t, c, id}.finish()
	}
	var got []string
	for req := (&pb.ListModelsRequest{Limit: 2}); ; {
		res, err := c.services.Models.ListModels(t.Context(), connect.NewRequest(req))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range res.Msg.GetModels() {
			got = append(got, m.GetJobId())
			if m.GetUnread() == "" || len(m.GetHeadlines()) > 0 { // their rounds found what is no JSON
				t.Errorf("%v", m)
			}
		}
		if req.PageToken = res.Msg.GetNextPageToken(); req.PageToken == "" {
			break
		}
	}
	if strings.Join(got, " ") != "m-3 m-2 m-1" {
		t.Errorf("%q", got)
	}
}

// keyOf is the key of the form of a page that posts to a path.
func (b *browser) keyOf(path string) string {
	b.Helper()
	_, rest, _ := strings.Cut(b.text(b.ask(http.MethodGet, path, nil)), `action="`+path+`"`)
	_, rest, _ = strings.Cut(rest, `name="key" value="`)
	key, _, _ := strings.Cut(rest, `"`)
	return key
}
