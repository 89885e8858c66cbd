package checker

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gram-compute/gram/chaos/history"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// submits is I1. A job may exist whose submit has an unknown outcome; one that was refused
// every time, or never submitted, may not, unless a tick made it.
func submits(_ context.Context, e *Evidence, v *verdict) error {
	final := make(map[string]*pb.Job)
	for _, job := range e.Jobs {
		_, twice := final[job.GetId()]
		v.must(!twice, "job %s is listed twice", job.GetId())
		final[job.GetId()] = job
	}
	asked := make(map[string]bool)
	created := make(map[string]int)
	for _, op := range e.Operations {
		if op.Kind != history.Submit {
			continue
		}
		if op.Outcome != history.Refused {
			asked[op.Job+"\x00"+op.SpecHash] = true
		}
		if op.Outcome != history.OK {
			continue
		}
		if op.Created {
			created[op.Job]++
		}
		job := final[op.Job]
		v.must(job != nil, "job %s was acknowledged at %v by %s and does not exist", op.Job, op.Returned, op.Member)
		v.must(job == nil || job.GetSpecHash() == op.SpecHash, "job %s was acknowledged with spec %.12s and has %.12s",
			op.Job, op.SpecHash, job.GetSpecHash())
	}
	for _, id := range slices.Sorted(maps.Keys(created)) {
		v.must(created[id] == 1, "job %s was created %d times", id, created[id])
	}
	for _, job := range e.Jobs {
		if job.GetScheduleId() == "" {
			v.must(asked[job.GetId()+"\x00"+job.GetSpecHash()],
				"job %s with spec %.12s exists, and nobody asked for it", job.GetId(), job.GetSpecHash())
		}
	}
	return nil
}

// reported is a line of a job's log that tells what became of a worker's report.
type reported struct {
	Event, Verdict, Worker string
	Task                   string
	Round, Tree            uint32
	Level                  uint32 `json:"node_level"`
	Index                  uint32 `json:"node_index"`
}

// commits is I2, by the verdicts that workers were told and wrote into the jobs' logs. Lines
// of killed workers may be missing; what is there must not contradict itself.
func commits(ctx context.Context, e *Evidence, v *verdict) error {
	all, err := e.scan(ctx)
	if err != nil {
		return err
	}
	remade := make(map[string]bool) // jobs that had something made again
	for _, job := range e.Jobs {
		remade[job.GetId()] = job.GetCounters().GetRemade().GetChanges() > 0
	}
	accepted := make(map[string]string) // by job and task: the worker
	for _, key := range slices.Sorted(maps.Keys(all)) {
		for line := range strings.Lines(all[key].log) {
			var r reported
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			if r.Verdict == "violation" && e.Lied || r.Verdict == "accepted" && remade[all[key].ofJob] {
				v.ok() // one of the two lied; the task is made again because its object was lost or a lie
				continue
			}
			commit(v, accepted, all[key].ofJob, r)
		}
	}
	for _, job := range e.Jobs {
		models := 0
		for _, f := range job.GetOutputs() {
			if f.GetName() == "model.safetensors" {
				models++
			}
		}
		v.must(models <= 1, "job %s has %d models", job.GetId(), models)
		v.must((models == 1) == (stateOf(job) == history.Succeeded), "job %s is %s with %d models", job.GetId(),
			stateOf(job), models)
		v.must(e.Lied || job.GetCounters().GetViolations() == 0, "job %s counts %d violations of determinism",
			job.GetId(), job.GetCounters().GetViolations())
	}
	return nil
}

func commit(v *verdict, accepted map[string]string, job string, r reported) {
	if r.Event != "reported" {
		return
	}
	task := fmt.Sprintf("job %s, %s of round %d, tree %d, node %d/%d", job, r.Task, r.Round, r.Tree, r.Level, r.Index)
	switch r.Verdict {
	case "violation":
		v.fail("%s: worker %s made another digest", task, r.Worker)
	case "accepted":
		first, twice := accepted[task]
		v.must(!twice, "%s was committed twice: for %s and for %s", task, first, r.Worker)
		accepted[task] = r.Worker
	}
}

// models is I3.
func models(_ context.Context, e *Evidence, v *verdict) error {
	for _, job := range e.Jobs {
		if stateOf(job) != history.Succeeded {
			continue
		}
		spec, known := e.Specs[job.GetSpecHash()]
		if !known {
			v.fail("job %s has a spec that nobody wrote (%.12s)", job.GetId(), job.GetSpecHash())
			continue
		}
		model := modelOf(job)
		v.must(slices.Contains(spec.Models, model), "job %s of %s has the model %.16s, and fault-free runs have %.16s",
			job.GetId(), spec.Name, model, spec.Models)
	}
	return nil
}

func modelOf(job *pb.Job) string {
	for _, f := range job.GetOutputs() {
		if f.GetName() == "model.safetensors" {
			return hex.EncodeToString(f.GetSha256())
		}
	}
	return ""
}
