package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/web"
)

// view is a page to look at.
type view struct {
	name string // of its pictures
	path string
	out  bool  // it is seen without a login
	code int64 // of the answer
}

// fixed are the views that are looked at wherever links lead.
var fixed = []view{
	{"login", "/login", true, 200}, {"login-link", "/login/once?key=x", true, 200}, {"jobs", "/jobs", false, 200},
	{"job-succeeded", "/jobs/" + clustered, false, 200}, {"job-running", "/jobs/" + running, false, 200},
	{"job-failed", "/jobs/" + failed, false, 200}, {"job-cancelled", "/jobs/" + cancelled, false, 200},
	{"cancel", "/jobs/" + running + "/cancel", false, 200}, {"again", "/jobs/" + failed + "/again", false, 200},
	{"report", "/jobs/" + three + "/report", false, 200}, {"report-failed", "/jobs/" + failed + "/report", false, 200},
	{"logs", "/jobs/" + clustered + "/logs", false, 200},
	{"compare", "/compare?a=" + three + "&b=" + nine, false, 200}, {"models", "/models", false, 200},
	{"schedules", "/schedules", false, 200}, {"schedule", "/schedules/nightly", false, 200},
	{"pause", "/schedules/nightly/pause", false, 200}, {"cluster", "/cluster", false, 200},
	{"not-found", "/jobs/none", false, 404},
}

// views are the fixed ones, and those that their links lead to: one of each further pattern.
func (w *world) views(t *testing.T) []view {
	t.Helper()
	b := w.tab(t)
	b.excuse("status of 404")
	w.logIn(t, b, gate.ScopeSubmit)
	patterns := http.NewServeMux()
	for _, pattern := range web.Patterns() {
		patterns.HandleFunc(pattern, http.NotFound)
	}
	patternOf := func(path string) string {
		_, pattern := patterns.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Host: "x"})
		return pattern
	}
	all, seen := slices.Clone(fixed), map[string]bool{"GET /{$}": true, "": true}
	for _, v := range fixed {
		path, _, _ := strings.Cut(v.path, "?")
		seen[patternOf(path)] = true
	}
	for i := 0; i < len(all); i++ {
		if all[i].out {
			continue
		}
		b.open(all[i].path)
		for _, link := range ask[[]string](b, `[...document.links].filter(a => a.origin == location.origin).
			map(a => a.pathname + a.search)`) {
			path, _, _ := strings.Cut(link, "?")
			if pattern := patternOf(path); !seen[pattern] {
				seen[pattern] = true
				name := strings.NewReplacer("GET /", "", "/", "-", "{", "", "}", "").Replace(pattern)
				all = append(all, view{name: name, path: link, code: 200})
			}
		}
	}
	for _, pattern := range web.Patterns() {
		if strings.HasPrefix(pattern, "GET ") && !seen[pattern] {
			t.Logf("no link leads to %s", pattern)
		}
	}
	return all
}

// open shows a view in a tab that is logged in, or in one that is not.
func (v view) open(in, out *tab) *tab {
	in.Helper()
	b := in
	if v.out {
		b = out
	}
	if status := b.open(v.path); status != v.code {
		b.Errorf("%s: %d, want %d: %s", v.path, status, v.code, b.text())
	}
	return b
}

// tabs opens a tab that is logged in and one that is not.
func (w *world) tabs(t *testing.T) (in, out *tab) {
	t.Helper()
	in, out = w.tab(t), w.tab(t)
	in.excuse("status of 404")
	w.logIn(t, in, gate.ScopeSubmit)
	return in, out
}

// Each view, on a desk and on a phone, light and dark: nothing for axe-core to find, no scrolling sideways. The
// keyboard reaches all that can be used, in the order of the page, and shows where it is.
func TestViews(t *testing.T) {
	w := start(t, t.TempDir())
	w.demonstrate(t)
	axe, err := os.ReadFile("../../bin/axe.min.js")
	if err != nil {
		missing(t, "no bin/axe.min.js, which `make tools` fetches")
	}
	views := w.views(t)
	in, out := w.tabs(t)
	for _, v := range views {
		b := v.open(in, out)
		sandboxed := strings.HasPrefix(v.name, "report") // no script runs there, axe-core neither
		if !sandboxed {
			ask[bool](b, string(axe)+"; true")
		}
		for _, width := range []int64{1280, 390} {
			for _, scheme := range []string{"light", "dark"} {
				b.look(width, scheme)
				if sandboxed {
					continue
				}
				for _, found := range ask[[]string](b, axeRun) {
					t.Errorf("%s, %d px, %s: %s", v.path, width, scheme, found)
				}
			}
			if over := ask[string](b, overflow); over != "" {
				t.Errorf("%s scrolls sideways at %d px: %s", v.path, width, over)
			}
		}
		b.look(1280, "light")
		b.scripts(false) // what moves is still
		v.open(in, out).walk(v)
		b.scripts(true)
	}
}

// axeRun lists what axe-core finds, by rule.
const axeRun = `axe.run(document, {resultTypes: ["violations"], runOnly: {type: "tag", values: ["wcag2a", "wcag2aa",
	"wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}).then(r => r.violations.map(v => v.id + ": " + v.help + ": " +
	v.nodes.map(n => n.html + " " + n.failureSummary).join("; ")))`

// overflow names what is wider than the window, "" where nothing is.
const overflow = `(root => root.scrollWidth <= root.clientWidth ? "" : [...document.body.querySelectorAll("*")].
	filter(el => el.getBoundingClientRect().right > root.clientWidth + 1).map(el => el.outerHTML.slice(0, 80)).
	slice(-3).join("; ") || "the page")(document.documentElement)`

// walk goes through a view by the tab key.
func (b *tab) walk(v view) {
	b.Helper()
	want := ask[[]string](b, `(all => { all.forEach((el, i) => el.dataset.stop = i); document.activeElement.blur();
		return all.map(el => el.dataset.stop + " " + el.outerHTML.slice(0, 80)); })
		([...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")].
		filter(el => el.checkVisibility() && !el.disabled))`)
	var got []string
	for range len(want) + 40 { // what scrolls is reached, too, and the window's own frame
		b.do(press(kb.Tab))
		at := ask[string](b, `(el => el.dataset.stop ? el.dataset.stop + " " + el.outerHTML.slice(0, 80) : "")
			(document.activeElement)`)
		if at == "" {
			continue
		}
		if len(got) > 0 && at == got[len(got)-1] { // a field of several parts
			continue
		}
		if slices.Contains(got, at) {
			break
		}
		if !ask[bool](b, focusIsVisible) {
			b.Errorf("%s: the focus cannot be seen at %s", v.path, at)
		}
		got = append(got, at)
	}
	// A page whose field has the focus at first goes on from there.
	if first := slices.IndexFunc(got, func(at string) bool { return strings.HasPrefix(at, "0 ") }); first > 0 {
		got = append(got[first:], got[:first]...)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("%s: the keyboard reaches\n%q, want\n%q", v.path, got, want)
	}
}
