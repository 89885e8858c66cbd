package coordinator

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

func compareTest(t *testing.T, c *Coordinator, left, right string) *pb.Comparison {
	t.Helper()
	res, err := c.services.Compares.CompareJobs(t.Context(),
		connect.NewRequest(&pb.CompareJobsRequest{Left: left, Right: right}))
	if err != nil {
		t.Fatal(err)
	}
	return res.Msg.GetComparison()
}

// gapsOf is what was not compared, and why.
func gapsOf(c *pb.Comparison) string {
	var said []string
	for _, gap := range c.GetNotCompared() {
		said = append(said, gap.GetWhat()+": "+gap.GetWhy()+" "+gap.GetHint())
	}
	return strings.Join(said, "\n")
}

// Models and files that are larger than a coordinator reads, or are not those that the jobs left, are named; all else
// is compared.
func TestCompareWithinBounds(t *testing.T) {
	c := startTest(t, testConfig(""))
	found := `[{"name":"a","value":1}]`
	leave(t, c, "one", testSpec("n"), found, 21)
	leave(t, c, "two", testSpec("n"), found, 22)
	folder := protocol.OutputPrefix("one")
	for _, file := range []struct {
		name string
		data []byte
		want string
	}{
		{"provenance.json", []byte("{"), "provenance.json of one"},
		{"provenance.json", bytes.Repeat([]byte(" "), 9<<20), "more bytes than a coordinator reads"},
		{"provenance.json", []byte(`{"job":"one","spec":{}}`), "model.safetensors: object not found"},
		{protocol.ModelFile, []byte("another"), "its bytes are not those that the job left"},
	} {
		if _, err := c.cfg.Store.Put(t.Context(), folder+file.name, file.data); err != nil {
			t.Fatal(err)
		}
		answer := compareTest(t, c, "one", "two")
		if said := gapsOf(answer); !strings.Contains(said, file.want) || len(answer.GetNotCompared()) != 1 ||
			len(answer.GetMetrics()) != 1 || answer.GetNode() != "round 1 (count) made another state" {
			t.Errorf("%s of %d bytes: %q, %v", file.name, len(file.data), said, answer)
		}
	}
	large := object(23)
	large.Size = 33 << 20
	leaveModel(t, c, "large", testSpec("n"), found, large)
	said := gapsOf(compareTest(t, c, "one", "large"))
	if !strings.Contains(said, "coordinator reads at most 33554432") ||
		!strings.Contains(said, "`gram diff one large`") {
		t.Errorf("a large model: %q", said)
	}
}

// What a round found that is too large, damaged or lost is counted, and the other rounds are compared.
func TestCompareOfRoundsThatAreLost(t *testing.T) {
	c := startTest(t, testConfig(""))
	r := run{t, c, "one"}.plan()
	for n := range uint32(4) {
		found := fmt.Appendf(nil, `[{"name":"lloyd.%03d.distortion","value":%d}]`, n+1, n)
		sum := sha256.Sum256(found)
		key := protocol.ObjectKey("one", n+1, sum)
		if n == 2 {
			found = []byte("other bytes")
		}
		if n != 3 {
			if _, err := c.cfg.Store.Put(t.Context(), key, found); err != nil {
				t.Fatal(err)
			}
		}
		r.complete(pb.TaskKind_TASK_KIND_NODE, n+1, &pb.TaskOutput{Object: object(10)})
		r.complete(pb.TaskKind_TASK_KIND_STEP, n+1, &pb.TaskOutput{Next: &pb.Next{Phase: "lloyd", Trees: []uint32{1},
			State: object(30 + byte(n)), Metrics: &pb.ObjectRef{Sha256: sum[:], Size: int64(len(found))}}})
	}
	submitTest(t, c, "two")
	answer := compareTest(t, c, "one", "two")
	said := gapsOf(answer)
	if !strings.Contains(said, "what 2 rounds of 4 found could not be read; the last:") ||
		!strings.Contains(said, "the end of one: it has not ended") {
		t.Errorf("%q", said)
	}
	if len(answer.GetCurves()) != 1 || len(answer.GetCurves()[0].GetPoints()) != 2 ||
		answer.GetLeft().GetRounds() != 4 {
		t.Errorf("%v", answer)
	}
}

// Of a job that failed, why it did is told, and what its rounds found.
func TestCompareOfAFailedJob(t *testing.T) {
	c := startTest(t, testConfig(""))
	submitTest(t, c, "one")
	await(t, c, "one is planning", inStage("one", pb.JobState_JOB_STATE_PLANNING))
	fail := &pb.FailJob{Id: "one", Failure: &pb.Failure{Code: "X", Class: pb.FailureClass_FAILURE_CLASS_INPUT,
		Message: "there is no x.tsv"}}
	if _, err := c.leads.Agree(t.Context(), &pb.Command{Body: &pb.Command_Fail{Fail: fail}}); err != nil {
		t.Fatal(err)
	}
	submitTest(t, c, "two")
	answer := compareTest(t, c, "one", "two")
	if answer.GetLeft().GetFailure() != "there is no x.tsv" ||
		!strings.Contains(gapsOf(answer), "it did not succeed") ||
		answer.GetModel() != pb.SameModel_SAME_MODEL_UNKNOWN {
		t.Errorf("%v", answer)
	}
}
