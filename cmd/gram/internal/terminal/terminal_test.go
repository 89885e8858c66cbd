package terminal_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"pgregory.net/rapid"
)

func TestUseColor(t *testing.T) {
	for _, c := range []struct {
		choice, env string
		tty, want   bool
	}{
		{"auto", "", true, true},
		{"auto", "", false, false},
		{"auto", "TERM=dumb", true, false},
		{"auto", "FORCE_COLOR=1", false, true},
		{"auto", "FORCE_COLOR=0", false, false},
		{"auto", "CLICOLOR_FORCE=1", false, true},
		{"auto", "FORCE_COLOR=1 TERM=dumb", true, true},
		{"never", "FORCE_COLOR=1", true, false},
		{"always", "TERM=dumb", false, true},
		{"always", "NO_COLOR=1", true, false},
		{"auto", "NO_COLOR=1 FORCE_COLOR=1", true, false},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		if got := terminal.UseColor(c.choice, func(n string) string { return env[n] }, c.tty); got != c.want {
			t.Errorf("--color %s, %q, terminal %v: %v, want %v", c.choice, c.env, c.tty, got, c.want)
		}
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if terminal.IsTerminal(f) || terminal.IsTerminal(&strings.Builder{}) || terminal.Width(f) != 80 {
		t.Error("a file was taken for a terminal")
	}
}

var start = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func TestBar(t *testing.T) {
	p := terminal.Progress{Name: "glosses-k3f9p2", State: "Running", Step: "round 1 count", Done: 12, Total: 26,
		Leased: 2, Since: start}
	want := "glosses-k3f9p2  round 1 count [#######----------] 12/26 leaves  2 running  3.2s"
	if got := terminal.Bar(p, start.Add(3200*time.Millisecond), 80); got != want {
		t.Errorf("bar\n%q, want\n%q", got, want)
	}
	waiting := terminal.Progress{Name: "glosses-k3f9p2", State: "Queued", Reason: "no worker is there", Since: start}
	want = "glosses-k3f9p2  queued: no worker is there  1m05s"
	if got := terminal.Bar(waiting, start.Add(65*time.Second), 80); got != want {
		t.Errorf("bar\n%q, want\n%q", got, want)
	}
}

func TestBarFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Uint64Range(0, 1e6).Draw(t, "total")
		p := terminal.Progress{
			Name: rapid.StringN(0, 70, -1).Draw(t, "name"), State: "Running",
			Reason: rapid.StringN(0, 90, -1).Draw(t, "reason"),
			Step:   rapid.StringN(0, 50, -1).Draw(t, "step"), Total: total,
			Done:   rapid.Uint64Range(0, total).Draw(t, "done"),
			Leased: rapid.Uint32Range(0, 9999).Draw(t, "leased"), Since: start,
		}
		columns := rapid.IntRange(60, 200).Draw(t, "columns")
		bar := terminal.Bar(p, start.Add(time.Hour), columns)
		if n := terminal.TextWidth(bar); n >= columns || strings.ContainsAny(bar, "\r\n\x1b") {
			t.Fatalf("%d columns in a terminal of %d: %q", n, columns, bar)
		}
	})
}

// printer returns a printer whose clock the test holds.
func printer(tty bool) (*terminal.Printer, *strings.Builder, *time.Time) {
	now := start
	var out strings.Builder
	return &terminal.Printer{
		W: &out, Terminal: tty, Columns: func() int { return 80 }, Now: func() time.Time { return now },
	}, &out, &now
}

func TestPlainLinesComeAtTenths(t *testing.T) {
	p, out, now := printer(false)
	for done := range uint64(101) {
		*now = start.Add(time.Duration(done) * 100 * time.Millisecond) // a tenth each second
		p.Update(terminal.Progress{Name: "j", State: "Running", Step: "round 1 count", Done: done, Total: 100,
			Since: start})
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 11 || lines[3] != "j: running round 1 count, 30/100 leaves (30%), 0 running, 3.0s" {
		t.Fatalf("%d lines:\n%s", len(lines), out)
	}
	out.Reset()
	p.Update(terminal.Progress{Name: "j", State: "Running", Step: "round 1 count", Done: 5, Total: 100, Since: start})
	if out.Len() != 0 {
		t.Errorf("two lines within a second: %q", out)
	}
	p.Update(terminal.Progress{Name: "j", State: "Running", Step: "round 1 count", Done: 100, Total: 100, Since: start})
	*now = now.Add(9 * time.Second)
	p.Tick()
	if out.Len() != 0 {
		t.Errorf("printed before ten seconds: %q", out)
	}
	*now = now.Add(time.Second)
	p.Tick()
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("after ten seconds: %q", out)
	}
	out.Reset()
	p.Update(terminal.Progress{Name: "j", State: "Succeeded", Done: 100, Total: 100, Since: start})
	if !strings.HasPrefix(out.String(), "j: succeeded") {
		t.Errorf("a new state must be said at once: %q", out)
	}
}

func TestTerminalLineIsRedrawnAndCleared(t *testing.T) {
	p, out, _ := printer(true)
	p.Tick()
	p.Clear()
	if out.Len() != 0 {
		t.Fatalf("drew without progress: %q", out)
	}
	p.Update(terminal.Progress{Name: "j", State: "Queued", Since: start})
	p.Message("note")
	p.Clear()
	want := "\rj  queued  0.0s\x1b[K" + "\r\x1b[K" + "note\n" + "\rj  queued  0.0s\x1b[K" + "\r\x1b[K"
	if out.String() != want {
		t.Errorf("wrote %q, want %q", out, want)
	}
}

func TestTable(t *testing.T) {
	var table terminal.Table
	table.Row("ID", "STATE", "")
	table.Row("größe", "Running", "steer\x1b[2Jme")
	table.Row("none", "a sentence") // nothing is beside it, so the column is no wider
	table.Paint = func(row, column int, text string) string {
		if row == 1 && column == 1 {
			return terminal.Palette{On: true}.Good(text)
		}
		return text
	}
	var out strings.Builder
	table.Write(&out)
	want := "ID     STATE\ngröße  \x1b[32mRunning\x1b[0m  steer\\x1b[2Jme\nnone   a sentence\n"
	if out.String() != want {
		t.Errorf("table %q, want %q", out.String(), want)
	}
}

func ExampleElapsed() {
	for _, seconds := range []float64{-3, 0.44, 12.9, 185, 7650} {
		fmt.Println(terminal.Elapsed(time.Duration(seconds * float64(time.Second))))
	}
	// Output:
	// 0.0s
	// 0.4s
	// 12s
	// 3m05s
	// 2h07m
}
