package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type buffer struct {
	bytes.Buffer
	err error
}

func (b *buffer) Write(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	return b.Buffer.Write(p)
}

func (b *buffer) Close() error { return nil }

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("", 3600))

func record(result Result) Record {
	return Record{Time: noon, Member: "c1", Who: "token a", What: "JobService.Cancel", Object: "glosses",
		Result: result, RaftIndex: 7}
}

func TestALineIsOneObject(t *testing.T) {
	var to buffer
	l := New(&to, slog.New(slog.DiscardHandler))
	r := record(OK)
	r.Object = "a\nb" + strings.Repeat("x", 1000)
	l.Write(r)
	if n := strings.Count(to.String(), "\n"); n != 1 || to.Len() > 600 {
		t.Errorf("%d lines, %d bytes", n, to.Len())
	}
	var got map[string]any
	if err := json.Unmarshal(to.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got["time"] != "2026-11-21T11:00:00Z" || got["who"] != "token a" || got["raft_index"] != 7.0 ||
		got["result"] != "ok" {
		t.Errorf("%v", got)
	}
}

// A flood of refusals leaves a burst, then ten a second, and says how many are missing; what was
// done is written whatever is refused.
func TestRefusalsAreBounded(t *testing.T) {
	var to buffer
	l := New(&to, slog.New(slog.DiscardHandler))
	for range 1000 {
		l.Write(record(Refused))
	}
	l.Write(record(OK))
	later := record(Refused)
	later.Time = noon.Add(500 * time.Millisecond)
	for range 100 {
		l.Write(later)
	}
	if got, want := l.Counts(), (Counts{Written: burst + 1 + 5, Suppressed: 1000 - burst + 95}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	lines := strings.Split(strings.TrimSpace(to.String()), "\n")
	var after Record
	if err := json.Unmarshal([]byte(lines[burst]), &after); err != nil || after.Result != OK ||
		after.Suppressed != 1000-burst {
		t.Errorf("%+v, %v", after, err)
	}
}

// A wall clock that jumps back neither opens the gate for a flood nor closes it permanently.
func TestTheClockMayJumpBack(t *testing.T) {
	var b bucket
	for range burst {
		b.take(noon)
	}
	if b.take(noon.Add(-time.Hour)) {
		t.Error("a jump back makes room")
	}
	if !b.take(noon.Add(-time.Hour + time.Second)) {
		t.Error("after a jump back there is never room again")
	}
}

func TestWhatCannotBeWrittenIsCounted(t *testing.T) {
	to := buffer{err: errors.New("disk full")}
	l := New(&to, slog.New(slog.DiscardHandler))
	l.Write(record(OK))
	if got := l.Counts(); got.Failed != 1 || got.Written != 0 {
		t.Errorf("%+v", got)
	}
	to.err = nil
	l.Write(record(OK))
	if got := l.Counts(); got.Written != 1 {
		t.Errorf("%+v", got)
	}
}

// Files are bounded together, each line is whole in one of them, and a restart goes on.
func TestFilesAreSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	written := 0
	for range 2 { // two runs of a process
		f, err := openFile(path, 100, 3)
		if err != nil {
			t.Fatal(err)
		}
		for range 25 {
			if _, err := fmt.Fprintf(f, "line %4d %s\n", written, strings.Repeat("x", 20)); err != nil {
				t.Fatal(err)
			}
			written++
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	next := written
	for _, name := range []string{"", ".1", ".2", ".3"} {
		text, err := os.ReadFile(path + name)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 100 || text[len(text)-1] != '\n' {
			t.Errorf("%s%s has %d bytes", filepath.Base(path), name, len(text))
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for i := range lines {
			next--
			if want := fmt.Sprintf("line %4d ", next); !strings.HasPrefix(lines[len(lines)-1-i], want) {
				t.Fatalf("%s: %q, want %q", name, lines[len(lines)-1-i], want)
			}
		}
	}
	if _, err := os.Stat(path + ".4"); !errors.Is(err, os.ErrNotExist) {
		t.Error("a fifth file is kept")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
