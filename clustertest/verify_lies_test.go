package clustertest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/verify"
)

// liar makes up parts of a job, and all that follows from them as an honest worker would.
type liar struct {
	jobs.Phase
	leaf        func(jobs.Leaf) bool
	merge, step bool
}

func (l liar) tell(a jobs.Arrays, lies bool) jobs.Arrays {
	return lyingPhase{nil, func() bool { return lies }}.told(a)
}

func (l liar) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays,
	ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	partial, carried, err := l.Phase.Map(ctx, state, leaf, carry, ops)
	return l.tell(partial, l.leaf != nil && l.leaf(leaf)), carried, err
}

func (l liar) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	merged, err := l.Phase.Merge(left, right)
	return l.tell(merged, l.merge), err
}

func (l liar) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	next, err := l.Phase.Step(ctx, state, round)
	next.State = l.tell(next.State, l.step)
	return next, err
}

// liarOf is a kind that is told by a liar.
func liarOf(t *testing.T, kind string, l liar) jobs.Kind {
	t.Helper()
	k, err := all.Lookup(kind)
	if err != nil {
		t.Fatal(err)
	}
	return withPhases(k, func(p jobs.Phase) jobs.Phase {
		l.Phase = p
		return l
	})
}

// means is a job of two rounds, whose leaves are many where its shards are small.
func means(shardBytes int) provedJob {
	return provedJob{"NearestMean", `"format":"csv","label":1`, "", `{}`, shardBytes, false}
}

// Of a run in which 2 % of the leaves were made up, and all above them follows, a sample of 459 finds one in at least
// 99 of 100 draws.
func TestMadeUpLeavesAreFound(t *testing.T) {
	t.Parallel()
	store := provedStore(t)
	rows := strings.Join(cutRows(2000), "")
	if _, err := store.Put(t.Context(), "in/rows.csv", []byte(rows)); err != nil {
		t.Fatal(err)
	}
	proveJobs(t, store, []provedJob{means(60)}, proof.States, liarOf(t, "NearestMean", liar{
		leaf: func(l jobs.Leaf) bool { return l.Index%50 == 7 }}))
	draws, found := 100, 0
	if testing.Short() {
		draws = 20 // make check-verify makes all
	}
	for draw := range draws {
		cfg := checkOf(store, means(60).id(proof.States))
		cfg.All, cfg.Rounds, cfg.Draw = false, 0, uint64(draw)
		r := checked(t, cfg)
		if r.Leaves.Of < 1000 {
			t.Fatalf("%d leaves", r.Leaves.Of)
		}
		if r.Verdict == verify.False {
			found++
			if f := r.False[0]; f.Of != verify.OfLeaf || f.Node == nil || f.Node.Index%50 != 7 ||
				!strings.Contains(f.Says, fmt.Sprintf("leaf %d (bytes ", f.Node.Index)) {
				t.Fatalf("draw %d blames %+v", draw, f)
			}
		}
	}
	t.Logf("found in %d of %d draws", found, draws)
	if 100*found < 99*draws {
		t.Errorf("found in %d of %d draws", found, draws)
	}
}

// The first node that is false is named: a leaf and not the merges above it, a merge, a step. An honest rest of the
// proof does not hide it, whatever is kept.
func TestTheFirstFalseNodeIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		liar liar
		says string
	}{
		"leaf":  {liar{leaf: func(l jobs.Leaf) bool { return l.Index == 3 || l.Index == 5 }}, "tree 0, leaf 3 (bytes "},
		"merge": {liar{merge: true}, "tree 0, the merge of leaves 0 to 1:"},
		"step":  {liar{step: true}, "the step:"},
	} {
		for _, kept := range []string{proof.Digests, proof.Full} {
			t.Run(name+"/"+kept, func(t *testing.T) {
				t.Parallel()
				store := provedStore(t)
				proveJobs(t, store, []provedJob{means(1000)}, kept, liarOf(t, "NearestMean", c.liar))
				r := checked(t, checkOf(store, means(1000).id(kept)))
				if r.Verdict != verify.False || len(r.False) == 0 || !strings.HasPrefix(r.False[0].Says, "Round 1 ") ||
					!strings.Contains(r.False[0].Says, c.says) || r.False[0].Repeated == nil {
					t.Errorf("%+v", r)
				}
				if kept != proof.Full || name == "leaf" {
					return
				}
				cfg := checkOf(store, means(1000).id(kept)) // without any leaf
				cfg.All, cfg.Sample = false, 0
				if r := checked(t, cfg); r.Verdict != verify.False || !strings.Contains(r.False[0].Says, c.says) {
					t.Errorf("from the partials: %+v", r)
				}
			})
		}
	}
}

// What is missing is named, and is not called false: neither the leaves that would read it nor what they carry.
func TestMissingIsNotFalse(t *testing.T) {
	t.Parallel()
	store := provedStore(t)
	for i := range 4 {
		if _, err := store.Put(t.Context(), fmt.Sprintf("in/many/%d.csv", i),
			[]byte(strings.Join(cutRows(100), ""))); err != nil {
			t.Fatal(err)
		}
	}
	p := provedJobs[1] // KMeans carries
	p.folder = true
	proveJobs(t, store, []provedJob{p}, proof.Full)
	folder := "models/" + p.id(proof.Full) + "/"
	for _, key := range []string{"in/many/2.csv", folder + "provenance.json", folder + proof.ManifestFile,
		folder + proof.SpecFile, folder + proof.InputFile, folder + proof.PlanFile, folder + proof.RoundFile(2),
		folder + "model.safetensors", folder + "report.json",
		firstBelow(t, store, folder+proof.StatesFolder), firstBelow(t, store, folder+proof.PartialsFolder)} {
		data := read(t, store, key)
		if err := store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		for _, whole := range []bool{true, false} {
			cfg := checkOf(store, p.id(proof.Full))
			if cfg.All = whole; !whole {
				cfg.Sample = 20
			}
			r := checked(t, cfg)
			name := strings.TrimPrefix(strings.TrimPrefix(key, folder), "in/many/")
			if r.Verdict != verify.Incomplete || len(r.Missing) == 0 || r.Missing[0].File != name {
				t.Errorf("without %s: %s, false %+v, missing %+v", key, r.Verdict, r.False, r.Missing)
			}
			if strings.HasPrefix(key, "in/") && (whole && r.Leaves.Done == 0 || r.Leaves.Done == r.Leaves.Of) {
				t.Errorf("without %s: %+v leaves were repeated", key, r.Leaves)
			}
		}
		if !strings.HasPrefix(key, "in/") {
			if _, err := store.Put(t.Context(), key, data); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if r := checkAfterPut(t, store, key, data, p.id(proof.Full)); r.Verdict != verify.Verified &&
			!strings.Contains(r.Missing[0].Says, "is not the one that was planned") {
			t.Errorf("with %s again: %+v", key, r)
		}
	}
}

// checkAfterPut checks a job when an object of its input was put again.
func checkAfterPut(t *testing.T, store objstore.Store, key string, data []byte, id string) *verify.Result {
	t.Helper()
	if _, err := store.Put(t.Context(), key, data); err != nil {
		t.Fatal(err)
	}
	return checked(t, checkOf(store, id))
}

// firstBelow is the first key of a folder.
func firstBelow(t *testing.T, store objstore.Store, prefix string) string {
	t.Helper()
	for info, err := range store.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		return info.Key
	}
	t.Fatalf("nothing is below %s", prefix)
	return ""
}
