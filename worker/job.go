package worker

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// job is what a worker keeps of a job while it works on it.
type job struct {
	w        *worker
	id       string
	specHash string
	spec     protocol.JobSpec
	kind     jobs.Kind
	tasks    *run.Tasks
	check    *run.Tasks // with another kernel set; nil where the machine runs one only

	mu      sync.Mutex
	planned bool
	planSum string         // the digests of manifest and plan
	inputs  []*input       // by jobs.Source
	model   *planned.Model // that it begins from, if any

	output *output
	stateHolder
}

// jobCache keeps the jobs last worked on.
type jobCache struct {
	w    *worker
	mu   sync.Mutex
	jobs []*job // most recent last
}

const jobsKept = 8

func newJobCache(w *worker) *jobCache { return &jobCache{w: w} }

// open returns the job of a brief, making it ready the first time.
func (c *jobCache) open(ctx context.Context, brief *pb.JobBrief) (*job, error) {
	if brief == nil {
		return nil, fmt.Errorf("the coordinator sent a task without its job")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.jobs, func(j *job) bool { return j.id == brief.GetId() }); i >= 0 {
		j := c.jobs[i]
		c.jobs = slices.Delete(c.jobs, i, i+1)
		if j.is(brief) {
			c.jobs = append(c.jobs, j)
			return j, j.openPlan(ctx, brief)
		}
		c.w.cache.drop(j.cached())
	}
	j, err := c.w.openJob(ctx, brief)
	if err != nil {
		return nil, err
	}
	if c.jobs = append(c.jobs, j); len(c.jobs) > jobsKept {
		c.w.cache.drop(c.jobs[0].cached())
		c.jobs = slices.Delete(c.jobs, 0, 1)
	}
	return j, j.openPlan(ctx, brief)
}

func (w *worker) openJob(ctx context.Context, brief *pb.JobBrief) (*job, error) {
	spec, err := protocol.ParseSpec([]byte(brief.GetSpecJson()))
	if err != nil {
		return nil, err
	}
	kind, err := w.cfg.Kind(spec.Kind)
	if err != nil {
		return nil, err
	}
	algorithm, err := kind.New(spec)
	if err != nil {
		return nil, err
	}
	tasks, err := run.NewTasks(algorithm, spec, w.cfg.Ops)
	if err != nil {
		return nil, err
	}
	var check *run.Tasks
	if w.checker != nil && w.checker.ops != nil {
		if check, err = run.NewTasks(algorithm, spec, w.checker.ops); err != nil {
			return nil, err
		}
	}
	inputs, err := w.openInputs(ctx, spec.Spec)
	if err != nil {
		return nil, err
	}
	return &job{w: w, check: check, id: brief.GetId(), specHash: brief.GetSpecHash(), spec: spec, kind: kind,
		tasks: tasks, inputs: inputs, output: newOutput(w, brief.GetId(), spec)}, nil
}

// madeBy names the objects of one of the job's rounds.
func (j *job) madeBy(round uint32) made { return made{j.id, round} }

// openPlan reads manifest and shards, once there are any.
func (j *job) openPlan(ctx context.Context, brief *pb.JobBrief) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.planned || brief.GetPlan() == nil {
		return nil
	}
	manifest, err := j.w.get(ctx, j.madeBy(0), brief.GetManifest())
	if err != nil {
		return err
	}
	plan, err := j.w.get(ctx, j.madeBy(0), brief.GetPlan())
	if err != nil {
		return err
	}
	stored, err := planned.Unmarshal(manifest, plan, len(j.inputs), j.spec.Spec.Model != "")
	if err != nil {
		return err
	}
	for i, in := range j.inputs {
		if err := in.ready(stored.Manifests[i], stored.Shards[i]); err != nil {
			return err
		}
	}
	j.model, j.planned, j.planSum = stored.Model, true, planSumOf(brief)
	return nil
}

func planSumOf(brief *pb.JobBrief) string {
	return hex.EncodeToString(brief.GetManifest().GetSha256()) + hex.EncodeToString(brief.GetPlan().GetSha256())
}

// is reports whether a brief is of this very job. Another may have its id by now: a cluster that was made of a backup
// knows nothing of what was submitted or planned after it, and a retired job's id is free after a month.
func (j *job) is(brief *pb.JobBrief) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.specHash == brief.GetSpecHash() && (!j.planned || j.planSum == planSumOf(brief))
}

// cached is what the job's blocks are kept under: what an earlier plan read is not found by a later one.
func (j *job) cached() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.id + " " + j.planSum
}
