package coordinator

import (
	"strings"
	"testing"
	"testing/synctest"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// What a worker says of outputs is text that people and programs open: names and places that no worker writes are
// refused, and another attempt may tell the right ones.
func TestOutputsAreTheJobsOwn(t *testing.T) {
	for _, bad := range []*pb.OutputFile{
		{Name: "../other/model.safetensors", Uri: "mem://m/models/a/../other/model.safetensors"},
		{Name: "/etc/passwd", Uri: "mem://m/models/a//etc/passwd"},
		{Name: "a\x1b[2J", Uri: "mem://m/models/a/a\x1b[2J"},
		{Name: "a\u202eb", Uri: "mem://m/models/a/a\u202eb"},
		{Name: ".hidden", Uri: "mem://m/models/a/.hidden"},
		{Name: "a/b/c", Uri: "mem://m/models/a/a/b/c"},
		{Name: "", Uri: "mem://m/models/a/"},
		{Name: strings.Repeat("a", 129), Uri: "mem://m/models/a/" + strings.Repeat("a", 129)},
		{Name: "m", Uri: "mem://m/models/b/m"},
		{Name: "m", Uri: "https://evil.example/models/a/m"},
		{Name: "m", Uri: "file:///etc/m"},
		{Name: "twice", Uri: "mem://m/models/a/twice"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := startTest(t, testConfig(""))
			registerTest(t, c, "w", 2)
			planTest(t, c, "a", 1)
			leaf := leaseTest(t, c, "w", 1).GetTasks()[0]
			wantVerdicts(t, completeTest(t, c, "w", made(leaf, &pb.TaskOutput{Object: object(10)})),
				pb.Verdict_VERDICT_ACCEPTED)
			step := leaseTest(t, c, "w", 1).GetTasks()[0]
			wantVerdicts(t, completeTest(t, c, "w",
				made(step, &pb.TaskOutput{Next: &pb.Next{Done: true, State: object(30)}})), pb.Verdict_VERDICT_ACCEPTED)
			bad.Sha256, bad.Size = object(31).GetSha256(), 1
			files := []*pb.OutputFile{bad}
			if bad.GetName() == "twice" {
				files = append(files, bad)
			}
			report := leaseTest(t, c, "w", 1).GetTasks()[0]
			wantVerdicts(t, completeTest(t, c, "w", made(report, &pb.TaskOutput{Files: files})),
				pb.Verdict_VERDICT_INVALID)
			view, _ := c.fsm.View()
			if job := mustJob(t, view, "a"); job.Stage != pb.JobState_JOB_STATE_RUNNING || len(job.Outputs) > 0 {
				t.Errorf("%q at %q: %v with %v", bad.GetName(), bad.GetUri(), job.Stage, job.Outputs)
			}
			report = leaseTest(t, c, "w", 1).GetTasks()[0]
			good := &pb.OutputFile{Name: "neighbors/index.json", Uri: "mem://m/models/a/neighbors/index.json",
				Sha256: object(31).GetSha256(), Size: 1}
			other := modelTest("a", object(31))
			for _, files := range [][]*pb.OutputFile{{good}, {other, good}} { // without the model, and with another
				wantVerdicts(t, completeTest(t, c, "w", made(report, &pb.TaskOutput{Files: files})),
					pb.Verdict_VERDICT_INVALID)
				report = leaseTest(t, c, "w", 1).GetTasks()[0]
			}
			files = []*pb.OutputFile{modelTest("a", object(30)), good}
			wantVerdicts(t, completeTest(t, c, "w", made(report, &pb.TaskOutput{Files: files})),
				pb.Verdict_VERDICT_ACCEPTED)
			stopTest(t, c)
		})
	}
}

// modelTest is the model of a job as a report names it.
func modelTest(job string, of *pb.ObjectRef) *pb.OutputFile {
	uri := "mem://m/models/" + job + "/" + "model.safetensors"
	return &pb.OutputFile{Name: "model.safetensors", Uri: uri, Sha256: of.GetSha256(), Size: of.GetSize()}
}

func TestWorkersNamesArePrintable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		for _, req := range []*pb.RegisterRequest{
			{WorkerId: "w\x1b[2J", Slots: 1}, {WorkerId: "w", Name: "a\u202eb", Slots: 1},
			{WorkerId: "w", Kernels: "\u009b", Slots: 1},
			{WorkerId: "w", Build: "a\nb", Slots: 1},
		} {
			if _, err := c.services.Workers.Register(t.Context(),
				connect.NewRequest(req)); connect.CodeOf(err) != connect.CodeInvalidArgument {
				t.Errorf("%v: %v", req, err)
			}
		}
		stopTest(t, c)
	})
}
