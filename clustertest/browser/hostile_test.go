package browser

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// notOurs are elements that no page has.
const notOurs = "script:not([src]), style, iframe, object, embed, img, video, audio, math, x-hostile, base, marquee, " +
	"[onerror], [onload], [onfocus], [onmouseover], [onstart], [ontoggle], [style]"

// Texts made to do harm do none in a browser: no script of theirs runs, no element is theirs, nothing is asked of
// another site, and nothing is complained of. What the pages hold of them is shown in coordinator.
func TestHostileTextsDoNothing(t *testing.T) {
	w := start(t, t.TempDir())
	corpus, err := os.ReadFile("../../testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	var taken []string
	for line := range strings.Lines(string(corpus)) {
		text, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil { // the first line is a comment
			continue
		}
		id := "h" + strconv.Itoa(len(taken))
		if err := w.submit(t.Context(), id, "NaiveBayes", fields{"name": text, "labels": fields{"x": text}},
			fields{"uri": "file:///none.tsv", "format": "tsv", "header": true, "label": text, "text": "y"},
			fields{}); err != nil {
			t.Logf("refused: %q: %v", text, err)
		} else {
			taken = append(taken, text)
		}
	}
	if len(taken) < 70 {
		t.Fatalf("only %d texts were taken", len(taken))
	}
	b := w.tab(t)
	w.logIn(t, b, gate.ScopeSubmit)
	check := func(path string) {
		t.Helper()
		b.open(path)
		if ask[bool](b, `window.hostile !== undefined`) {
			t.Errorf("%s: a script ran", path)
		}
		if got := ask[int](b, "document.querySelectorAll(`"+notOurs+"`).length"); got > 0 {
			t.Errorf("%s: %d elements are not of the page", path, got)
		}
	}
	check("/jobs")
	shown := b.text()
	for i, text := range taken {
		text = string([]rune(text)) // as JSON has what is no UTF-8
		if !strings.Contains(shown, strings.Join(strings.Fields(text), " ")) {
			t.Errorf("the list does not show %q", text)
		}
		if i%4 > 0 { // each costs some pages, with live pieces
			continue
		}
		id := "h" + strconv.Itoa(i)
		check("/jobs/" + id)
		if _, err := w.jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: id})); err != nil {
			t.Fatal(err)
		}
		check("/jobs/" + id + "/again")
	}
}
