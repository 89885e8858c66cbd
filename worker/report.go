package worker

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/gram-compute/gram/attestation/mlbom"
	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report"
)

// Names of a job's outputs.
const (
	ModelFile      = origin.ModelFile
	ProvenanceFile = origin.ProvenanceFile
	ReportFile     = origin.ReportFile
	PageFile       = origin.PageFile
)

// report writes what outlives the cluster: the model, where it came from, and the
// facts that were found on the way, as data and as a page. The model's bytes are the promised
// ones; the others hold times and names, and may differ from run to run.
func (j *job) report(ctx context.Context, brief *pb.JobBrief, task *pb.Task) (*pb.TaskOutput, error) {
	model, err := j.w.get(ctx, j.madeBy(task.GetId().GetRound()), brief.GetModel())
	if err != nil {
		return nil, err
	}
	facts, err := j.facts(ctx, brief, task)
	if err != nil {
		return nil, err
	}
	proved, err := j.prove(ctx, brief, facts)
	if err != nil {
		return nil, err
	}
	made, err := j.provenance(brief)
	if err != nil {
		return nil, err
	}
	made.Proof = facts.Proof
	page, err := j.page(facts, brief, model)
	if err != nil {
		return nil, err
	}
	texts, err := textsOf(made, facts, page)
	if err != nil {
		return nil, err
	}
	j.w.logs.flush(ctx)
	out, modelBytes := &pb.TaskOutput{}, sameBytes
	if task.GetId().GetChanges() > 0 {
		modelBytes = otherBytes // an earlier attempt may have written the model before it was taken back
	}
	for _, file := range append([]outputText{{ModelFile, model, modelBytes}}, texts...) {
		written, err := j.output.write(ctx, file.name, file.data, file.attempts)
		if err != nil {
			return nil, err
		}
		out.Files = append(out.Files, written)
	}
	out.Files = append(out.Files, proved...)
	further, err := j.output.outputs(ctx, facts.Files)
	if err != nil {
		return nil, err
	}
	out.Files = append(out.Files, further...)
	j.w.cache.drop(j.cached()) // no task needs its records any more
	return out, j.writeEnd(ctx, brief, out.Files)
}

// outputText is a file beside the model, or the model.
type outputText struct {
	name     string
	data     []byte
	attempts again
}

// textsOf are the files that tell of the model.
func textsOf(made origin.Provenance, facts *runReport, page []byte) ([]outputText, error) {
	provenance, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode provenance: %w", err)
	}
	report, err := facts.encode()
	if err != nil {
		return nil, err
	}
	bom, err := mlbom.Of(&made, facts.Metrics)
	if err != nil {
		return nil, err
	}
	return []outputText{
		{ProvenanceFile, provenance, otherBytes}, {ReportFile, report, otherBytes}, {PageFile, page, otherBytes},
		{mlbom.File, bom, otherBytes},
	}, nil
}

type runReport struct {
	SchemaVersion int                  `json:"schema_version"`
	Job           string               `json:"job"`
	Name          string               `json:"name,omitempty"`
	Kind          string               `json:"kind"`
	ModelSHA256   string               `json:"model_sha256"`
	Seconds       float64              `json:"seconds"` // from submission to the end of the last round
	Rounds        []origin.ReportRound `json:"rounds"`
	Counters      counters             `json:"counters"`
	Audit         *auditReport         `json:"audit,omitempty"`   // tasks that were made a second time
	Metrics       []jobs.Metric        `json:"metrics"`           // in order of round
	Figures       []jobs.Figure        `json:"figures,omitempty"` // of the page
	Files         emitted              `json:"files,omitempty"`   // beside the model; of parts, their index
	Timeline      *report.Timeline     `json:"timeline,omitempty"`
	Integrity     []origin.Integrity   `json:"integrity"` // of what was read, by data set
	Proof         *origin.Summary      `json:"proof,omitempty"`
	Warnings      []string             `json:"warnings,omitempty"`
	// Certificate is what the kind finds when it checks the finished model.
	Certificate json.RawMessage `json:"certificate,omitempty"`

	records []proof.Round // in the order in which they were made
}

type counters struct {
	Committed  uint64 `json:"committed"`
	Duplicates uint64 `json:"duplicates"`
	Superseded uint64 `json:"superseded"`

	SpeculativeLaunched uint64 `json:"speculative_copies_launched"`
	SpeculativeWon      uint64 `json:"speculative_copies_won"`
	SpeculativeWasted   uint64 `json:"speculative_copies_wasted"`

	// What was lost or wrong, and made again.
	RemadeTasks    uint64 `json:"remade_tasks,omitempty"`
	ReopenedRounds uint32 `json:"reopened_rounds,omitempty"`
	BegunAnew      uint32 `json:"begun_anew,omitempty"`
	RemadeLast     string `json:"remade_last,omitempty"`
}

func countersFrom(c *pb.Counters) counters {
	b := c.GetSpeculativeCopies()
	return counters{
		Committed: c.GetCommitted(), Duplicates: c.GetDuplicates(), Superseded: c.GetSuperseded(),
		SpeculativeLaunched: b.GetLaunched(), SpeculativeWon: b.GetWon(), SpeculativeWasted: b.GetWasted(),
		RemadeTasks: c.GetRemade().GetTasks(), ReopenedRounds: c.GetRemade().GetReopened(),
		BegunAnew:  c.GetRemade().GetAnew(),
		RemadeLast: c.GetRemade().GetLast(),
	}
}

// facts is the run report: what each round found and how long it took.
func (j *job) facts(ctx context.Context, brief *pb.JobBrief, task *pb.Task) (*runReport, error) {
	record := brief.GetRecord()
	r := &runReport{
		SchemaVersion: 1, Job: j.id, Name: record.GetName(), Kind: record.GetKind(),
		ModelSHA256: hex.EncodeToString(brief.GetModel().GetSha256()),
		Counters:    countersFrom(record.GetCounters()),
		Metrics:     []jobs.Metric{}, Integrity: j.integrity(),
	}
	course, err := j.course(ctx, j.in(task), brief.GetCourse())
	if err != nil {
		return nil, err
	}
	r.Timeline = report.TimelineOf(record, course)
	modelAt := int64(0)
	for _, round := range record.GetRounds() {
		modelAt = round.GetFinishedUnixMs()
		r.Rounds = append(r.Rounds, origin.ReportRound{
			Round: round.GetRound(), Phase: round.GetPhase(), Leaves: round.GetLeaves(),
			Seconds: seconds(round.GetFinishedUnixMs() - round.GetStartedUnixMs()),
		})
		r.Seconds = seconds(round.GetFinishedUnixMs() - record.GetSubmittedUnixMs())
		found, err := j.metrics(ctx, j.madeBy(round.GetRound()), round.GetMetrics())
		if err != nil {
			return nil, err
		}
		r.Metrics = origin.AppendNew(r.Metrics, found)
	}
	r.Audit = auditFrom(j.id, brief.GetAudit(), modelAt)
	r.Metrics, r.Warnings = origin.TakeWarnings(r.Metrics)
	if r.Audit != nil && r.Audit.Failed > 0 {
		r.Warnings = append(r.Warnings, origin.AuditsWarning+r.Audit.Says)
	}
	if err := r.takeRecords(); err != nil {
		return nil, err
	}
	return r, r.takeEmitted()
}

// encode writes the report for people and programs.
func (r *runReport) encode() ([]byte, error) { return report.Encode(r) }

func seconds(ms int64) float64 { return float64(ms) / 1000 }

func (j *job) metrics(ctx context.Context, by made, ref *pb.ObjectRef) ([]jobs.Metric, error) {
	if ref == nil {
		return nil, nil
	}
	data, err := j.w.get(ctx, by, ref)
	if err != nil {
		return nil, err
	}
	var metrics []jobs.Metric
	if err := json.Unmarshal(data, &metrics); err != nil {
		return nil, fmt.Errorf("read a round's metrics: %w", err)
	}
	return metrics, nil
}
