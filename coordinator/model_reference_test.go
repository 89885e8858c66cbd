package coordinator

import (
	"encoding/hex"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// begins is a spec that begins from a model.
func begins(model string) string {
	return strings.Replace(testSpec("begins"), `"output"`, `"model":"`+model+`","output"`, 1)
}

func submitSpec(t *testing.T, c *Coordinator, id, spec string) (*pb.SubmitResponse, error) {
	t.Helper()
	res, err := c.services.Jobs.Submit(t.Context(), connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: spec}))
	if err != nil {
		return nil, err
	}
	return res.Msg, nil
}

func setAliasTest(t *testing.T, c *Coordinator, name, job string) {
	t.Helper()
	if _, err := c.services.Models.SetAlias(t.Context(),
		connect.NewRequest(&pb.SetAliasRequest{Name: name, Job: job})); err != nil {
		t.Fatal(err)
	}
}

func specOf(t *testing.T, job *pb.Job) protocol.Spec {
	t.Helper()
	spec, err := protocol.ParseSpec([]byte(job.GetSpecJson()))
	if err != nil {
		t.Fatal(err)
	}
	return spec.Spec
}

// What a reference meant at the first submit is part of the spec; the same submit again means the same.
func TestReferencesArePinnedAtSubmit(t *testing.T) {
	c := startTest(t, testConfig(""))
	run{t, c, "m1"}.finish()
	run{t, c, "m2"}.finish()
	setAliasTest(t, c, "prod", "m1")
	first, err := submitSpec(t, c, "a", begins("@prod"))
	if err != nil {
		t.Fatal(err)
	}
	got := specOf(t, first.GetJob())
	if got.Model != "mem://m/models/m1/model.safetensors" || got.ModelJob != "m1" ||
		got.ModelSHA256 != hex.EncodeToString(object(11).GetSha256()) {
		t.Fatalf("pinned as %+v", got)
	}
	setAliasTest(t, c, "prod", "m2")
	again, err := submitSpec(t, c, "a", begins("@prod"))
	if err != nil || again.GetCreated() || again.GetJob().GetSpecHash() != first.GetJob().GetSpecHash() {
		t.Errorf("the same submit after the alias moved: %v, %v", again, err)
	}
	moved, err := submitSpec(t, c, "b", begins("@prod"))
	if err != nil || specOf(t, moved.GetJob()).ModelJob != "m2" ||
		moved.GetJob().GetResultHash() != first.GetJob().GetResultHash() {
		t.Errorf("a new one: %v, %v; the models are the same, and so is the result's name", moved, err)
	}
	byID, err := submitSpec(t, c, "c", begins("m1"))
	if err != nil || byID.GetJob().GetSpecHash() != first.GetJob().GetSpecHash() {
		t.Errorf("by id it is another spec: %v, %v", byID, err)
	}
	_, err = submitSpec(t, c, "a", begins("m2"))
	wantCode(t, "another model under the same id", err, connect.CodeAlreadyExists)
	for reference, code := range map[string]connect.Code{
		"@none": connect.CodeNotFound, "nobody": connect.CodeNotFound, "x@latest": connect.CodeNotFound,
		"a": connect.CodeFailedPrecondition,
	} {
		_, err := submitSpec(t, c, "d", begins(reference))
		wantCode(t, reference, err, code)
	}
	_, err = c.services.Models.Retire(t.Context(), connect.NewRequest(&pb.RetireRequest{Id: "m1"}))
	wantCode(t, "retire what an active job begins from", err, connect.CodeFailedPrecondition)
}

func TestGetTakesReferences(t *testing.T) {
	c := startTest(t, testConfig(""))
	run{t, c, "m1"}.finish()
	setAliasTest(t, c, "prod", "m1")
	if job := getTest(t, c, "@prod"); job.GetId() != "m1" {
		t.Errorf("@prod is %v", job)
	}
	list, err := c.services.Models.ListAliases(t.Context(), connect.NewRequest(&pb.ListAliasesRequest{}))
	if err != nil || len(list.Msg.GetAliases()) != 1 || list.Msg.GetAliases()[0].GetJobId() != "m1" {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := c.services.Models.RemoveAlias(t.Context(),
		connect.NewRequest(&pb.RemoveAliasRequest{Name: "prod"})); err != nil {
		t.Fatal(err)
	}
	_, err = c.services.Jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: "@prod"}))
	wantCode(t, "a removed alias", err, connect.CodeNotFound)
}

// A schedule that goes on from its own latest model: each tick pins what it is then.
func TestTicksPinTheirReferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		run{t, c, "seed"}.finish()
		setAliasTest(t, c, "base", "seed")
		d := definition("n")
		d.SpecJson = begins("@base")
		createTest(t, c, d)
		sleep(time.Minute + time.Second)
		setAliasTest(t, c, "base", "seed")
		run{t, c, "other"}.finish()
		setAliasTest(t, c, "base", "other")
		sleep(time.Minute)
		view, _ := c.fsm.View()
		jobs := map[string]int{}
		for _, job := range ticksOf(view, "n") {
			jobs[job.ModelJob]++
			if job.ModelReference != "@base" {
				t.Errorf("made from %q", job.ModelReference)
			}
		}
		if jobs["seed"] != 1 || jobs["other"] != 1 {
			t.Errorf("models of the ticks: %v", jobs)
		}
		stopTest(t, c)
	})
}
