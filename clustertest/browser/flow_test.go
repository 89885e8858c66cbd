package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/coordinator/gate"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// What a person does with a cluster of `gram dev`, in a browser. The parts go on where those before them ended: jobs
// wait until the part that starts a worker.
func TestFlows(t *testing.T) {
	w := start(t, t.TempDir())
	for _, id := range []string{"to-watch", "to-cancel", "to-cancel-plainly"} {
		if err := w.submit(t.Context(), id, "KMeans", fields{"name": id},
			fields{"uri": w.data(t, "digits.csv.gz"), "format": "csv", "label": 65}, fields{"k": 10}); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []struct {
		name string
		do   func(*world, *testing.T)
	}{
		{"log in by the link of gram dev", logInByLink}, {"log in by a token", logInByToken},
		{"look, and no more", lookOnly}, {"cancel by the keyboard", cancelByKeyboard},
		{"cancel without scripts", cancelWithoutScripts}, {"watch to the end", watchToTheEnd},
		{"look at the cluster", lookAtTheCluster}, {"filter and sort", filterAndSort},
		{"run again", runAgain}, {"compare two", compareTwo},
		{"look at a failed job", lookAtAFailedJob}, {"pause a schedule", pauseASchedule},
		{"a token that is revoked", loseTheToken},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.do(w, t) }) {
			return
		}
	}
}

// The link asks, logs in, and is spent: not by a look at it, and for the next browser it is over.
func logInByLink(w *world, t *testing.T) {
	path := strings.TrimPrefix(w.link, w.base)
	preview := w.tab(t)
	preview.open(path)
	if got := ask[string](preview, `document.cookie`); got != "" {
		t.Errorf("a look at the link sets the cookie %q", got)
	}
	b := w.tab(t)
	b.open(path)
	b.shows("once")
	b.click("main button")
	b.at("/jobs")
	b.shows("to-watch")
	if got := ask[string](b, `document.cookie + document.referrer`); strings.Contains(got, "gram_") ||
		strings.Contains(got, "key=") {
		t.Errorf("scripts see %q", got)
	}
	late := w.tab(t)
	late.excuse("status of 401")
	late.open(path)
	if status := late.click("main button"); status != 401 {
		t.Errorf("the second use answers %d", status)
	}
	late.shows("logs in once")
	late.open("/jobs")
	late.at("/login?next=%2Fjobs")
}

// A browser without a token is sent to the login and then to where it was going; a wrong token is told; who logs out is
// out.
func logInByToken(w *world, t *testing.T) {
	b := w.tab(t)
	b.excuse("status of 401")
	b.open("/cluster")
	b.at("/login?next=%2Fcluster")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), "gram_0000000000000000_wrong"))
	if status := b.click("main button"); status != 401 {
		t.Errorf("a wrong token: %d", status)
	}
	b.shows("no valid token")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), w.token(t, gate.ScopeRead)))
	b.click("main button")
	b.at("/cluster")
	b.click("header button")
	b.at("/login")
	b.open("/cluster")
	b.at("/login?next=%2Fcluster")
}

// logIn logs in with a token of a scope.
func (w *world) logIn(t *testing.T, b *tab, scope gate.Scope) {
	t.Helper()
	b.open("/login")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), w.token(t, scope)))
	b.click("main button")
	b.at("/jobs")
}

// A token of scope read opens no form that cancels.
func lookOnly(w *world, t *testing.T) {
	b := w.tab(t)
	b.excuse("status of 403")
	w.logIn(t, b, gate.ScopeRead)
	if status := b.open("/jobs/to-cancel"); status != 200 {
		t.Errorf("the job: %d", status)
	}
	if status := b.open("/jobs/to-cancel/cancel"); status != 403 {
		t.Errorf("the form: %d", status)
	}
}

// tabTo moves the focus by the keyboard until it is at what the expression names `el`.
func (b *tab) tabTo(condition string) {
	b.Helper()
	for range 60 {
		b.do(press(kb.Tab))
		if ask[bool](b, `(el => !!el && !!(`+condition+`))(document.activeElement)`) {
			if !ask[bool](b, focusIsVisible) {
				b.Errorf("the focus cannot be seen at %s", ask[string](b, `document.activeElement.outerHTML`))
			}
			return
		}
	}
	b.Fatalf("the keyboard does not reach %s: %s", condition, b.text())
}

// focusIsVisible is true where the element with the focus has an outline, inside of the window.
const focusIsVisible = `(el => { const s = getComputedStyle(el), at = el.getBoundingClientRect();
	return s.outlineStyle != "none" && parseFloat(s.outlineWidth) >= 1 && at.bottom > 0 && at.top < innerHeight;
})(document.activeElement)`

func cancelByKeyboard(w *world, t *testing.T) {
	b := w.tab(t)
	b.open("/login")
	b.do(press(w.token(t, gate.ScopeSubmit))) // the field has the focus
	b.follow(press(kb.Enter))
	b.at("/jobs")
	b.tabTo(`el.pathname == "/jobs/to-cancel"`)
	b.follow(press(kb.Enter))
	b.at("/jobs/to-cancel")
	b.tabTo(`el.pathname == "/jobs/to-cancel/cancel"`)
	b.follow(press(kb.Enter))
	b.tabTo(`el.form?.action.endsWith("/jobs/to-cancel/cancel")`)
	b.follow(press(kb.Enter))
	b.at("/jobs/to-cancel")
	b.shows("cancelled")
	w.await(t, "to-cancel", "the job to be cancelled", func(job *pb.Job) bool {
		return job.GetState() == pb.JobState_JOB_STATE_CANCELLED
	})
}

func cancelWithoutScripts(w *world, t *testing.T) {
	b := w.tab(t)
	b.scripts(false)
	w.logIn(t, b, gate.ScopeSubmit)
	b.click(`a[href="/jobs/to-cancel-plainly"]`)
	b.at("/jobs/to-cancel-plainly")
	if !ask[bool](b, `!!document.querySelector("noscript meta[http-equiv=refresh], meta[http-equiv=refresh]")`) {
		t.Error("the page of a running job does not load itself again")
	}
	b.click(`a[href="/jobs/to-cancel-plainly/cancel"]`)
	b.click(`form[action="/jobs/to-cancel-plainly/cancel"] button`)
	b.at("/jobs/to-cancel-plainly")
	b.shows("cancelled")
	b.click("header button")
	b.at("/login")
}

// The page of a job that waits shows by itself that it runs, and its results when it has ended.
func watchToTheEnd(w *world, t *testing.T) {
	b := w.tab(t)
	w.logIn(t, b, gate.ScopeRead)
	b.click(`a[href="/jobs/to-watch"]`)
	b.shows("waits for a worker")
	w.work(t, "w1")
	b.await("the page to show the end", `document.body.innerText.includes("succeeded")`)
	b.await("the page to show the results", `document.body.innerText.includes("model.safetensors")`)
	b.at("/jobs/to-watch")
}

// The list shows the jobs of a state, and in the order of a column, with an address that can be kept.
func filterAndSort(w *world, t *testing.T) {
	b := w.tab(t)
	w.logIn(t, b, gate.ScopeRead)
	b.do(chromedp.SetValue(chromedp.CSS(`select[name="state"]`), "cancelled"))
	b.click("form.filter button")
	listed := func() string {
		return ask[string](b, `[...document.querySelectorAll("td code")].map(e => e.innerText).join()`)
	}
	if got := listed(); got != "to-cancel-plainly,to-cancel" && got != "to-cancel,to-cancel-plainly" {
		t.Errorf("cancelled jobs: %q", got)
	}
	b.open("/jobs")
	b.click("th:first-child a")
	first := listed()
	b.click("th:first-child a")
	if second := listed(); first == second || len(first) != len(second) || !strings.Contains(first, "to-watch") {
		t.Errorf("sorted by name: %q, and the other way: %q", first, second)
	}
}

// A job that has ended is run again from its page, to the same model; log and report are a link away.
func runAgain(w *world, t *testing.T) {
	b := w.tab(t)
	w.logIn(t, b, gate.ScopeSubmit)
	b.open("/jobs/to-watch")
	b.click(`a[href="/jobs/to-watch/logs"]`)
	b.shows("Back to the job")
	b.open("/jobs/to-watch")
	b.click(`a[href="/jobs/to-watch/report"]`)
	b.at("/jobs/to-watch/report")
	b.shows("KMeans")
	b.open("/jobs/to-watch")
	b.click(`a[href="/jobs/to-watch/again"]`)
	b.click(`form[action="/jobs/to-watch/again"] button`)
	b.await("the new job to show its results", `document.body.innerText.includes("model.safetensors")`)
	if ask[bool](b, `location.pathname == "/jobs/to-watch"`) {
		t.Error("it is the job from before")
	}
}

// Two jobs are chosen among the models and compared.
func compareTwo(w *world, t *testing.T) {
	b := w.tab(t)
	w.logIn(t, b, gate.ScopeRead)
	b.click(`header a[href="/models"]`)
	b.at("/models")
	if n := ask[int](b, `(boxes => { boxes.forEach(box => box.click()); return boxes.length; })
		(document.querySelectorAll("input[name=job]"))`); n != 2 {
		t.Fatalf("%d models are listed: %s", n, b.text())
	}
	b.click("form#pick button")
	b.shows("What differs first")
	b.shows("The models are the same, byte for byte.")
}

// The page of a job that failed says why, and leads to its report.
func lookAtAFailedJob(w *world, t *testing.T) {
	if err := w.submit(t.Context(), "to-fail", "KMeans", fields{"name": "to-fail"},
		fields{"uri": w.data(t, "digits.csv.gz"), "format": "csv", "label": 99}, fields{"k": 10}); err != nil {
		t.Fatal(err)
	}
	b := w.tab(t)
	w.logIn(t, b, gate.ScopeRead)
	b.open("/jobs/to-fail")
	b.await("the page to show why", `document.body.innerText.includes("BAD_RECORD")`)
	b.shows("column 99")
	w.awaitEnd(t, "to-fail")
	b.open("/jobs/to-fail")
	b.click(`a[href="/jobs/to-fail/report"]`)
	b.shows("column 99")
}

func pauseASchedule(w *world, t *testing.T) {
	w.remember(t, "to-watch", fields{"uri": "file:///none.tsv", "format": "tsv", "label": 1, "text": 2})
	b := w.tab(t)
	w.logIn(t, b, gate.ScopeSubmit)
	b.click(`header a[href="/schedules"]`)
	b.click(`a[href="/schedules/nightly"]`)
	for _, verb := range []string{"pause", "resume"} {
		b.click(`a[href="/schedules/nightly/` + verb + `"]`)
		b.click(`form[action="/schedules/nightly/` + verb + `"] button`)
		b.at("/schedules/nightly")
		paused := ask[bool](b, `document.querySelector(".state").innerText == "paused"`)
		if paused != (verb == "pause") {
			t.Errorf("after %s: %s", verb, b.text())
		}
	}
}

func lookAtTheCluster(w *world, t *testing.T) {
	b := w.tab(t)
	w.logIn(t, b, gate.ScopeRead)
	b.click(`header a[href="/cluster"]`)
	b.at("/cluster")
	for _, text := range []string{"w1", "leader", "c1"} {
		b.shows(text)
	}
}

// A page that is open says nothing more once its token is revoked: the next look asks for a login.
func loseTheToken(w *world, t *testing.T) {
	b := w.tab(t)
	token := w.token(t, gate.ScopeRead)
	b.open("/login")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), token))
	b.click("main button")
	b.at("/jobs")
	parsed, err := gate.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	_, stderr, code := clustertest.Run(t.Context(), t, w.dir, w.home.ClientEnv(w.base), nil, "token", "revoke",
		parsed.ID)
	if code != 0 {
		t.Fatalf("gram token revoke: %d, %s", code, stderr)
	}
	b.open("/jobs")
	b.at("/login?next=%2Fjobs")
}
