package clustertest_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Inputs made to do harm end their job, and nothing else: with a fault of the input
// that names object and position, or with a model where the damage left good records.
// That memory stays bounded is shown in package dataset, where it can be measured.
func TestHostileInputEndsOnlyItsJob(t *testing.T) {
	jobStore, inputs := mem.New("m"), &datasettest.Store{Seed: 1}
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://jobs", 5*time.Second,
		func(_ context.Context, uri string) (objstore.Store, error) {
			if strings.HasPrefix(uri, "mem://input") {
				return inputs, nil
			}
			return jobStore, nil
		})
	cluster.Work(t, "w1", 2, kernelops.Best())
	var names []string
	for seed := range uint64(5) {
		huge := int64(4 << 20)
		if seed == 0 {
			huge = 100 << 20
		}
		for i, c := range datasettest.Hostile(seed, huge) {
			key := fmt.Sprintf("s%d-%d/%s", seed, i, c.Key)
			if _, err := inputs.PutContent(key, c.Content); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("hostile-%d-%d", seed, i)
			names = append(names, name)
			spec := strings.Replace(tinySpec(""), `mem://m/in/corpus.tsv`, "mem://input/"+key, 1)
			spec = strings.Replace(strings.Replace(spec, `"text":2`, `"text":3`, 1), `"shard_bytes":1000`,
				`"shard_bytes":65536`, 1)
			cluster.Submit(t, name, spec)
		}
	}
	faults := 0
	for _, name := range names {
		job := cluster.Wait(t, name)
		if job.GetState() == pb.JobState_JOB_STATE_SUCCEEDED {
			continue
		}
		faults++
		failure := job.GetFailure()
		if failure.GetClass() != pb.FailureClass_FAILURE_CLASS_INPUT || failure.GetMessage() == "" {
			t.Errorf("%s: %v", name, failure)
		}
		switch failure.GetCode() {
		case "BAD_RECORD", "INPUT_LIMIT":
			if !strings.Contains(failure.GetMessage(), ".tsv") && !strings.Contains(failure.GetMessage(), ".gz") {
				t.Errorf("%s does not name the object: %s", name, failure.GetMessage())
			}
		case "INPUT_EMPTY":
		default:
			t.Errorf("%s failed with %s: %s", name, failure.GetCode(), failure.GetMessage())
		}
	}
	if faults == 0 {
		t.Error("no hostile input was refused")
	}
	t.Logf("%d of %d inputs refused", faults, len(names))
	tinyCorpus(t, jobStore)
	cluster.Submit(t, "after-all", strings.Replace(tinySpec(""), "mem://m/in", "mem://jobs/in", 1))
	if job := cluster.Wait(t, "after-all"); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Errorf("a good job after the hostile ones: %v", job.GetFailure())
	}
}

// skip_max lets that number of bad records pass over the whole input, and no more.
func TestSkipMaxHoldsOverTheWholeInput(t *testing.T) {
	store := mem.New("m")
	var b strings.Builder
	for i := range 300 {
		if i%30 == 7 {
			b.WriteString("a line without a tab\n") // 10 of them, over several shards
			continue
		}
		fmt.Fprintf(&b, "%s\tword%d and word%d\n", []string{"x", "y"}[i%2], i%5, i%3)
	}
	if _, err := store.Put(t.Context(), "in/corpus.tsv", []byte(b.String())); err != nil {
		t.Fatal(err)
	}
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store))
	cluster.Work(t, "w1", 1, kernelops.Generic())
	cluster.Submit(t, "enough", tinySpec(`,"on_bad_record":{"skip_max":10}`))
	cluster.Submit(t, "too-few", tinySpec(`,"on_bad_record":{"skip_max":9}`))
	cluster.Submit(t, "none", tinySpec(""))
	if job := cluster.Wait(t, "enough"); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Errorf("with skip_max 10: %v", job.GetFailure())
	}
	// Every one of the ten is too many for "none": which of them its tasks meet first is theirs to say.
	badLine := regexp.MustCompile(`corpus\.tsv, line (8|38|68|98|128|158|188|218|248|278),`)
	for _, id := range []string{"too-few", "none"} {
		job := cluster.Wait(t, id)
		if failure := job.GetFailure(); failure.GetCode() != "BAD_RECORD" ||
			!badLine.MatchString(failure.GetMessage()) {
			t.Errorf("%s: %v", id, failure)
		}
	}
}
