package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// desk is a job log over a store that can be made to stick.
func desk() (*jobLogs, *stuckStore) {
	store := &stuckStore{Store: mem.New("m")}
	w := &worker{id: "0123456789abcdef", store: store, cfg: Config{Name: "w", Logger: slog.New(slog.DiscardHandler)}}
	return newJobLogs(w), store
}

func task(job string, round int) *pb.Task {
	return &pb.Task{Id: &pb.TaskID{JobId: job, Round: uint32(round), Kind: pb.TaskKind_TASK_KIND_NODE}}
}

// stored reads a job's lines in order of segment.
func stored(t *testing.T, store objstore.Store, job string) (lines []logLine, segments int) {
	t.Helper()
	for info, err := range store.List(t.Context(), protocol.LogPrefix(job)) {
		if err != nil {
			t.Fatal(err)
		}
		body, _, err := store.Get(t.Context(), info.Key, objstore.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		body.Close()
		segments++
		for row := range strings.Lines(string(text)) {
			var line logLine
			if err := json.Unmarshal([]byte(row), &line); err != nil {
				t.Fatalf("%q: %v", row, err)
			}
			lines = append(lines, line)
		}
	}
	return lines, segments
}

func TestFlushStoresEachJobsLines(t *testing.T) {
	l, store := desk()
	l.leased(task("a", 1))
	l.computed(task("a", 1), 1500*time.Millisecond)
	l.failed(task("b", 2), &pb.Failure{Code: "PANIC", Message: "bad \xff byte"})
	l.flush(t.Context())
	l.flush(t.Context()) // nothing is left
	l.committed(&pb.TaskResult{Id: task("a", 1).GetId()}, pb.Verdict_VERDICT_DUPLICATE)
	l.flush(t.Context())
	lines, segments := stored(t, store, "a")
	var events []string
	for _, line := range lines {
		events = append(events, line.Event+line.Verdict)
		if line.Worker != "w" || line.Task != "node" || line.Round != 1 || line.Level != "info" {
			t.Errorf("%+v", line)
		}
	}
	if segments != 2 || !slices.Equal(events, []string{"leased", "computed", "reportedduplicate"}) ||
		lines[1].Seconds != 1.5 {
		t.Errorf("%d segments, %v", segments, lines)
	}
	if lines, _ := stored(t, store, "b"); len(lines) != 1 || lines[0].Level != "error" || lines[0].Code != "PANIC" ||
		lines[0].Message != "bad \ufffd byte" {
		t.Errorf("b: %+v", lines)
	}
}

func TestLinesWaitForTheStore(t *testing.T) {
	l, store := desk()
	broken, cancel := context.WithCancel(t.Context())
	cancel()
	l.leased(task("a", 1))
	store.stick()
	l.flush(broken)
	l.leased(task("a", 2))
	l.flush(broken)
	l.leased(task("a", 3))
	store.mu.Lock()
	store.stuck = false
	store.mu.Unlock()
	l.flush(t.Context())
	lines, segments := stored(t, store, "a")
	if len(lines) != 3 || segments != 2 || lines[0].Round != 1 || lines[2].Round != 3 {
		t.Errorf("%d segments: %+v", segments, lines)
	}
}

// A buffer is bounded; what it has no room for is counted, whether it came before
// or after a flush that failed.
func TestLostLinesAreCounted(t *testing.T) {
	l, store := desk()
	broken, cancel := context.WithCancel(t.Context())
	cancel()
	store.stick()
	written := 0
	for range 2 {
		for range 3000 {
			written++
			l.failed(task("a", written), &pb.Failure{Message: strings.Repeat("x", 50)})
		}
		l.flush(broken)
	}
	store.mu.Lock()
	store.stuck = false
	store.mu.Unlock()
	l.flush(t.Context())
	lines, _ := stored(t, store, "a")
	lost, kept := 0, 0
	for i, line := range lines {
		if line.Event == "lost" {
			lost += line.Lines
			continue
		}
		if kept++; i == 0 && line.Round != 1 {
			t.Errorf("begins with %+v", line)
		}
	}
	if kept+lost != written || lost == 0 {
		t.Errorf("%d written, %d stored, %d said to be lost", written, kept, lost)
	}
	if l.buffers["a"] != nil {
		t.Error("something is left")
	}
}

func TestFlushNowDoesNotWaitLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := desk()
		store.stick()
		l.leased(task("a", 1))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		if l.flushNow(ended, atTheEnd); time.Since(began) != flushLimit {
			t.Errorf("took %v", time.Since(began))
		}
		if _, waits := l.sealed["a"]; !waits {
			t.Error("the lines are gone")
		}
	})
}

// forgetful stores what it is given, and says that it did not.
type forgetful struct{ objstore.Store }

func (f forgetful) Put(ctx context.Context, key string, data []byte) (objstore.Info, error) {
	if _, err := f.Store.Put(ctx, key, data); err != nil {
		return objstore.Info{}, err
	}
	return objstore.Info{}, fmt.Errorf("%w: the answer was lost", objstore.ErrUnavailable)
}

// A store whose answer was lost has the lines once all the same, with those that came later.
func TestLostAnswersDoubleNoLines(t *testing.T) {
	l, store := desk()
	l.w.store = forgetful{store}
	for round := range 3 {
		l.leased(task("a", round))
		l.flush(t.Context())
	}
	l.w.store = store
	l.flush(t.Context())
	lines, _ := stored(t, store, "a")
	for i, line := range lines {
		if len(lines) != 3 || line.Round != uint32(i) {
			t.Fatalf("%+v", lines)
		}
	}
	if len(lines) != 3 || len(l.sealed) != 0 || len(l.buffers) != 0 {
		t.Errorf("%d lines stored; %d and %d segments are left", len(lines), len(l.sealed), len(l.buffers))
	}
}

func TestSegmentsOfAWorkerAreInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := desk()
		for round := range 20 { // all in the same millisecond
			l.leased(task("a", round))
			l.flush(t.Context())
		}
		lines, segments := stored(t, store, "a")
		for i, line := range lines {
			if line.Round != uint32(i) {
				t.Fatal(fmt.Sprint("out of order: ", lines))
			}
		}
		if segments != 20 {
			t.Errorf("%d segments", segments)
		}
	})
}

// A job that runs for a month, and logs all the time, leaves a bounded number of segments; each line is
// in one of them or counted, and what the worker says last is stored too.
func TestSegmentsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := desk()
		written := 0
		for day := range 31 {
			pause := time.Second
			if day > 0 {
				pause = 20 * time.Minute
			}
			for range 24 * time.Hour / pause {
				written++
				l.leased(task("a", written))
				if written%5 == 0 {
					l.flush(t.Context()) // a failure wants to be told at once
				}
				l.store(t.Context(), whenDue)
				sleep(t.Context(), pause)
			}
		}
		written++
		l.leased(task("a", written))
		l.flushNow(t.Context(), atTheEnd)
		lines, segments := stored(t, store, "a")
		told := 0
		for _, line := range lines {
			if told++; line.Event == "lost" {
				told += line.Lines - 1
			}
		}
		if segments > maxSegments || told != written || lines[len(lines)-1].Round != uint32(written) {
			t.Errorf("%d segments tell of %d of %d lines, the last %+v", segments, told, written, lines[len(lines)-1])
		}
	})
}
