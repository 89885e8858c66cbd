package worker

import (
	"encoding/hex"
	"runtime"
	"time"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

type provenance struct {
	SchemaVersion int              `json:"schema_version"`
	Job           string           `json:"job"`
	Spec          protocol.JobSpec `json:"spec"`
	SpecHash      string           `json:"spec_sha256"`
	ResultHash    string           `json:"result_sha256"`
	Model         digest           `json:"model"`
	Manifest      digest           `json:"manifest"`
	Plan          digest           `json:"plan"`
	inputProvenance
	Queries      *inputProvenance  `json:"queries,omitempty"`
	InitialModel *pinnedModel      `json:"initial_model,omitempty"`
	Rounds       []roundProvenance `json:"rounds"`
	Kernels      []string          `json:"kernel_sets"`
	Workers      []string          `json:"workers"`
	Build        string            `json:"build"`
	Go           string            `json:"go"`
	Submitted    string            `json:"submitted"`
	Started      string            `json:"started"`
}

// inputProvenance is one data set as it was planned.
type inputProvenance struct {
	Shards      int              `json:"shards"`
	Objects     []dataset.Object `json:"objects"` // the first thousand
	ObjectCount int              `json:"object_count"`
}

func (in *input) provenance() inputProvenance {
	objects := in.manifest.Objects
	return inputProvenance{Shards: len(in.shards), Objects: objects[:min(len(objects), maxObjectsListed)], ObjectCount: len(objects)}
}

type digest struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

type roundProvenance struct {
	Round    uint32 `json:"round"`
	Phase    string `json:"phase"`
	Leaves   uint64 `json:"leaves"`
	State    digest `json:"state"`
	Started  string `json:"started"`
	Finished string `json:"finished"`
}

const maxObjectsListed = 1000

func (j *job) provenance(brief *pb.JobBrief) provenance {
	record := brief.GetRecord()
	p := provenance{
		SchemaVersion: 1, Job: j.id, Spec: j.spec, SpecHash: brief.GetSpecHash(), ResultHash: brief.GetResultHash(),
		Model: digestOf(brief.GetModel()), Manifest: digestOf(brief.GetManifest()), Plan: digestOf(brief.GetPlan()),
		inputProvenance: j.inputs[jobs.Input].provenance(), InitialModel: j.model,
		Kernels: brief.GetKernels(), Workers: brief.GetWorkers(),
		Build: j.w.cfg.Build, Go: runtime.Version(),
		Submitted: timestamp(record.GetSubmittedUnixMs()), Started: timestamp(record.GetStartedUnixMs()),
	}
	if len(j.inputs) > int(jobs.Queries) {
		queries := j.inputs[jobs.Queries].provenance()
		p.Queries = &queries
	}
	for _, r := range record.GetRounds() {
		p.Rounds = append(p.Rounds, roundProvenance{
			Round: r.GetRound(), Phase: r.GetPhase(), Leaves: r.GetLeaves(), State: digestOf(r.GetState()),
			Started: timestamp(r.GetStartedUnixMs()), Finished: timestamp(r.GetFinishedUnixMs()),
		})
	}
	return p
}

func digestOf(ref *pb.ObjectRef) digest {
	return digest{SHA256: hex.EncodeToString(ref.GetSha256()), Size: ref.GetSize()}
}

func timestamp(unixMilli int64) string {
	return time.UnixMilli(unixMilli).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
