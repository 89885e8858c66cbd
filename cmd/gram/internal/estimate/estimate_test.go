package estimate

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/report"
)

// writeLines writes files of lines of 4 to 6 bytes.
func writeLines(t *testing.T, folder string, lines int, names ...string) {
	t.Helper()
	for _, name := range names {
		var text bytes.Buffer
		for i := range lines {
			fmt.Fprintf(&text, "%d\t%d\n", i%2, i%1000)
		}
		data := text.Bytes()
		if filepath.Ext(name) == ".gz" {
			var packed bytes.Buffer
			zip := gzip.NewWriter(&packed)
			if _, err := zip.Write(data); err != nil {
				t.Fatal(err)
			}
			if err := zip.Close(); err != nil {
				t.Fatal(err)
			}
			data = packed.Bytes()
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// specOf is the spec of a job over the files of a folder.
func specOf(t *testing.T, folder, more string) protocol.JobSpec {
	t.Helper()
	spec, err := protocol.ParseSpec([]byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"NaiveBayes","spec":{"input":
		{"uri":"file://%s/","format":"tsv","label":1,"text":2%s},"output":{"uri":"s3://models/x/"}}}`, folder, more)))
	if err == nil {
		spec, err = all.Validate(spec)
	}
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// Records are counted where all was read, and within a percent or so where a head was.
func TestRecordsAreEstimated(t *testing.T) {
	for _, c := range []struct {
		lines   int
		names   []string
		exact   bool
		percent float64
	}{
		{1000, []string{"a"}, true, 0}, {1000, []string{"a", "b.gz", "c"}, true, 0}, {600_000, []string{"a"}, false, 1},
		{300_000, []string{"a", "b"}, false, 1},
	} {
		folder := t.TempDir()
		writeLines(t, folder, c.lines, c.names...)
		job, err := Of(t.Context(), specOf(t, folder, ""))
		if err != nil {
			t.Fatal(err)
		}
		got, want := job.Inputs[0].Records, float64(c.lines*len(c.names))
		if got.Exact != c.exact || math.Abs(float64(got.Count)-want) > want*c.percent/100 {
			t.Errorf("%d lines in %v: %+v", c.lines, c.names, got)
		}
		if job.Output.Writable != Unchecked {
			t.Errorf("%+v", job.Output)
		}
	}
}

func TestWhyThereIsOneShard(t *testing.T) {
	for _, c := range []struct {
		in   Input
		want string
	}{
		{Input{Objects: 1, Bytes: 10, ShardBytes: 64}, bySize}, {Input{Objects: 2, Bytes: 10, ShardBytes: 64}, bySize},
		{Input{Objects: 1, Bytes: 10, ShardBytes: 64, GzipObjects: 1}, byGzip},
		{Input{Objects: 2, Bytes: 10, ShardBytes: 64, GzipObjects: 1}, bySize},
		{Input{Objects: 1, Bytes: 10, ShardBytes: 4, GzipObjects: 1}, byGzip},
		{Input{Objects: 1, Bytes: 10, ShardBytes: 4}, byFormat},
	} {
		if got := c.in.whyOne(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.in, got, c.want)
		}
	}
}

// A pass takes the requests that are estimated, one less where a piece happens to end with a record.
func TestAPassIsWhatReadingTakes(t *testing.T) {
	for _, name := range []string{"a", "a.gz"} {
		folder := t.TempDir()
		writeLines(t, folder, 2000, name)
		spec := specOf(t, folder, `,"shard_bytes":2048,"verify":"off"`)
		l, view, err := list(t.Context(), jobs.Input, spec.Spec.Input)
		if err != nil {
			t.Fatal(err)
		}
		source, err := dataset.NewSource(l.store, dataset.Prefix(l.name), l.Manifest, l.Spec)
		if err != nil {
			t.Fatal(err)
		}
		before := l.store.requests()
		for _, s := range l.Shards {
			for _, err := range source.Blocks(t.Context(), s) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		after := l.store.requests()
		if gets, bytes := after.Gets-before.Gets, after.Bytes-before.Bytes; gets > view.Pass.Gets ||
			gets < view.Pass.Gets-1 || bytes < view.Pass.Bytes || view.Shards < 2 && name == "a" {
			t.Errorf("%s: %d GETs of %d bytes, estimated %+v", name, gets, bytes, view.Pass)
		}
	}
}

// A job of 4 shards ran on 2 workers with a slot each: round 1 mapped 4 tasks of 1 second, of which the last stalled to
// 9 and was in vain, since a copy ended first at 5; then it merged until 7. Nothing is known of round 2, of a second.
const pastReport = `{"schema_version":1,"job":"j","kind":"NaiveBayes","model_sha256":"","seconds":9,
"rounds":[{"round":1,"phase":"count","leaves":4,"seconds":7},{"round":2,"phase":"sum","leaves":1,"seconds":1}],
"metrics":[],"integrity":[],"timeline":{"begins":"","workers":[{"name":"a"},{"name":"b"}],
"works":["","plan","map","merge","step","report","several"],"outcomes":["","committed","in vain","failed","expired"],
"marks":[[0,0,0,1,1,0,1,1,0],[0,0,1,3,2,1,2,1,0],[1,0,1,2,2,1,1,1,0],[1,0,2,6,2,1,1,2,0],[0,0,5,6,2,1,1,1,1],
[0,0,6,8,3,1,1,1,0],[1,0,3,4,2,1,1,3,0],[1,0,8,9,6,2,3,1,0]],"events":[]}}`

func TestATimeByHand(t *testing.T) {
	p, err := ReadPast([]byte(pastReport))
	if err != nil {
		t.Fatal(err)
	}
	rounds, leftOut, err := p.rounds()
	if err != nil || leftOut != 3 || rounds[0].tasks != 4 || rounds[0].cut != 1 ||
		fmt.Sprint(rounds[0].seconds) != "[1 1 1 4 1]" || rounds[0].rest() != 2 || rounds[0].atATime() != 1.8 ||
		len(rounds[1].seconds) != 0 {
		t.Errorf("%+v, %d left out, %v", rounds, leftOut, err)
	}
	job := &Job{Inputs: []Input{{Shards: 8}}}
	got, err := job.TimeOf([]*Past{p}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	// As recorded: 1 second of planning, 2 of merging, 1 of round 2. 8 tasks on 2 slots take 4 seconds at least, and 32
	// at most would on one.
	if got.Workers != 2 || got.SlotsPerWorker != 1 || got.AsRecorded != 4 || got.Rounds[0].Tasks != 8 ||
		got.Stalls != (Stalls{Tasks: 1, Known: 5, Copies: 4, Widest: 8}) || got.AtLeast != 1 || got.Scaled != 4 {
		t.Errorf("%+v", got)
	}
	if q := got.WithoutCopies; q.P50 < 8 || q.P99 > 20 || q.P90 < q.P50 || got.Copies == nil || got.Copies.P90 > q.P90 {
		t.Errorf("without %+v, with %+v", q, got.Copies)
	}
	job.Busy.MaxWorkers = 3
	if most, err := job.TimeOf([]*Past{p}, 9, 1); err != nil || most.Workers != 3 {
		t.Errorf("%+v, %v", most, err)
	}
	if _, err := (&Job{Inputs: []Input{{Shards: 1 << 21}}}).TimeOf([]*Past{p}, 1, 1); err == nil {
		t.Error("a round of 2^21 tasks was simulated")
	}
	one, err := job.TimeOf([]*Past{p}, 1, 8)
	if err != nil || one.Copies != nil || one.WithoutCopies.P99 != 8 { // 4 and a stall, with probability 1-0.8^8
		t.Errorf("%+v, %v", one, err)
	}
}

// A report that says how many slots its workers had is believed; of several jobs the forecast spans all.
func TestATimeFromSlotsAndSeveralJobs(t *testing.T) {
	told := strings.Replace(pastReport, `{"name":"a"},{"name":"b"}`, `{"name":"a","slots":1},{"name":"b","slots":2}`, 1)
	p, err := ReadPast([]byte(told))
	if err != nil {
		t.Fatal(err)
	}
	job := &Job{Inputs: []Input{{Shards: 4}}}
	alone, err := job.TimeOf([]*Past{p}, 0, 0)
	if err != nil || alone.FromSlots != 3 || alone.Slots != 3 || alone.Guessed || alone.SlotsPerWorker != 2 {
		t.Fatalf("%+v, %v", alone, err)
	}
	if given, err := job.TimeOf([]*Past{p}, 0, 4); err != nil || given.Slots != 8 {
		t.Errorf("%+v, %v", given, err)
	}
	slow, err := ReadPast([]byte(strings.Replace(told, `"seconds":9,`, `"seconds":109,`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	both, err := job.TimeOf([]*Past{p, slow}, 0, 0)
	if err != nil || len(both.Reports) != 2 || both.Reports[1].Job != "j" || both.Reports[1].Seconds != 109 ||
		both.FromSeconds != 9 ||
		both.Copies.P90 < 100 || both.Copies.P50 < alone.Copies.P50 {
		t.Errorf("%+v, %v", both, err)
	}
}

// On one worker four attempts overlapped by waiting, where two were at work: each took half of its time.
func TestTimesThatOverlap(t *testing.T) {
	rounds := []pastRound{{}, {}}
	rounds[0].take(report.Mark{From: 0, To: 10, Tasks: 5}, true, false)
	rounds[0].take(report.Mark{From: 0, To: 10, Tasks: 10}, true, false)
	for range 4 {
		rounds[1].take(report.Mark{From: 1, To: 3, Tasks: 2}, true, false)
	}
	if got := slotsOf(rounds, 1); got != 4 {
		t.Errorf("%d slots", got)
	}
	if got := slotsOf(rounds[:1], 2); got != 1 {
		t.Errorf("%d slots each of two", got)
	}
	if err := rounds[1].settle(2); err != nil || rounds[1].known.Quantile(0) != 0.5 ||
		rounds[1].known.Quantile(1) != 0.5 {
		t.Errorf("%+v, %v", rounds[1], err)
	}
	if err := rounds[0].settle(2); err != nil || rounds[0].known.Quantile(1) != 2 {
		t.Errorf("%+v, %v", rounds[0], err)
	}
}

func TestReportsWithoutTimes(t *testing.T) {
	for _, text := range []string{``, `[]`, `{}`, `{"job":"j","kind":"K","rounds":[]}`,
		`{"timeline":{"marks":[[1]]}}`} {
		if _, err := ReadPast([]byte(text)); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}
