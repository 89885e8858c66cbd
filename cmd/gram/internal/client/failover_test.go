package client

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// server answers its name and what it was sent, or 503 while *down.
func server(t *testing.T, name string, down *bool) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if *down {
			http.Error(w, name+" cannot", http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		io.WriteString(w, name+" got "+string(body)+" for "+r.Host)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// closed is an address where nobody listens.
func closed(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func post(t *testing.T, client *http.Client, body io.Reader) (int, string) {
	t.Helper()
	res, err := client.Post("http://first/path", "text/plain", body)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestMovesOnAndStaysWhereItWasAnswered(t *testing.T) {
	var downB, downC bool
	a, b, c := closed(t), server(t, "b", &downB), server(t, "c", &downC)
	client := &http.Client{Transport: &failover{next: &http.Transport{}, hosts: []string{a, b, c}}}
	defer client.CloseIdleConnections()
	want := func(body io.Reader, status int, text string) {
		t.Helper()
		if got, said := post(t, client, body); got != status || !strings.Contains(said, text) {
			t.Errorf("%d %q, want %d %q", got, said, status, text)
		}
	}
	want(strings.NewReader("x"), 200, "b got x for "+b) // a is not there; the body is sent again
	want(strings.NewReader("y"), 200, "b got y")
	downB = true
	want(strings.NewReader("z"), 200, "c got z for "+c)
	downC = true
	want(strings.NewReader("z"), 503, "b cannot") // c, a, b: the last answer is the caller's
	downC = false
	want(io.MultiReader(strings.NewReader("1")), 200, "c got 1")
	downC = true
	want(io.MultiReader(strings.NewReader("2")), 503, "c cannot") // a body that cannot be sent twice
	want(io.MultiReader(strings.NewReader("2")), 0, "connection refused")
	downB = false
	want(io.MultiReader(strings.NewReader("2")), 200, "b got 2")
}

func TestNobodyAnswers(t *testing.T) {
	client := &http.Client{Transport: &failover{next: &http.Transport{}, hosts: []string{closed(t), closed(t)}}}
	if status, said := post(t, client, strings.NewReader("x")); status != 0 ||
		!strings.Contains(said, "connection refused") {
		t.Errorf("%d %q", status, said)
	}
}
