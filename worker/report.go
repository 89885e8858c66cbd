package worker

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Names of a job's outputs.
const (
	ModelFile      = "model.safetensors"
	ProvenanceFile = "provenance.json"
	ReportFile     = "report.json"
)

// report writes what outlives the cluster: the model, where it came from, and the
// facts that were found on the way. The model's bytes are the promised ones;
// the other two hold times and names, and may differ from run to run.
func (j *job) report(ctx context.Context, brief *pb.JobBrief) (*pb.TaskOutput, error) {
	model, err := j.w.get(ctx, j.id, brief.GetModel())
	if err != nil {
		return nil, err
	}
	provenance, err := json.MarshalIndent(j.provenance(brief), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode provenance: %w", err)
	}
	facts, err := j.facts(ctx, brief)
	if err != nil {
		return nil, err
	}
	j.w.logs.flush(ctx)
	out := &pb.TaskOutput{}
	for _, file := range []struct {
		name string
		data []byte
	}{{ModelFile, model}, {ProvenanceFile, provenance}, {ReportFile, facts}} {
		written, err := j.writeOutput(ctx, file.name, file.data)
		if err != nil {
			return nil, err
		}
		out.Files = append(out.Files, written)
	}
	return out, nil
}

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

type runReport struct {
	SchemaVersion int           `json:"schema_version"`
	Job           string        `json:"job"`
	Name          string        `json:"name,omitempty"`
	Kind          string        `json:"kind"`
	ModelSHA256   string        `json:"model_sha256"`
	Seconds       float64       `json:"seconds"` // from submission to the end of the last round
	Rounds        []reportRound `json:"rounds"`
	Counters      counters      `json:"counters"`
	Metrics       []jobs.Metric `json:"metrics"` // in order of round
}

type reportRound struct {
	Round   uint32  `json:"round"`
	Phase   string  `json:"phase"`
	Leaves  uint64  `json:"leaves"`
	Seconds float64 `json:"seconds"`
}

type counters struct {
	Committed  uint64 `json:"committed"`
	Duplicates uint64 `json:"duplicates"`
	Superseded uint64 `json:"superseded"`
}

// facts is the run report: what each round found and how long it took.
func (j *job) facts(ctx context.Context, brief *pb.JobBrief) ([]byte, error) {
	record := brief.GetRecord()
	c := record.GetCounters()
	r := runReport{
		SchemaVersion: 1, Job: j.id, Name: record.GetName(), Kind: record.GetKind(),
		ModelSHA256: hex.EncodeToString(brief.GetModel().GetSha256()),
		Counters:    counters{Committed: c.GetCommitted(), Duplicates: c.GetDuplicates(), Superseded: c.GetSuperseded()},
		Metrics:     []jobs.Metric{},
	}
	for _, round := range record.GetRounds() {
		r.Rounds = append(r.Rounds, reportRound{
			Round: round.GetRound(), Phase: round.GetPhase(), Leaves: round.GetLeaves(),
			Seconds: seconds(round.GetFinishedUnixMs() - round.GetStartedUnixMs()),
		})
		r.Seconds = seconds(round.GetFinishedUnixMs() - record.GetSubmittedUnixMs())
		found, err := j.metrics(ctx, round.GetMetrics())
		if err != nil {
			return nil, err
		}
		r.Metrics = appendNew(r.Metrics, found)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return data, nil
}

// appendNew leaves out what was said before, word for word: rounds that read the same
// records skip the same ones.
func appendNew(all, found []jobs.Metric) []jobs.Metric {
	for _, m := range found {
		said := func(before jobs.Metric) bool { return before.Name == m.Name && bytes.Equal(before.Value, m.Value) }
		if !slices.ContainsFunc(all, said) {
			all = append(all, m)
		}
	}
	return all
}

func seconds(ms int64) float64 { return float64(ms) / 1000 }

func (j *job) metrics(ctx context.Context, ref *pb.ObjectRef) ([]jobs.Metric, error) {
	if ref == nil {
		return nil, nil
	}
	data, err := j.w.get(ctx, j.id, ref)
	if err != nil {
		return nil, err
	}
	var metrics []jobs.Metric
	if err := json.Unmarshal(data, &metrics); err != nil {
		return nil, fmt.Errorf("read a round's metrics: %w", err)
	}
	return metrics, nil
}
