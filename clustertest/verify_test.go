package clustertest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/verify"
)

// provedJob is a job to check: of a kind, over rows or texts.
type provedJob struct {
	kind, input, more, params string
	shardBytes                int
	folder                    bool // rows of several objects
}

// provedJobs are of kinds with one tree and several, with carries, with several phases, with queries, and with files of
// leaves and of steps. A job of kind Predict begins from the model of the job before it.
var provedJobs = []provedJob{
	{"NaiveBayes", `"format":"tsv","label":1,"text":2`, "", `{}`, 1000, false},
	{"KMeans", `"format":"csv","label":1`, "", `{"k":3,"init":"kmeans++"}`, 2000, false},
	{"NearestMean", `"format":"csv","label":1,"split":{"test":0.2}`, "", `{"pairs":true}`, 2000, false},
	{"Predict", `"format":"csv","label":1`, `"model":"mem://m/models/nearestmean-PROOF/model.safetensors",`, `{}`,
		2000, false},
	{"NearestNeighbors", `"format":"csv","label":1`,
		`"queries":{"uri":"mem://m/in/rows.csv","format":"csv","label":1,"shard_bytes":3000},`,
		`{"k":3,"mode":"classify","store_base":false}`, 4000, false},
	{"KernelMatrix", `"format":"csv","label":1`, "", `{"tile":40}`, 2000, false},
	{"Perceptron", `"format":"csv","label":1,"split":{"test":0.2}`, "", `{"epochs":2}`, 2000, false},
	{"LinearModel", `"format":"csv","label":1,"split":{"test":0.2}`, "", `{"blocks":4,"max_rounds":6,"tol":1e-9}`, 2000,
		false},
	{"SupportVectorMachine", `"format":"csv","label":1,"split":{"test":0.2}`, "", `{"working_set":16,"max_rounds":6}`,
		2000, false},
	{"SupportVectorMachine", `"format":"csv","label":2,"features":[3,4,5],"split":{"test":0.2}`, "",
		`{"mode":"regress","working_set":16,"max_rounds":6,"features":{"scale":"standard"}}`, 2000, false},
	{"SupportVectorMachine", `"format":"csv","label":1,"split":{"test":0.2}`, "",
		`{"mode":"one_class","working_set":16,"max_rounds":6,"novelty":{"labels":["c"]}}`, 2000, false},
	{"NoveltyDetector", `"format":"csv","label":1,"split":{"test":0.2}`, "", `{"novelty":{"labels":["c"]}}`, 2000,
		false},
}

func (p provedJob) id(kept string) string {
	for _, mode := range []string{"regress", "one_class"} {
		if strings.Contains(p.params, `"mode":"`+mode) {
			return strings.ToLower(p.kind) + "-" + strings.ReplaceAll(mode, "_", "-") + "-" + kept
		}
	}
	return strings.ToLower(p.kind) + "-" + kept
}

func (p provedJob) spec(kept string) string {
	name := "rows.csv"
	if strings.Contains(p.input, "tsv") {
		name = "texts.tsv"
	} else if p.folder {
		name = "many/"
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{},"spec":{"input":{"uri":"mem://m/in/%s",%s,
		"shard_bytes":%d},%s"output":{},"params":%s,"repro":{"seed":3},"run":{"proof":%q}}}`, p.kind, name, p.input,
		p.shardBytes, strings.ReplaceAll(p.more, "PROOF", kept), p.params, kept)
}

// provedStore holds rows and texts.
func provedStore(t testing.TB) *mem.Store {
	t.Helper()
	store := mem.New("m")
	var texts strings.Builder
	for i := range 300 {
		fmt.Fprintf(&texts, "%s\tw%d w%d and w%d\n", []string{"sea", "land"}[i%2], i%7, i%11, i%2)
	}
	for name, data := range map[string]string{
		"in/rows.csv": strings.Join(cutRows(300), ""), "in/texts.tsv": texts.String(),
	} {
		if _, err := store.Put(t.Context(), name, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// proveJobs runs jobs on a cluster, which then is gone. Its worker computes with further kinds in the place of Gram's.
func proveJobs(t *testing.T, store objstore.Store, list []provedJob, kept string, further ...jobs.Kind) {
	t.Helper()
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store))
	cluster.KindsWith(further...)
	stop := cluster.Work(t, "w", 2, kernelops.Best())
	for _, p := range list {
		cluster.Submit(t, p.id(kept), p.spec(kept))
		if job := cluster.Wait(t, p.id(kept)); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
			t.Fatalf("%s: %v: %v", p.kind, job.GetState(), job.GetFailure())
		}
	}
	stop()
	cluster.Stop(t)
}

// checkOf is the configuration that checks a job in a store thoroughly.
func checkOf(store objstore.Store, id string) verify.Config {
	return verify.Config{Store: store, Prefix: protocol.OutputPrefix(id), Kind: all.Lookup, Ops: kernelops.Best(),
		OpenInput: func(context.Context, string) (objstore.Store, error) { return store, nil },
		All:       true, Sample: verify.DefaultSample, Rounds: -1}
}

func checked(t *testing.T, cfg verify.Config) *verify.Result {
	t.Helper()
	result, err := verify.Job(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func wantVerified(t *testing.T, r *verify.Result) {
	t.Helper()
	if r.Verdict != verify.Verified || r.Files.Done != r.Files.Of {
		t.Errorf("%s: %s, files %+v\nfalse: %+v\nmissing: %+v", r.Job, r.Verdict, r.Files, r.False, r.Missing)
	}
}

// An honest job verifies under every kernel set when its cluster is gone, whatever is kept: all of it with --all.
func TestHonestJobsVerify(t *testing.T) {
	t.Parallel()
	for _, kept := range []string{proof.Digests, proof.States, proof.Full} {
		t.Run(kept, func(t *testing.T) {
			t.Parallel()
			store := provedStore(t)
			proveJobs(t, store, provedJobs, kept)
			for _, p := range provedJobs {
				for _, ops := range kernelops.All() {
					cfg := checkOf(store, p.id(kept))
					cfg.Ops = ops
					r := checked(t, cfg)
					wantVerified(t, r)
					for _, c := range []verify.Count{r.Leaves, r.Merges, r.Steps, r.Rounds} {
						if c.Done != c.Of || r.Rounds.Of == 0 {
							t.Errorf("%s, %s: repeated %+v", p.kind, ops.Name, r)
						}
					}
				}
			}
		})
	}
}
