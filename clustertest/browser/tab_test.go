package browser

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/gram-compute/gram/deploy/process"
)

// patience bounds one step of a browser; it takes some milliseconds.
const patience = 30 * time.Second

// tab is a window of its own, with cookies of its own. A complaint of the browser, and a request to anywhere but the
// cluster, fails its test.
type tab struct {
	*testing.T
	ctx  context.Context
	base string // of the cluster

	mu       sync.Mutex
	problems []string
	excused  []string // parts of problems that are as they must be
	requests int
}

// tab opens a window of a world's browser.
func (w *world) tab(t *testing.T) *tab {
	t.Helper()
	b := &tab{T: t, base: w.base}
	ctx, cancel := chromedp.NewContext(w.browser, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.hear))
	b.ctx = ctx
	t.Cleanup(func() {
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, problem := range b.problems {
			t.Error("the browser says: " + problem)
		}
		if b.requests == 0 {
			t.Error("the browser was heard to ask for nothing")
		}
	})
	if err := chromedp.Do(ctx); err != nil { // without a limit, which would be one on the tab
		t.Fatalf("open a tab: %v", err)
	}
	return b
}

// hear takes in an event of the browser.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			b.complain(fmt.Sprintf("console.%s at %v", e.Type, e.StackTrace))
		}
	case *runtime.EventExceptionThrown:
		b.complain(fmt.Sprintf("exception: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *log.EventEntryAdded: // violations of the policy, too
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			b.complain(fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		b.requests++
		if !strings.HasPrefix(e.Request.URL, b.base+"/") && !strings.HasPrefix(e.Request.URL, "data:image/") {
			b.complain("a request to " + e.Request.URL)
		}
	case *page.EventJavascriptDialogOpening:
		b.complain("a dialog: " + e.Message)
	}
}

func (b *tab) complain(problem string) {
	for _, part := range b.excused {
		if strings.Contains(problem, part) {
			return
		}
	}
	b.problems = append(b.problems, problem)
}

// excuse takes problems with a part in them for what must be: the browser complains of each answer of 4xx.
func (b *tab) excuse(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.excused = append(b.excused, part)
}

// run runs an action in a tab.
func run[T any](b *tab, what string, action chromedp.Action[T]) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
	return value
}

// do runs actions in turn.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	run(b, "browse", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, action := range actions {
			if _, err := action(ctx, t); err != nil {
				return err
			}
		}
		return nil
	}))
}

// ask evaluates an expression in the page; promises are waited for.
func ask[T any](b *tab, expression string) T {
	b.Helper()
	return run(b, expression, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// open goes to a path and returns the status of the answer.
func (b *tab) open(path string) int64 {
	b.Helper()
	return run(b, "open "+path, chromedp.NavigateResponse(b.base+path)).Status
}

// follow does what leads to another page, and returns the status of the answer.
func (b *tab) follow(actions ...chromedp.Action[chromedp.Void]) int64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	res, err := chromedp.RunResponse(ctx, actions...)
	if err != nil {
		b.Fatal(err)
	}
	return res.Status
}

// click clicks what leads to another page.
func (b *tab) click(selector string) int64 {
	b.Helper()
	return b.follow(chromedp.Click(chromedp.CSS(selector)))
}

// at fails unless the tab is at a path.
func (b *tab) at(path string) {
	b.Helper()
	if got := ask[string](b, `location.pathname + location.search`); got != path {
		b.Fatalf("the tab is at %s, not at %s: %s", got, path, b.text())
	}
}

// text is what the page shows.
func (b *tab) text() string {
	b.Helper()
	return ask[string](b, `document.body.innerText`)
}

// shows fails unless the page shows a text.
func (b *tab) shows(text string) {
	b.Helper()
	if got := b.text(); !strings.Contains(got, text) {
		b.Fatalf("%s does not show %q: %s", ask[string](b, `location.pathname`), text, got)
	}
}

// await waits until an expression is true, in this page or in one that it becomes.
func (b *tab) await(what, expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := process.Until(ctx, what, func() bool {
		yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		return err == nil && yes // between two pages there is nothing to ask
	}); err != nil {
		b.Fatalf("%v: %s", err, b.text())
	}
}

// look sets the width of the window and the scheme of colors.
func (b *tab) look(width int64, scheme string) {
	b.Helper()
	b.do(chromedp.EmulateViewport(width, 800), call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"}}}))
}

// scripts turns the scripts of pages that are opened from now on off, or on again.
func (b *tab) scripts(on bool) {
	b.Helper()
	b.do(call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on}))
}

// call is a command of the protocol as an action.
func call[P any](command cdp.Command[P, cdp.Empty], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// press presses keys: a rune a key, of package kb.
func press(keys string) chromedp.Action[chromedp.Void] { return chromedp.KeyEvent(keys) }
