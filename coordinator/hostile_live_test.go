package coordinator

import (
	"bufio"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// The pieces of a live page, with workers whose names were made to do harm, have no element or attribute that those
// with harmless names have not; no name makes an event.
func TestHostileTextsInEvents(t *testing.T) {
	var names, harmless []string
	for i, text := range hostileTexts(t) {
		if !strings.ContainsFunc(text, protocol.Steers) && string([]rune(text)) == text {
			names, harmless = append(names, text), append(harmless, fmt.Sprint("text-", i))
		}
	}
	got, shown := livePieces(t, names)
	want, _ := livePieces(t, harmless)
	for piece, elements := range got { // how many lines a timeline has is a matter of time
		for _, element := range elements {
			if !slices.Contains(want[piece], element) {
				t.Errorf("%s has the element %q; with harmless names it has %q", piece, element, want[piece])
			}
		}
	}
	seen := 0 // the timeline has lanes for some of them
	for _, name := range names {
		short := []rune(spaced(visibly(name)))
		if strings.Contains(spaced(shown), string(short[:min(len(short), 8)])) {
			seen++
		}
	}
	if seen < 10 {
		t.Errorf("the pieces show %d of %d names", seen, len(names))
	}
}

// livePieces has workers of these names at work on a job, and returns the elements of each piece of its page, and all
// text.
func livePieces(t *testing.T, workers []string) (pieces map[string][]string, text string) {
	t.Helper()
	c := startTest(t, testConfig(""))
	planTest(t, c, "a", uint32(2*len(workers)))
	for i, name := range workers {
		id := fmt.Sprint("w", i)
		if _, err := c.services.Workers.Register(t.Context(), connect.NewRequest(&pb.RegisterRequest{WorkerId: id,
			Name: name, Slots: 1, Kernels: "generic"})); err != nil {
			t.Fatal(err)
		}
		leaseTest(t, c, id, 1)
	}
	p := &peopled{browser: &browser{T: t, c: c}}
	url, client := serveTest(t, c)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/jobs/a/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: gate.SiteCookie, Value: makeToken(t, c, gate.ScopeRead, 0).Reveal()})
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	pieces = map[string][]string{}
	var data []string
	lines := bufio.NewReader(res.Body)
	for len(pieces["job-timeline"]) == 0 {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v, after %v", err, slices.Collect(maps.Keys(pieces)))
		}
		switch rest, isData := strings.CutPrefix(line, "data: "); {
		case isData:
			data = append(data, rest)
		case line == "\n":
			of := p.parse(strings.Join(data[1:], ""))
			pieces[strings.TrimSpace(data[0])], text, data = of.elements, text+of.text, nil
		case line != "event: piece\n":
			t.Fatalf("the stream has the line %q", line)
		}
	}
	return pieces, text
}
