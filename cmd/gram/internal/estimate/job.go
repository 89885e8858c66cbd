package estimate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/worker"
)

// Job is what can be known of a job before it runs.
type Job struct {
	Kind     string  `json:"kind"`
	Name     string  `json:"name,omitempty"`
	SpecHash string  `json:"spec_hash"`
	Inputs   []Input `json:"inputs"`          // by jobs.Source
	Model    string  `json:"model,omitempty"` // spec.model, which is not read
	Width    *Width  `json:"width,omitempty"` // nil without columns of categories
	Rounds   Rounds  `json:"rounds"`
	Busy     Busy    `json:"busy"`
	Memory   Memory  `json:"memory"`
	Output   Output  `json:"output"`
}

// Rounds is what a kind tells of its rounds beforehand.
type Rounds struct {
	Phases []string `json:"phases"`  // in the kind's order; where Count is 0, one may be left out, or repeated
	Count  int      `json:"count"`   // 0 where the data decide
	AtMost int64    `json:"at_most"` // 0 where only the data bound the rounds
	Bounds []Bound  `json:"bounds"`  // params that bound repetitions
}

// Bound is a param that bounds how often phases are repeated.
type Bound struct {
	Param string `json:"param"`
	Value int64  `json:"value"`
}

// Busy is how many tasks there are to be at work on at a time, and so how many worker slots can be busy.
type Busy struct {
	FirstRound int   `json:"first_round"`           // shards of spec.input
	Blocks     int64 `json:"blocks,omitempty"`      // logical blocks of later rounds, where the kind goes by them
	BlocksMost bool  `json:"blocks_most,omitempty"` // there are as many at most
	MaxWorkers int   `json:"max_workers,omitempty"` // spec.run.max_workers
}

// Memory is what a worker sets aside for a task.
type Memory struct {
	FirstRound int64 `json:"first_round_bytes"` // of the largest shard, with StateAtLeast
	// StateAtLeast is a bound that follows from the spec; 0 means that it is not known.
	StateAtLeast int64 `json:"state_bytes_at_least"`
}

// Of estimates the job of a valid spec with its defaults. It lists the data sets, and reads a little of them. Its error
// is what the job's plan task would fail with, or its first tasks.
func Of(ctx context.Context, spec protocol.JobSpec) (*Job, error) {
	kind, err := all.Lookup(spec.Kind)
	if err != nil {
		return nil, err
	}
	algorithm, err := kind.New(spec)
	if err != nil {
		return nil, err
	}
	tasks, err := run.NewTasks(algorithm, spec, nil) // it computes nothing here
	if err != nil {
		return nil, err
	}
	job := &Job{Kind: spec.Kind, Name: spec.Metadata.Name, Model: spec.Spec.Model,
		Rounds: roundsOf(algorithm, tasks, spec.Spec.Params), Output: outputOf(spec.Spec.Output.URI)}
	if job.SpecHash, err = spec.Hash(); err != nil {
		return nil, err
	}
	job.Width = widthOf(spec.Spec)
	var sets []worker.Listed
	var readable []dataset.Listed
	for i, in := range jobs.DataSets(spec.Spec) {
		l, view, err := list(ctx, jobs.Source(i), in)
		if err != nil {
			return nil, err
		}
		job.Inputs, sets = append(job.Inputs, view), append(sets, l.Listed)
		readable = append(readable, dataset.Listed{Store: l.store, Name: l.name, Manifest: l.Manifest, Input: in})
	}
	if len(readable) > int(jobs.Queries) {
		if err := dataset.CompareVectors(ctx, readable[jobs.Input], readable[jobs.Queries]); err != nil {
			return nil, err
		}
	}
	job.Busy = busyOf(algorithm, job.Inputs[jobs.Input], spec.Spec.Run.MaxWorkers)
	job.Rounds.AtMost, _ = all.MostRounds(spec, job.plan())
	job.Memory.StateAtLeast = all.LeastState(spec)
	job.Memory.FirstRound = worker.LeafMemory(tasks, sets, job.Memory.StateAtLeast)
	return job, nil
}

// plan is what is known of the job's plan: blocks only where records were counted.
func (j *Job) plan() jobs.Plan {
	plan := jobs.Plan{Shards: j.Inputs[jobs.Input].Shards}
	if j.Inputs[jobs.Input].Records.Exact && !j.Busy.BlocksMost {
		plan.Blocks = int(j.Busy.Blocks) //lint:checked the records of a sample
	}
	return plan
}

// repeating are the params by which kinds bound how often they repeat a phase.
var repeating = []string{"epochs", "max_rounds", "restarts"}

func roundsOf(algorithm jobs.Algorithm, tasks *run.Tasks, params json.RawMessage) Rounds {
	r := Rounds{Bounds: []Bound{}}
	phases := algorithm.Phases()
	if first := tasks.First(); first != phases[0].Name() {
		r.Phases = append(r.Phases, first) // of as many rounds as the ids take
	} else {
		r.Count, _ = jobs.RoundsOf(algorithm)
	}
	for _, p := range phases {
		r.Phases = append(r.Phases, p.Name())
	}
	var values map[string]json.RawMessage
	if json.Unmarshal(params, &values) != nil {
		return r // the kind has read them; what is no object has no bounds
	}
	for _, name := range repeating {
		var n int64
		if text, ok := values[name]; ok && json.Unmarshal(text, &n) == nil {
			r.Bounds = append(r.Bounds, Bound{"spec.params." + name, n})
		}
	}
	return r
}

func busyOf(algorithm jobs.Algorithm, in Input, maxWorkers int) Busy {
	b := Busy{FirstRound: in.Shards, MaxWorkers: maxWorkers}
	switch each := jobs.BlocksOf(algorithm)[jobs.Input]; {
	case each > 0:
		b.Blocks = (in.Records.Count + each - 1) / each
	case each < 0:
		size := max(jobs.SizeOf(each, in.Records.Count), 1)
		b.Blocks, b.BlocksMost = (in.Records.Count+size-1)/size, true
	}
	return b
}

// Rows are the estimate for people: names and texts. size writes bytes.
func (j *Job) Rows(size func(int64) string) [][2]string {
	rows := [][2]string{{"job", fmt.Sprintf("%s %s, which validates", j.Kind, j.Name)}}
	for i := range j.Inputs {
		rows = append(rows, j.Inputs[i].rows(size)...)
	}
	if j.Model != "" {
		rows = append(rows, [2]string{"model", j.Model + ": not read; whether the job can begin from it is not known"})
	}
	if j.Width != nil {
		rows = append(rows, [2]string{"width", j.Width.text(size)})
	}
	return append(rows, [2]string{"rounds", j.Rounds.text()}, [2]string{"workers", j.Busy.text(j.Inputs[0])},
		[2]string{"memory", j.Memory.text(size)}, [2]string{"output", j.Output.text()})
}
