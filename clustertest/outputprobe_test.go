package clustertest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/faulty"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// withOutput is a tiny spec whose outputs go elsewhere.
func withOutput(uri string) string {
	return strings.Replace(tinySpec(""), `"output":{}`, fmt.Sprintf(`"output":{"uri":%q}`, uri), 1)
}

// A place that cannot be written to fails the job before its first round, with a text that names the place. A place
// that takes outputs is left without a trace of the try; one that keeps whatever it took will do.
func TestTheOutputPlaceIsTriedFirst(t *testing.T) {
	own := mem.New("m")
	tinyCorpus(t, own)
	places := map[string]*faulty.Store{
		"s3://good": faulty.Wrap(mem.New("good")),
		"s3://bucket": faulty.Wrap(mem.New("bucket"),
			faulty.Rule{Op: faulty.Put, Err: fmt.Errorf("%w: no such bucket", objstore.ErrInvalidURI)}),
		"s3://denied":  faulty.Wrap(mem.New("denied"), faulty.Rule{Op: faulty.Put, Err: objstore.ErrDenied}),
		"s3://keeping": faulty.Wrap(mem.New("keeping"), faulty.Rule{Op: faulty.Delete, Err: objstore.ErrDenied}),
	}
	stores := func(_ context.Context, uri string) (objstore.Store, error) {
		if uri == "s3://nowhere" {
			return nil, fmt.Errorf("%w: not below a root", objstore.ErrInvalidURI)
		}
		if place, ok := places[uri]; ok {
			return place, nil
		}
		return own, nil
	}
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 2*time.Second, stores)
	cluster.Work(t, "w1", 1, kernelops.Generic())
	for place, want := range map[string]string{"bucket": "no such bucket", "denied": "s3://denied",
		"nowhere": "not below a root"} {
		cluster.Submit(t, place, withOutput("s3://"+place+"/"))
		job := cluster.Wait(t, place)
		f := job.GetFailure()
		if len(job.GetRounds()) != 0 || f.GetTask() != "plan" || f.GetCode() != "STORE_DENIED" ||
			!strings.Contains(f.GetMessage(), want) {
			t.Errorf("%s: %d rounds, failed at %s with %s: %s", place, len(job.GetRounds()), f.GetTask(), f.GetCode(),
				f.GetMessage())
		}
	}
	for place, left := range map[string]int{"good": 0, "keeping": 1} {
		cluster.Submit(t, place, withOutput("s3://"+place+"/"))
		if job := cluster.Wait(t, place); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
			t.Fatalf("%s: %v", place, job.GetFailure())
		}
		probes := 0
		for info, err := range places["s3://"+place].List(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(info.Key, "gram-probe") {
				probes++
			}
		}
		if probes != left {
			t.Errorf("%s: %d objects of the try are left, want %d", place, probes, left)
		}
	}
}

// The same for a person: a folder that is a file, and one in which nobody can write.
func TestRunTriesItsOutputPlaceFirst(t *testing.T) {
	clustertest.Binary(t) // built before the clock runs
	home := t.TempDir()
	var rows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "%d,%d,%d\n", i%7, i%5, i%2)
	}
	file := filepath.Join(home, "data.csv")
	spec := filepath.Join(home, "job.yaml")
	text := "apiVersion: v1\nkind: GaussianNaiveBayes\nmetadata: {name: probe}\nspec:\n  input: {uri: data.csv, format: csv, label: 3}\n  repro: {seed: 7}\n"
	for name, content := range map[string]string{file: rows.String(), spec: text} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, out := range []string{file, filepath.Join(file, "below"), "/proc"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, stderr, code := clustertest.Run(ctx, t, home, nil, nil, "run", "-f", spec, "--out", out)
		cancel()
		if code == 0 || !strings.Contains(stderr, out) || strings.Contains(stderr, "round 1") {
			t.Errorf("--out %s: exit code %d:\n%s", out, code, stderr)
		}
	}
	good := filepath.Join(home, "out")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, stderr, code := clustertest.Run(ctx, t, home, nil, nil, "run", "-f", spec, "--out", good); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, stderr)
	}
	if left, err := filepath.Glob(filepath.Join(good, "*", ".gram-probe*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
