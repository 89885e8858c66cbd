package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
	"golang.org/x/net/html"
)

// hostileTexts reads the corpus.
func hostileTexts(t *testing.T) (texts []string) {
	t.Helper()
	file, err := os.ReadFile("../testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		text, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		texts = append(texts, text)
	}
	if len(texts) != 100 {
		t.Fatalf("%d texts, want 100", len(texts))
	}
	return texts
}

// places are where the API takes texts that pages show, each with a call that brings one there, and the page.
var places = map[string]struct {
	bring func(p *peopled, ctx context.Context, id, text string) error
	page  string
}{
	"name":    {submitNamed, "/jobs/{id}"},
	"spec":    {submitSaying, "/jobs/{id}"},
	"failure": {failSaying, "/jobs/{id}"},
	"worker":  {registerNamed, "/cluster"},
}

func submitSpecOf(p *peopled, ctx context.Context, id string, metadata, input map[string]any) error {
	of := map[string]any{"uri": "mem://jobs/x.csv", "format": "csv", "header": true, "label": "y"}
	maps.Copy(of, input)
	spec, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "NaiveBayes", "metadata": metadata,
		"spec": map[string]any{"input": of, "output": map[string]any{}, "repro": map[string]any{"seed": 1},
			"params": map[string]any{}, "run": map[string]any{}}})
	if err != nil {
		return err
	}
	_, err = p.jobs.Submit(ctx, connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: string(spec)}))
	return err
}

// cancelled has a job end: of those that wait, some are planned, and their pages show a forecast.
func (p *peopled) cancelled(ctx context.Context, id string, err error) error {
	if err == nil {
		_, err = p.jobs.Cancel(ctx, connect.NewRequest(&pb.CancelRequest{Id: id}))
	}
	return err
}

func submitNamed(p *peopled, ctx context.Context, id, text string) error {
	return p.cancelled(ctx, id, submitSpecOf(p, ctx, id, map[string]any{"name": text}, nil))
}

func submitSaying(p *peopled, ctx context.Context, id, text string) error {
	return p.cancelled(ctx, id, submitSpecOf(p, ctx, id, map[string]any{"name": "n",
		"labels": map[string]any{text: text}}, map[string]any{"uri": "mem://jobs/" + text, "label": text}))
}

// failSaying has a job fail with a message of a worker.
func failSaying(p *peopled, ctx context.Context, id, text string) error {
	if err := submitSpecOf(p, ctx, id, map[string]any{"name": "n"}, nil); err != nil {
		return err
	}
	_, err := p.c.leads.Agree(ctx, &pb.Command{Body: &pb.Command_Fail{Fail: &pb.FailJob{Id: id, Failure: &pb.Failure{
		Code: "BAD_RECORD", Class: pb.FailureClass_FAILURE_CLASS_INPUT, Message: text, Worker: text, Task: text}}}})
	return err
}

func registerNamed(p *peopled, ctx context.Context, id, text string) error {
	_, err := p.workers.Register(ctx, connect.NewRequest(&pb.RegisterRequest{
		WorkerId: id, Name: text, Slots: 1, Kernels: "generic", Build: text}))
	return err
}

// peopled is a cluster with texts in every place, and which of them were refused there.
type peopled struct {
	*browser
	jobs    gramv1connect.JobServiceClient
	workers gramv1connect.WorkerServiceClient
	refused map[string]bool
	pages   map[string]parsed // that were read
}

// people brings text(i) to every place, but where skip has it.
func people(t *testing.T, text func(i int) string, skip map[string]bool) *peopled {
	t.Helper()
	cfg := testConfig("")
	cfg.Schedule = schedule.DefaultConfig()
	cfg.Schedule.LeaseTTL = time.Hour // no worker is missed meanwhile
	cfg.Validate = func(spec protocol.JobSpec) (protocol.JobSpec, error) {
		spec = spec.WithDefaults()
		return spec, spec.Validate()
	}
	c := startTest(t, cfg)
	url, client := serveTest(t, c)
	p := &peopled{browser: &browser{T: t, c: c}, refused: map[string]bool{},
		pages:   map[string]parsed{},
		jobs:    gramv1connect.NewJobServiceClient(client, url, as(c.AdminToken()), connect.WithProtoJSON()),
		workers: gramv1connect.NewWorkerServiceClient(client, url, as(c.WorkerToken()))}
	p.logIn(makeToken(t, c, gate.ScopeSubmit, 0), "")
	for _, place := range slices.Sorted(maps.Keys(places)) {
		for i := range 100 {
			id := place + "-" + strconv.Itoa(i)
			if skip[id] {
				continue
			}
			if err := places[place].bring(p, t.Context(), id, text(i)); err != nil {
				t.Logf("%s refuses %q: %v", place, text(i), err)
				p.refused[id] = true
			}
		}
	}
	return p
}

// Texts made to do harm are refused, or shown as they are: a page with them has the elements and attributes of one with
// harmless texts in their place, leads nowhere else, and holds no character that steers.
func TestHostileTextsAreShownAsText(t *testing.T) {
	texts := hostileTexts(t)
	hostile := people(t, func(i int) string { return texts[i] }, nil)
	harmless := people(t, func(i int) string { return fmt.Sprint("text-", i) }, hostile.refused)
	if len(harmless.refused) > 0 {
		t.Fatalf("harmless texts are refused: %v", harmless.refused)
	}
	for place, c := range places {
		shown, want := 0, parsed{}
		for i, text := range texts {
			id := place + "-" + strconv.Itoa(i)
			if hostile.refused[id] {
				continue
			}
			page := strings.ReplaceAll(c.page, "{id}", id)
			if shown == 0 {
				want = harmless.read(page) // all are alike
			}
			got := hostile.read(page)
			checkPage(t, page, got, want)
			text = string([]rune(text)) // as JSON has what is no UTF-8
			if !strings.Contains(spaced(got.text), spaced(visibly(text))) &&
				!strings.Contains(spaced(got.text), spaced(quoted(text))) {
				t.Errorf("%s does not show %q", page, text)
			}
			shown++
		}
		if refused := len(texts) - shown; shown < 70 || refused == 0 {
			t.Errorf("%s: %d texts shown, %d refused", place, shown, refused)
		}
		t.Logf("%s: %d of %d texts shown, the others refused", place, shown, len(texts))
	}
	for _, page := range []string{"/jobs", "/cluster", "/jobs/name-0/cancel", "/jobs/name-0/again"} {
		checkPage(t, page, hostile.read(page), harmless.read(page))
	}
}

// parsed is what a browser makes of a page.
type parsed struct {
	elements []string // each with the names of its attributes, in order
	leads    []string // values of attributes that lead elsewhere
	text     string
	steers   bool // it holds a character that steers
}

func (p *peopled) read(page string) parsed {
	p.Helper()
	if of, ok := p.pages[page]; ok {
		return of
	}
	res := p.ask("GET", page, nil)
	source := p.text(res)
	if res.StatusCode != http.StatusOK {
		p.Fatalf("%s: %d, %s", page, res.StatusCode, source)
	}
	p.pages[page] = p.parse(source)
	return p.pages[page]
}

func (p *peopled) parse(source string) parsed {
	p.Helper()
	root, err := html.Parse(strings.NewReader(source))
	if err != nil {
		p.Fatal(err)
	}
	var of parsed
	var text bytes.Buffer
	for node := range root.Descendants() {
		switch node.Type {
		case html.TextNode:
			text.WriteString(node.Data)
		case html.ElementNode:
			element := node.Data
			for _, a := range node.Attr {
				element += " " + a.Key
				if slices.Contains([]string{"href", "src", "action", "data-live", "srcdoc", "style"}, a.Key) {
					of.leads = append(of.leads, a.Val)
				}
			}
			of.elements = append(of.elements, element)
		case html.CommentNode:
			of.elements = append(of.elements, "comment")
		}
	}
	of.text = text.String()
	of.steers = strings.ContainsFunc(source, func(r rune) bool {
		return r != '\n' && r != '\t' && protocol.Steers(r)
	})
	return of
}

func checkPage(t *testing.T, page string, got, want parsed) {
	t.Helper()
	if !slices.Equal(got.elements, want.elements) {
		t.Errorf("%s has other elements:\n%q\nwant\n%q", page, got.elements, want.elements)
	}
	if got.steers {
		t.Errorf("%s holds a character that steers", page)
	}
	for _, to := range got.leads {
		if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
			t.Errorf("%s leads to %q", page, to)
		}
	}
}

// visibly is a text as a page shows it: html/template writes NUL as U+FFFD.
func visibly(text string) string {
	return protocol.VisibleLines(strings.ReplaceAll(text, "\x00", "\ufffd"))
}

// quoted is a text as a spec shows it, without the marks around it.
func quoted(text string) string {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	_ = to.Encode(text)                                         // never fails
	return protocol.VisibleLines(out.String()[1 : out.Len()-2]) // without the line's end
}

// spaced has one blank for each run of white space, as a browser shows it.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }
