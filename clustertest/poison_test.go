package clustertest_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// poisonPhase counts records, and panics at one of them.
type poisonPhase struct{ readPhase }

func (p poisonPhase) Map(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays,
	_ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	n := int64(0)
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for _, text := range block.Texts {
			if bytes.Contains(text, []byte("poison")) {
				panic("a record that the kernel cannot take")
			}
			n++
		}
	}
	return counted(n), nil, nil
}

type poisonJob struct{}

func (poisonJob) Phases() []jobs.Phase {
	return []jobs.Phase{poisonPhase{readPhase{sumPhase{"read"}, 1}}}
}

func poisonKind() jobs.Kind {
	kind := pairsKind()
	kind.Name, kind.UsesQueries, kind.UsesModel = "Poison", false, false
	kind.New = func(protocol.JobSpec) (jobs.Algorithm, error) { return poisonJob{}, nil }
	return kind
}

// A record on which the code panics fails its job after four attempts on two workers, by the shard's
// position; the workers and another job live on.
func TestPoisonRecord(t *testing.T) {
	store := mem.New("m")
	tinyCorpus(t, store)
	spec := strings.Replace(strings.Replace(tinySpec(""), "NaiveBayes", "Poison", 1), `"alpha":0.5`, "", 1)
	text := strings.Repeat("ham\tmeeting agenda\n", 100) +
		"ham\tpoison\n" + strings.Repeat("ham\tmeeting agenda\n", 100)
	if _, err := store.Put(t.Context(), "poisoned/corpus.tsv", []byte(text)); err != nil {
		t.Fatal(err)
	}
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://jobs", 2*time.Second, memStores(store), poisonKind())
	cluster.Work(t, "w1", 2, kernelops.Generic())
	cluster.Work(t, "w2", 2, kernelops.Generic())
	cluster.Submit(t, "poisoned", strings.Replace(spec, "mem://m/in", "mem://m/poisoned", 1))
	failure := cluster.Wait(t, "poisoned").GetFailure()
	if failure.GetCode() != "PANIC" || failure.GetClass() != pb.FailureClass_FAILURE_CLASS_TASK {
		t.Errorf("failed with %v", failure)
	}
	// 3811 bytes in four even shards of 953: the record begins at byte 1900.
	for _, says := range []string{"leaf 1, reading shard 1 (corpus.tsv bytes 953-1906)",
		"a record that the kernel cannot take"} {
		if !strings.Contains(failure.GetMessage(), says) {
			t.Errorf("the failure does not say %q: %s", says, failure.GetMessage())
		}
	}
	cluster.Submit(t, "sound", spec)
	if job := cluster.Wait(t, "sound"); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Errorf("a sound job after the poisoned one: %v", job.GetFailure())
	}
}
