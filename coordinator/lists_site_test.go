package coordinator

import (
	"bufio"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// listed are the ids of the jobs on a page of a list, in its order.
func listed(text string) (ids []string) {
	_, body, _ := strings.Cut(text, "<tbody>")
	body, _, _ = strings.Cut(body, "</tbody>")
	for _, m := range regexp.MustCompile(`<a href="/jobs/([^"]+)">`).FindAllStringSubmatch(body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// link is where the link with a text leads.
func link(text, words string) string {
	m := regexp.MustCompile(`<a href="([^"]+)"[^>]*>` + regexp.QuoteMeta(words) + `</a>`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// Forms and links alone filter, sort and turn pages; a page keeps the filter and the order.
func TestListByLinks(t *testing.T) {
	c := startTest(t, testConfig(""))
	for n := range 230 {
		submitTest(t, c, fmt.Sprintf("job-%03d", n))
	}
	if _, err := c.services.Jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "job-007"})); err != nil {
		t.Fatal(err)
	}
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
	open := func(path string) string {
		t.Helper()
		res := b.ask("GET", path, nil)
		text := b.text(res)
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", path, res.StatusCode, text)
		}
		return text
	}
	text := open("/jobs")
	if ids := listed(text); len(ids) != 100 || ids[0] != "job-229" || !strings.Contains(text, "230 in all") {
		t.Errorf("the first page has %v", ids)
	}
	text = open(link(text, "name")) // a heading
	if !strings.Contains(text, `aria-sort="ascending"`) {
		t.Error("the heading does not say how the list is sorted")
	}
	var all []string
	path := "/jobs?name=JOB&sort=name&state=active"
	for path != "" {
		text = open(path)
		all = append(all, listed(text)...)
		if form := `<option selected>active</option>`; !strings.Contains(text, form) ||
			!strings.Contains(text, `name="name" value="JOB"`) || !strings.Contains(text, "229 match") {
			t.Errorf("%s does not keep the filter: %s", path, text)
		}
		path = link(text, "next page")
	}
	if len(all) != 229 || !slices.IsSorted(all) || slices.Contains(all, "job-007") {
		t.Errorf("the pages have %d jobs: %v", len(all), all)
	}
	if first := link(text, "first page"); first != "/jobs?name=JOB&sort=name&state=active" {
		t.Errorf("the first page is at %s", first)
	}
	if text := open("/jobs?state=cancelled"); !slices.Equal(listed(text), []string{"job-007"}) {
		t.Errorf("cancelled: %v", listed(text))
	}
}

// What an address has that no list knows is refused; what a filter looks for is shown as text.
func TestHostileFilters(t *testing.T) {
	c := startTest(t, testConfig(""))
	submitTest(t, c, "a")
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
	hostile := []string{`"><script>alert(1)</script>`, "' onfocus=alert(1) x='", "javascript:alert(1)", "%00",
		"\u202egpj",
		"\x1b[2J", "\xff", "</table>", strings.Repeat("x", 257), "{{.}}", "../../etc/passwd"}
	for _, field := range []string{"state", "kind", "name", "schedule", "since", "sort", "dir", "from", "page",
		"other"} {
		for _, value := range hostile {
			for _, path := range []string{"/jobs", "/cluster", "/live/jobs", "/live/cluster"} {
				res := b.ask("GET", path+"?"+url.Values{field: {value}}.Encode(), nil)
				text := b.text(res)
				free := field == "kind" || field == "name" || field == "schedule"
				if res.StatusCode == http.StatusOK && !strings.HasPrefix(path, "/live") && !(free && path == "/jobs") ||
					res.StatusCode != http.StatusOK && res.StatusCode != http.StatusBadRequest ||
					strings.Contains(text, "<script>alert") || strings.ContainsAny(text, "\x1b\u202e\x00") ||
					strings.Contains(text, "onfocus=alert(1) x='") {
					t.Errorf("%s?%s=%q: %d %s", path, field, value, res.StatusCode, text)
				}
			}
		}
	}
}

// Two who look at the same list see a job that comes, without asking for the page again.
func TestLiveList(t *testing.T) {
	t.Parallel()
	c := startTest(t, testConfig(""))
	server := httptest.NewServer(c.Handler())
	defer server.Close()
	token := makeToken(t, c, gate.ScopeRead, 0)
	watch := func(path string) (*http.Response, *bufio.Scanner) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.AddCookie(&http.Cookie{Name: gate.SiteCookie, Value: token.Reveal()})
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		return res, lines
	}
	until := func(lines *bufio.Scanner, words string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), words) {
				return
			}
		}
		t.Fatalf("%q did not come: %v", words, lines.Err())
	}
	first, seen := watch("/live/jobs?state=active")
	defer first.Body.Close()
	second, seenToo := watch("/live/jobs?state=active")
	defer second.Body.Close()
	cluster, members := watch("/live/cluster")
	defer cluster.Body.Close()
	until(seen, "No job matches")
	until(seenToo, "No job matches")
	until(members, "leader</th><td>c1")
	submitTest(t, c, "a")
	until(seen, `href="/jobs/a"`)
	until(seenToo, `href="/jobs/a"`)
	stopTest(t, c)
	until(seen, "event: problem")
	until(seenToo, "event: problem")
}

// The page of a cluster names what a person should hear of, and lists workers by the hundred, those in trouble first.
func TestClusterPage(t *testing.T) {
	c := startTest(t, testConfig(""))
	for n := range 101 {
		registerTest(t, c, fmt.Sprint("w", n), 2)
	}
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
	first, second := b.text(b.ask("GET", "/cluster", nil)), b.text(b.ask("GET", "/cluster?page=2", nil))
	for _, words := range []string{"No alerts", "0 tasks of 202 slots", "101 workers, page 1 of 2", ">w99<",
		`<td class="n">101</td>`} {
		if !strings.Contains(first, words) {
			t.Errorf("the page lacks %q: %s", words, first)
		}
	}
	if next := link(first, "next page"); next != "/cluster?page=2" || strings.Contains(first, ">w100<") ||
		!strings.Contains(second, ">w100<") || link(second, "page before") != "/cluster" {
		t.Errorf("the next page is at %s: %s", next, second)
	}
	if res := b.ask("GET", "/cluster?page=3", nil); res.StatusCode != http.StatusOK { // workers may have gone
		t.Errorf("a page beyond the last: %d", res.StatusCode)
	}
}
