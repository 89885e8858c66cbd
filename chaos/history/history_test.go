package history_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/gram-compute/gram/chaos/history"
)

func TestWhatIsRecordedIsRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "history.jsonl")
	r, err := history.NewRecorder(name)
	if err != nil {
		t.Fatal(err)
	}
	late := history.Operation{Client: 1, Kind: history.Get, Job: "a", Invoked: 7, Returned: 9, Outcome: history.OK,
		Seen: &history.Job{ID: "a", State: history.Running}}
	early := history.Operation{Client: 2, Kind: history.Submit, Job: "a", Invoked: 3, Returned: 4,
		Outcome: history.Unknown, Error: "no answer"}
	r.Add(late)
	r.Add(early)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got, err := history.Read(bytes.NewReader(text))
	if want := []history.Operation{early, late}; err != nil || !reflect.DeepEqual(got, want) ||
		!reflect.DeepEqual(r.Operations(), want) {
		t.Errorf("read %+v, %v; want %+v", got, err, want)
	}
	if _, err := history.Read(bytes.NewReader(text[:len(text)-9])); err == nil {
		t.Error("a line that was cut was read")
	}
	if of := history.OfJobs(got); len(of) != 1 || len(of["a"]) != 2 {
		t.Errorf("operations by job: %v", of)
	}
}

func TestTheClockIsMonotonic(t *testing.T) {
	r, err := history.NewRecorder(filepath.Join(t.TempDir(), "h"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if a, b := r.Now(), r.Now(); a < 0 || b < a || b > time.Hour {
		t.Errorf("%v, then %v", a, b)
	}
}
