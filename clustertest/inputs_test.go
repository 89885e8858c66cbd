package clustertest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

func pairsSpec(extra, params string) string {
	return `{"apiVersion":"v1","kind":"Pairs","metadata":{},"spec":{
		"input":{"uri":"mem://m/in/base.tsv","format":"tsv","label":1,"text":2,"shard_bytes":40,"on_bad_record":{"skip_max":2}},
		` + extra + `"output":{},"params":` + params + `,"repro":{"seed":7},"run":{"max_state_bytes":4096}}}`
}

const pairsQueries = `"queries":{"uri":"mem://m/in/queries.tsv","format":"tsv","label":1,"text":2,"shard_bytes":20,"on_bad_record":{"skip_max":1}},`

// pairsStore holds 30 base texts, w0 to w9 three times, and queries w3, w3, w5 and one unknown: 9 pairs.
// Two base records and one query are bad.
func pairsStore(t *testing.T) objstore.Store {
	t.Helper()
	store := mem.New("m")
	var base strings.Builder
	for i := range 30 {
		fmt.Fprintf(&base, "x\tw%d\n", i%10)
	}
	base.WriteString("bad\nworse\n")
	for key, text := range map[string]string{"in/base.tsv": base.String(),
		"in/queries.tsv": "q\tw3\nq\tw3\nbad\nq\tw5\nq\tnone\n"} {
		if _, err := store.Put(t.Context(), key, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

func read(t *testing.T, store objstore.Store, key string) []byte {
	t.Helper()
	body, _, err := store.Get(t.Context(), key, objstore.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func pairsOf(t *testing.T, store objstore.Store, id string) int64 {
	t.Helper()
	model, err := jobs.Decode(read(t, store, "models/"+id+"/model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := jobs.GetScalar[int64](model, "pairs")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A job over two data sets leaves its files beside the model; a second goes on from the
// first one's model; both say in their provenance what they read.
func TestQueriesModelAndFilesThroughACluster(t *testing.T) {
	store := pairsStore(t)
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store), pairsKind())
	cluster.Work(t, "w1", 2, kernelops.Generic())
	cluster.Work(t, "w2", 1, kernelops.Generic())
	for i, extra := range []string{pairsQueries, pairsQueries + `"model":"mem://m/models/pairs-0/model.safetensors",`} {
		id := fmt.Sprintf("pairs-%d", i)
		cluster.Submit(t, id, pairsSpec(extra, `{"rounds":2}`))
		if job := cluster.Wait(t, id); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
			t.Fatalf("%v: %v", job.GetState(), job.GetFailure())
		}
		if got := pairsOf(t, store, id); got != int64(9*(i+1)) {
			t.Errorf("%s found %d pairs, want %d", id, got, 9*(i+1))
		}
	}
	var index struct{ Trees, Leaves int }
	if err := json.Unmarshal(read(t, store, "models/pairs-1/pairs/index.json"), &index); err != nil ||
		index.Trees < 2 || index.Leaves < 2 {
		t.Fatalf("%+v, %v", index, err)
	}
	sum := 0
	for tree := range index.Trees {
		for leaf := range index.Leaves {
			n := 0
			fmt.Sscan(string(read(t, store, fmt.Sprintf("models/pairs-1/pairs/part-%03d-%03d.txt", tree, leaf))), &n)
			sum += n
		}
	}
	if sum != 9 {
		t.Errorf("the files hold %d pairs", sum)
	}
	checkPairsProvenance(t, store)
	report := string(read(t, store, "models/pairs-1/report.json")) // two rounds read, and skip the same
	if strings.Count(report, `"read.skipped.count"`) != 1 ||
		strings.Count(report, `"pairs.skipped.queries.count"`) != 1 {
		t.Errorf("the report does not tell what was skipped: %s", report)
	}
}

func checkPairsProvenance(t *testing.T, store objstore.Store) {
	t.Helper()
	var p struct {
		Shards  int
		Queries struct {
			Shards  int
			Objects []struct{ Key string }
		}
		InitialModel struct {
			URI    string
			SHA256 string
		} `json:"initial_model"`
		Spec struct {
			Spec struct{ Model string }
		}
	}
	if err := json.Unmarshal(read(t, store, "models/pairs-1/provenance.json"), &p); err != nil {
		t.Fatal(err)
	}
	model, err := jobs.Decode(read(t, store, "models/pairs-0/model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	if p.InitialModel.URI != p.Spec.Spec.Model || p.InitialModel.SHA256 != jobstest.Digest(model) || p.Shards < 2 ||
		p.Queries.Shards < 2 ||
		len(p.Queries.Objects) != 1 || p.Queries.Objects[0].Key != "queries.tsv" {
		t.Errorf("%+v", p)
	}
}

// What a job cannot begin with fails it at once, by name.
func TestModelsAndQueriesThatAreNot(t *testing.T) {
	store := pairsStore(t)
	big := jobs.Arrays{}
	big.PutKind("Pairs", 1)
	jobs.Put(big, "big", make([]byte, 5000))
	other := jobs.Arrays{}
	other.PutKind("KMeans", 1)
	noKind := jobs.Arrays{}
	jobs.PutScalar(noKind, "pairs", int64(1))
	for key, data := range map[string][]byte{"big": big.Encode(), "other": other.Encode(), "no-kind": noKind.Encode(),
		"text": []byte("hello"), "nothing": nil} {
		if _, err := store.Put(t.Context(), "m/"+key, data); err != nil {
			t.Fatal(err)
		}
	}
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store), pairsKind())
	cluster.Work(t, "w1", 2, kernelops.Generic())
	for name, c := range map[string]struct{ extra, code, says string }{
		"missing": {`"model":"mem://m/m/missing",`, "INPUT_EMPTY", "spec.model"},
		"big":     {`"model":"mem://m/m/big",`, "STATE_TOO_BIG", "max_state_bytes is 4096"},
		"text":    {`"model":"mem://m/m/text",`, "CORRUPT", "not a model"},
		"nothing": {`"model":"mem://m/m/nothing",`, "CORRUPT", "not a model"},
		"no-kind": {`"model":"mem://m/m/no-kind",`, "CORRUPT", "not a model"},
		"other": {`"model":"mem://m/m/other",`, "SPEC_INVALID",
			"mem://m/m/other: spec.model is a model of kind KMeans; a job of kind Pairs begins from one of kind Pairs"},
		"no-queries": {strings.ReplaceAll(pairsQueries, "queries.tsv", "none.tsv"), "INPUT_EMPTY", "none.tsv"},
		"bad-query-max": {strings.ReplaceAll(pairsQueries, `"skip_max":1`, `"skip_max":0`), "BAD_RECORD",
			"queries.tsv"},
	} {
		cluster.Submit(t, name, pairsSpec(c.extra, `{"rounds":1}`))
		job := cluster.Wait(t, name)
		if f := job.GetFailure(); f.GetCode() != c.code || !strings.Contains(f.GetMessage(), c.says) ||
			f.GetClass() != pb.FailureClass_FAILURE_CLASS_INPUT {
			t.Errorf("%s: %v, %v", name, job.GetState(), f)
		}
	}
	for name, kind := range map[string]string{"spec.queries": "KMeans", "spec.model": "KernelMatrix"} {
		spec := pairsSpec(map[string]string{"spec.queries": pairsQueries, "spec.model": `"model":"mem://m/m/x",`}[name],
			`{}`)
		spec = strings.Replace(spec, `"Pairs"`, fmt.Sprintf("%q", kind), 1)
		_, err := cluster.Jobs.Submit(context.Background(),
			connect.NewRequest(&pb.SubmitRequest{Id: "unused", SpecJson: spec}))
		if err == nil || !strings.Contains(err.Error(), name+" is not used by kind "+kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
