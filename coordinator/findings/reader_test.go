package findings

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
)

// put stores what a round found, under the digest of other bytes if told.
func put(t *testing.T, store objstore.Store, round uint32, text, digestOf string) Wanted {
	t.Helper()
	sum := sha256.Sum256([]byte(digestOf))
	if _, err := store.Put(t.Context(), protocol.ObjectKey("j", round, sum), []byte(text)); err != nil {
		t.Fatal(err)
	}
	return Wanted{"j", state.RoundRecord{Number: round, Metrics: state.Ref{SHA256: sum, Size: int64(len(text))}}}
}

func TestRead(t *testing.T) {
	store := mem.New("m")
	r := New(store)
	good := `[{"name":"a","value":1}]`
	gone := put(t, store, 4, `[{"name":"gone","value":1}]`, `[{"name":"gone","value":1}]`)
	if err := store.Delete(t.Context(), protocol.ObjectKey("j", 4, gone.Round.Metrics.SHA256)); err != nil {
		t.Fatal(err)
	}
	big := `[{"name":"big","value":"` + strings.Repeat("x", maxObject) + `"}]`
	wanted := []Wanted{put(t, store, 1, good, good), {"j", state.RoundRecord{Number: 2}},
		put(t, store, 3, `[]`, `[1]`), gone, put(t, store, 5, `{`, `{`), put(t, store, 6, big, big), put(t, store, 7, `[ ]`, `[ ]`)}
	found := r.Read(t.Context(), wanted, 5)
	for i, want := range []error{nil, nil, errOtherBytes, objstore.ErrNotFound, nil, objstore.ErrTooLarge, ErrNotRead} {
		if err := found[i].Err; want != nil && !errors.Is(err, want) || want == nil && err != nil && i != 4 {
			t.Errorf("%d: %v, want %v", i, err, want)
		}
	}
	if found[4].Err == nil || len(found[0].Metrics) != 1 || found[0].Metrics[0].Name != "a" {
		t.Errorf("%v", found)
	}
	if err := store.Delete(t.Context(), protocol.ObjectKey("j", 1, wanted[0].Round.Metrics.SHA256)); err != nil {
		t.Fatal(err)
	}
	if again := r.Read(t.Context(), wanted[:1], 0); again[0].Err != nil || len(again[0].Metrics) != 1 {
		t.Errorf("what was read is not kept: %v", again)
	}
}

// What is kept stays within its bound, and what was asked for last stays.
func TestKept(t *testing.T) {
	k := newKept(10 * (2*100 + entryBytes))
	sum := func(i int) [32]byte { return sha256.Sum256(fmt.Append(nil, i)) }
	for i := range 100 {
		k.put(sum(i), nil, 100)
		k.put(sum(i), nil, 100)
		if _, ok := k.get(sum(0)); !ok {
			t.Fatalf("the one that is asked for each time is gone after %d", i)
		}
		if k.bytes > k.most || len(k.byDigest) != k.order.Len() || k.bytes != k.order.Len()*(2*100+entryBytes) {
			t.Fatalf("%d bytes of %d, %d and %d entries", k.bytes, k.most, len(k.byDigest), k.order.Len())
		}
	}
	if _, ok := k.get(sum(50)); ok || k.order.Len() != 10 {
		t.Errorf("%d entries; an old one is kept: %t", k.order.Len(), ok)
	}
	if k.put(sum(1000), nil, 10*k.most); k.order.Len() != 0 || k.bytes != 0 {
		t.Errorf("one that is larger than all is kept: %d bytes", k.bytes)
	}
}

func TestHeadlines(t *testing.T) {
	names := func(metrics ...jobs.Metric) string {
		var all []string
		for _, h := range Headlines(metrics) {
			all = append(all, fmt.Sprint(h.GetName(), "=", h.GetValue()))
		}
		return strings.Join(all, " ")
	}
	m := func(name, value string) jobs.Metric { return jobs.Metric{Name: name, Value: []byte(value)} }
	for want, got := range map[string]string{
		"evaluation.accuracy=0.5 evaluation.macro.f1=0.25 kmeans.rounds=3": names(m("kmeans.rounds", "3"), m("x", "1"),
			m("evaluation", `{"macro":{"f1":0.25},"accuracy":0.5,"labels":[{"accuracy":1}]}`),
			m("kmeans.stop", `"tol"`), m("lloyd.001.kmeans", "1")),
		"x=1 y.z=2": names(m("x", "1"), m("y", `{"z":2}`), m("restart.0.x", "3"), m("w", `"word"`)),
		"":          names(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The headlines of a job come of its last two rounds that found something.
func TestLast(t *testing.T) {
	job := &state.Job{ID: "j"}
	for i := range uint32(5) {
		r := state.RoundRecord{Number: i + 1}
		if i != 3 {
			r.Metrics.Size = 1
		}
		job.Rounds.Finished = append(job.Rounds.Finished, r)
	}
	if w := Last(job); len(w) != 2 || w[0].Round.Number != 3 || w[1].Round.Number != 5 || w[0].Job != "j" {
		t.Errorf("%v", w)
	}
}

// One call reads maxAnswer bytes, and no more of an object than the round said.
func TestReadIsBounded(t *testing.T) {
	store := mem.New("m")
	r := New(store)
	text := `[{"name":"big","value":"` + strings.Repeat("x", maxObject-100) + `"}]`
	wanted := slices.Repeat([]Wanted{put(t, store, 1, text, text)}, 2*maxAnswer/maxObject)
	read := 0
	for _, f := range r.Read(t.Context(), wanted, len(wanted)) {
		switch {
		case f.Err == nil:
			read++
		case !errors.Is(f.Err, ErrNotRead):
			t.Error(f.Err)
		}
	}
	if read < maxAnswer/maxObject || read > maxAnswer/maxObject+1 {
		t.Errorf("%d objects were read", read)
	}
	wanted[0].Round.Metrics.Size = 1
	if found := r.Read(t.Context(), wanted[:1], 1); !errors.Is(found[0].Err, objstore.ErrTooLarge) {
		t.Errorf("more than the round said: %v", found[0].Err)
	}
}

// Of a number that two rounds found the last counts, as on the report page.
func TestHeadlinesOfTheLastRound(t *testing.T) {
	for _, name := range []string{"kmeans.distortion", "other"} {
		got := Headlines([]jobs.Metric{{Name: name, Value: []byte("5")}, {Name: name, Value: []byte("4")}})
		if len(got) != 1 || got[0].GetValue() != 4 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
