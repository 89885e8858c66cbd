package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gram-compute/gram/chaos/checker"
	"github.com/gram-compute/gram/chaos/history"
	"github.com/gram-compute/gram/chaos/nemesis"
	"github.com/gram-compute/gram/chaos/storefault"
	"github.com/gram-compute/gram/internal/seeded"
)

// TestSmoke is half a minute of chaos on loopback: whether everything is wired, and a first look for bugs.
// `make chaos` is the real thing.
func TestSmoke(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	versitygw := filepath.Join("..", "bin", "versitygw")
	if _, err := os.Stat(versitygw); err != nil {
		if os.Getenv("REQUIRE_VERSITYGW") != "" {
			t.Fatalf("REQUIRE_VERSITYGW is set, and `make tools` was not run: %v", err)
		}
		t.Skip("`make tools` builds the S3 server that this needs")
	}
	gram := filepath.Join(t.TempDir(), "gram")
	build := exec.Command("go", "build", "-tags", "faults", "-o", gram, "github.com/gram-compute/gram/cmd/gram")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build gram: %v\n%s", err, out)
	}
	o, err := once(t.Context(), settings{
		minutes: 0.5, seed: smokeSeed, loopback: true, faults: true, aim: smoke,
		gram: gram, versitygw: versitygw,
		testdata: filepath.Join("..", "testdata"), folder: filepath.Join(t.TempDir(), "run"),
		workers: 3, clients: 4, active: 6, keep: leastKeep,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range o.results {
		// Half a minute may pass without a tick of a schedule.
		if !r.Holds() && (r.ID != "I5" || len(r.Found) > 0 || r.Err != nil) {
			t.Errorf("%s, %s: %d facts checked, found %v, %v", r.ID, r.Says, r.Checked, r.Found, r.Err)
		}
	}
	f := o.facts
	if f.Faults < 5 || f.Requests == 0 || f.Jobs["JOB_STATE_SUCCEEDED"] < 10 || f.Operations[history.OK] < 200 {
		t.Errorf("too little happened: %+v", f)
	}
	if checker.Violated(o.results) && !t.Failed() {
		t.Log("no tick was due")
	}
}

// smoke are quick faults of every class: processes, the store, objects, and workers that lie, and strangers.
var smoke = func() aim {
	a := everything()
	a.kinds = []nemesis.Kind{nemesis.KillLeader, nemesis.KillFollower, nemesis.KillWorker, nemesis.ReplaceInput,
		nemesis.FlipObject, nemesis.LoseObject,
		nemesis.Rogue, nemesis.LyingWorker, nemesis.StoreKind(storefault.LostReply),
		nemesis.StoreKind(storefault.Flipped), nemesis.StoreKind(storefault.Denied)}
	return a
}()

// smokeSeed draws nine of them, of eight kinds, for half a minute.
const smokeSeed = 308

// TestEveryBugIsHunted: a bug that is seeded and not sought would never be missed.
func TestEveryBugIsHunted(t *testing.T) {
	var sought []seeded.Bug
	for _, b := range bugs() {
		sought = append(sought, b.name)
		if len(b.kinds) == 0 || b.minutes <= 0 || b.bound <= 0 {
			t.Errorf("%s: %+v", b.name, b)
		}
	}
	want := slices.DeleteFunc(seeded.All(), func(b seeded.Bug) bool { return slices.Contains(seeded.OfNumbers(), b) })
	if !slices.Equal(sought, want) {
		t.Errorf("sought are %v, seeded %v", sought, want)
	}
}
