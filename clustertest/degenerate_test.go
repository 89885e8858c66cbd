package clustertest_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// objects are a data set: contents by name.
type objects map[string]string

// degenerate is a job over a data set that is odd, with what must become of it: an answer,
// or a fault of a code whose message says all of says.
type degenerate struct {
	name          string
	kind, params  string
	input         string // fields of spec.input beside uri and shard_bytes
	data, queries objects
	model         string // name of a case that ran before
	code          string // empty for an answer
	says          []string
	answer        func(t *testing.T, r ran) // of a job that succeeded
}

// ran is a job that has ended.
type ran struct {
	store objstore.Store
	id    string
}

func (r ran) read(t *testing.T, name string) string {
	t.Helper()
	return string(read(t, r.store, path.Join("models", r.id, name)))
}

// model is the digest of the model.
func (r ran) model(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("%x", sha256.Sum256([]byte(r.read(t, "model.safetensors"))))
}

// runDegenerate runs cases one at a time on a worker in this process. Shards hold two short lines, so
// that neighboring records lie in different shards.
func runDegenerate(t *testing.T, cases []degenerate) {
	t.Helper()
	store := mem.New("m")
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 10*time.Second, memStores(store))
	cluster.Work(t, "w1", 2, kernelops.Best())
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			id := fmt.Sprintf("case-%d", i)
			cluster.Submit(t, id, c.spec(t, store, id, modelOfCase(t, cases, c.model)))
			c.check(t, ran{store, id}, cluster.Wait(t, id))
		})
	}
}

// modelOfCase is the number of an earlier case, as the id of its job.
func modelOfCase(t *testing.T, cases []degenerate, name string) string {
	t.Helper()
	if name == "" {
		return ""
	}
	at := slices.IndexFunc(cases, func(c degenerate) bool { return c.name == name })
	if at < 0 {
		t.Fatalf("no case %q", name)
	}
	return fmt.Sprintf("case-%d", at)
}

func (c degenerate) spec(t *testing.T, store objstore.Store, id, model string) string {
	t.Helper()
	put := func(folder string, set objects) string {
		for key, content := range set {
			if _, err := store.Put(t.Context(), path.Join("in", id, folder, key), []byte(content)); err != nil {
				t.Fatal(err)
			}
		}
		return fmt.Sprintf(`{"uri":"mem://m/in/%s/%s/","shard_bytes":12,%s}`, id, folder, c.input)
	}
	fields := `"input":` + put("data", c.data)
	if c.queries != nil {
		fields += `,"queries":` + put("queries", c.queries)
	}
	if model != "" {
		fields += fmt.Sprintf(`,"model":"mem://m/models/%s/model.safetensors"`, model)
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{},"spec":{%s,"output":{},"params":%s,"repro":{"seed":7},"run":{}}}`, c.kind, fields, c.params)
}

func (c degenerate) check(t *testing.T, r ran, job *pb.Job) {
	t.Helper()
	f := job.GetFailure()
	if c.code == "" {
		if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
			t.Fatalf("%v: %v", job.GetState(), f)
		}
		if c.answer != nil {
			c.answer(t, r)
		}
		return
	}
	if f.GetCode() != c.code || f.GetClass() != pb.FailureClass_FAILURE_CLASS_INPUT {
		t.Errorf("%v: %v; want a fault %s of the input", job.GetState(), f, c.code)
	}
	for _, says := range c.says {
		if !strings.Contains(f.GetMessage(), says) {
			t.Errorf("the fault does not say %q: %s", says, f.GetMessage())
		}
	}
}

// learner is a case of a kind that learns from vectors in csv with labels in column 1.
type learner struct{ casetest.Case }

func learners(t *testing.T) (all []learner) {
	t.Helper()
	for _, c := range casetest.Of(t, casetest.Degenerate) {
		all = append(all, learner{c})
	}
	return all
}

const csvLabelled = `"format":"csv","label":1`

// good is data that every learner takes: 6 records of 2 columns, in 3 shards.
const good = "a,1,2\na,2,1\nb,8,9\nb,9,8\na,1,1\nb,9,9\n"

// of makes the case of a learner over data.
func (l learner) of(name string, data objects) degenerate {
	c := degenerate{name: l.Name + "/" + name, kind: l.Kind, params: l.Params, input: csvLabelled, data: data}
	if l.Degenerate.Queries {
		c.queries = objects{"q.csv": good}
	}
	return c
}

func (c degenerate) fails(code string, says ...string) degenerate {
	c.code, c.says = code, says
	return c
}

// What no learner takes is a fault that says where it is.
func TestBadCellsAndWidthsAreFaults(t *testing.T) {
	var cases []degenerate
	learners := learners(t)
	for i, l := range learners {
		for name, cell := range map[string]string{"nan": "NaN", "inf": "-Inf", "beyond-float32": "1e39",
			"no-number": "x"} {
			if i > 0 && name != "nan" {
				continue // the reader finds them all, whatever the kind
			}
			bad := strings.Replace(good, "9,8", cell+",8", 1)
			cases = append(cases, l.of(name, objects{"a.csv": good, "b.csv": bad}).fails("BAD_RECORD",
				"b.csv, line 4, column 2", "(byte 18)"))
		}
		three := "a,1,2,3\nb,3,2,1\na,3,2,1\n"
		cases = append(cases,
			l.of("wider", objects{"a.csv": good, "b.csv": three}).fails("BAD_RECORD", "b.csv",
				"width 3, not dense vectors of width 2"),
			l.of("narrower", objects{"a.csv": three, "b.csv": good}).fails("BAD_RECORD", "b.csv",
				"width 2, not dense vectors of width 3"),
			l.of("wider-last", objects{"a.csv": good, "b.csv": good, "c.csv": good, "d.csv": three}).fails("BAD_RECORD",
				"d.csv", "width 3"),
			l.of("wider-in-one-shard", objects{"a.csv": "a,1\n", "b.csv": "b,2,3\n"}).fails("BAD_RECORD", "b.csv",
				"width 2, not dense vectors of width 1"),
			l.of("nothing", objects{"a.csv": "", "b.csv": "\n"}).fails("INPUT_EMPTY"),
		)
		if l.Degenerate.Queries {
			c := l.of("queries-wider", objects{"a.csv": good}).fails("BAD_RECORD", "r.csv",
				"width 3, not dense vectors of width 2")
			c.queries = objects{"q.csv": good, "r.csv": three}
			cases = append(cases, c)
		}
	}
	first := learners[0]
	cases = append(cases,
		first.of("wider-line", objects{"a.csv": good + "a,1,2,3\n" + good}).fails("BAD_RECORD", "a.csv, line 7",
			"(byte 36)"),
		first.of("no-object", nil).fails("INPUT_EMPTY", "mem://m/in/"))
	runDegenerate(t, cases)
}

// In formats of binary rows a fault of the reader has a byte, and one that a phase finds has a row.
func TestPositionsInBinaryRows(t *testing.T) {
	bits := func(numbers ...float32) string {
		return string(datasettest.NPY("<f4", fmt.Sprintf("(%d, 1)", len(numbers)), numbers))
	}
	search := func(name, params string, data, queries objects) degenerate {
		return degenerate{name: name, kind: "NearestNeighbors", params: params, input: `"format":"npy"`, data: data,
			queries: queries}
	}
	hamming := `{"k":1,"metric":"hamming"}`
	two := string(datasettest.NPY("<f4", "(1, 2)", []float32{1, 0}))
	runDegenerate(t, []degenerate{
		search("in-a-phase", hamming, objects{"a.npy": bits(1, 0, 1, 1, 7, 0)},
			objects{"q.npy": bits(1)}).fails("BAD_RECORD", "a.npy: row 4: value 1 of the vector is 7"),
		search("of-queries", hamming, objects{"a.npy": bits(1, 0)},
			objects{"q.npy": bits(0, 1, 1, 0, 0, 3)}).fails("BAD_RECORD", "q.npy: row 5: "),
		search("in-a-reader", hamming, objects{"a.npy": bits(1, 0, 1, float32(math.NaN()))},
			objects{"q.npy": bits(1)}).fails("BAD_RECORD", "a.npy", "(byte 140)"),
		search("wider", hamming, objects{"a.npy": bits(1, 0, 1), "b.npy": two},
			objects{"q.npy": bits(1)}).fails("BAD_RECORD", "b.npy: row 0: ", "width 2"),
	})
}

// Of several bad records, a task names the first of its leaves. One worker with one slot computes one task at a time,
// from the left, and so names the first of all; several at once name the first of one of their shards.
func TestWhichOfSeveralBadRecordsIsNamed(t *testing.T) {
	data := objects{}
	for i := range 12 {
		data[fmt.Sprintf("%02d.csv", i)] = good
		if i > 2 {
			data[fmt.Sprintf("%02d.csv", i)] = "a,x,1\na,x,1\nb,1,9\n"
		}
	}
	c := degenerate{kind: "KMeans", params: `{"k":2}`, input: csvLabelled, data: data}
	for _, workers := range []int{1, 3} {
		store := mem.New("m") // a cluster's own
		cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 10*time.Second, memStores(store))
		for w := range workers {
			cluster.Work(t, fmt.Sprintf("w%d", w), workers, kernelops.Best())
		}
		for run := range 5 {
			id := fmt.Sprintf("bad-%d-%d", workers, run)
			cluster.Submit(t, id, c.spec(t, store, id, ""))
			message := cluster.Wait(t, id).GetFailure().GetMessage()
			if workers == 1 && !strings.Contains(message, "03.csv, line 1, column 2 (byte 0)") ||
				!strings.Contains(message, ".csv, line 1, column 2 (byte 0)") {
				t.Errorf("%d workers: %s", workers, message)
			}
		}
	}
}

// What a phase finds wrong with a record comes before what the reader finds wrong with a later one of its shard.
func TestFirstOfAShardIsNamed(t *testing.T) {
	runDegenerate(t, []degenerate{{name: "words", kind: "NaiveBayes", params: `{}`,
		input: `"format":"libsvm","width":3,"index_base":1`,
		data:  objects{"a.svm": "a 1:.5\nb x\n"}, code: "BAD_RECORD", says: []string{"a.svm", "0.5"}}})
}

// Empty objects among others change no bit of a model.
func TestEmptyObjectsChangeNothing(t *testing.T) {
	var cases []degenerate
	digests := map[string]string{}
	for _, l := range learners(t) {
		first := l.of("without", objects{"b.csv": good})
		first.answer = func(t *testing.T, r ran) { digests[l.Name] = r.model(t) }
		second := l.of("with", objects{"a.csv": "", "b.csv": good, "c.csv": "\n\n", "d.csv": ""})
		second.answer = func(t *testing.T, r ran) {
			if got := r.model(t); got != digests[l.Name] {
				t.Errorf("the model is %s, and %s without the empty objects", got, digests[l.Name])
			}
		}
		cases = append(cases, first, second)
	}
	runDegenerate(t, cases)
}

func identity(object string, offset int) dataset.Identity {
	return dataset.Identity{Object: object, Offset: int64(offset)}
}
