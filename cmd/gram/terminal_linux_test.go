package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"golang.org/x/sys/unix"
)

// newTerminal is a terminal: what is written to typed is read from device, and the other way round.
func newTerminal(t *testing.T) (typed, device *os.File) {
	t.Helper()
	typed, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { typed.Close() })
	if err := unix.IoctlSetPointerInt(int(typed.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(typed.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	device, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { device.Close() })
	return typed, device
}

// What deletes a model asks on a terminal, and elsewhere wants the answer beforehand.
func TestRemovingAModelAsks(t *testing.T) {
	ask := func(answer string, args ...string) (int, string) {
		t.Helper()
		c := clientOf(t, &backend{})
		if answer != "" {
			typed, device := newTerminal(t)
			c.app.in = device
			if _, err := io.WriteString(typed, answer); err != nil {
				t.Fatal(err)
			}
		}
		return c.run(args...), c.stderr.String()
	}
	// The backend knows no models: what gets as far as a call is refused with "unimplemented".
	const called = "answered: 404 Not Found"
	for _, c := range []struct {
		answer string
		line   string
		code   int
		says   string
	}{
		{"", "model rm a", exit.Usage, "`gram model rm --yes`"},
		{"", "model rm a --yes", exit.Failed, called},
		{"n\n", "model rm a", exit.Failed,
			"job a and what it learned go for good. Go on? [y/N] gram: nothing was changed"},
		{"\n", "model rm a b", exit.Failed, "2 jobs (a, b) and what"},
		{"y\n", "model rm a", exit.Failed, called},
		{"YES\n", "model rm a", exit.Failed, called},
		{"y\n", "model rm a --yes", exit.Failed, called},
		{"", "schedule rm a", exit.Failed, called}, // scripts go on: a schedule can be made again
		{"n\n", "schedule rm a", exit.Failed, "nothing was changed"},
		{"n\n", "token revoke 3f9a0c51e2d4b687", exit.Failed, "nothing was changed"},
		{"n\n", "cluster remove c2", exit.Failed, "nothing was changed"},
	} {
		if code, got := ask(c.answer, strings.Fields(c.line)...); code != c.code || !strings.Contains(got, c.says) ||
			c.says != called && strings.Contains(got, called) {
			t.Errorf("gram %s, answer %q: %d\n%swant %d, %s", c.line, c.answer, code, got, c.code, c.says)
		}
	}
}

// A label cannot steer the terminal that it is printed on; in a file it is as the job wrote it.
func TestGetOnATerminal(t *testing.T) {
	c := newClient(t)
	folder := writeResult(c, "csv")
	hostile := "query,distance\n\x1b]0;owned\x07,1\n\u009b2J\u202e,2\n"
	rewriteResult(c, folder, hostile)
	typed, device := newTerminal(t)
	c.app.out = device
	c.want(0, c.run("get", "./models/digits-1"))
	lines := bufio.NewReader(typed)
	for _, want := range []string{"query,distance", `\x1b]0;owned\x07,1`, `\u009b2J\u202e,2`} {
		if line, err := lines.ReadString('\n'); err != nil || strings.TrimRight(line, "\r\n") != want {
			t.Errorf("%q, %v, want %q", line, err, want)
		}
	}
	c.want(0, c.run("get", "./models/digits-1", "--out", "all.csv"))
	if data, err := os.ReadFile(filepath.Join(c.app.dir, "all.csv")); err != nil || string(data) != hostile {
		t.Errorf("the file holds %q, %v", data, err)
	}
}
