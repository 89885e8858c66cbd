package state

import (
	"strings"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Names says who needs an ended job: those by whom it may not be retired.
type Names struct {
	jobs map[string]string // by the job's id
	uris map[string]string // by the URI of its model
}

// Names gathers what active jobs, schedules and aliases name.
func (s State) Names() Names {
	n := Names{jobs: make(map[string]string), uris: make(map[string]string)}
	s.aliases.Root().Walk(func(_ []byte, a Alias) bool {
		n.add(n.jobs, a.JobID, "alias @"+a.Name)
		return false
	})
	s.EachSchedule(func(sched *Schedule) bool {
		n.add(n.jobs, sched.LatestJob, "schedule "+sched.ID()+", as its @latest")
		n.addModel(sched.Definition.GetModel(), "", "schedule "+sched.ID()+", which begins from its model")
		return true
	})
	s.EachActive(func(job *Job) bool {
		for _, need := range job.Needs {
			n.add(n.jobs, need, "job "+job.ID+", which needs it")
		}
		n.addModel(job.ModelURI, job.ModelJob, "job "+job.ID+", which begins from its model")
		return true
	})
	return n
}

func (n Names) add(to map[string]string, what, by string) {
	if _, known := to[what]; !known && what != "" {
		to[what] = by
	}
}

// addModel takes a URI, or a job's id in its place as a schedule may give it.
func (n Names) addModel(model, job, by string) {
	if ValidJobID(model) {
		job = model
	}
	n.add(n.jobs, job, by)
	n.add(n.uris, model, by)
}

// Of says who names a job; "" is nobody.
func (n Names) Of(job *Job) string {
	if by := n.jobs[job.ID]; by != "" {
		return by
	}
	for _, o := range job.Outputs {
		if by := n.uris[o.URI]; by != "" {
			return by
		}
	}
	return ""
}

// ModelOutput is the output that a later job may begin from.
func (j *Job) ModelOutput() (Output, bool) {
	for _, o := range j.Outputs {
		if o.Name == protocol.ModelFile {
			return o, j.Stage == pb.JobState_JOB_STATE_SUCCEEDED
		}
	}
	return Output{}, false
}

// HasModel reports whether the job has succeeded and left a model.
func (j *Job) HasModel() bool {
	_, ok := j.ModelOutput()
	return ok
}

// Resolve returns the job that a reference names: an id, SCHEDULE@latest or @ALIAS.
func (s State) Resolve(reference string) (*Job, *Rejection) {
	id := reference
	if name, alias := strings.CutPrefix(reference, "@"); alias {
		found, ok := s.Alias(name)
		if !ok {
			return nil, reject(NotFound, "no alias @%s", Clip(name, 64)).Err
		}
		id = found.JobID
	} else if name, latest := strings.CutSuffix(reference, protocol.LatestOf); latest {
		sched, ok := s.Schedule(name)
		switch {
		case !ok:
			return nil, reject(NotFound, "no schedule %q", Clip(name, 64)).Err
		case sched.LatestJob == "":
			return nil, reject(NotFound, "no job of schedule %s has succeeded yet", name).Err
		}
		id = sched.LatestJob
	}
	job, ok := s.Job(id)
	if !ok {
		if _, gone := s.Retired.Get(id); gone {
			return nil, reject(NotFound, "job %q is retired", Clip(id, 64)).Err
		}
		return nil, reject(NotFound, "no job %q", Clip(id, 64)).Err
	}
	return job, nil
}
