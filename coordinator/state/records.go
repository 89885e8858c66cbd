package state

import (
	"errors"
	"io"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// teeReader reads single bytes too, as the varint decoder wants, and shows all it read to w.
type teeReader struct {
	r io.Reader
	w io.Writer
}

func (t *teeReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.w.Write(p[:n])
	return n, err
}

func (t *teeReader) ReadByte() (byte, error) {
	var one [1]byte
	_, err := io.ReadFull(t, one[:])
	return one[0], err
}

func (j *Job) record() *pb.JobRecord {
	record := &pb.JobRecord{
		Spec: &pb.SubmitJob{
			Id: j.ID, Name: j.Name, Kind: j.Kind, SpecJson: j.SpecJSON, SpecHash: j.SpecHash, ResultHash: j.ResultHash,
			Priority: int32(j.Priority), MaxWorkers: uint32(j.MaxWorkers), Needs: j.Needs,
			KeepMs: j.Keep, ModelUri: j.ModelURI, ModelJob: j.ModelJob, ModelReference: j.ModelReference,
			SubmittedBy: j.SubmittedBy,
			AuditPpm:    j.Audits.PPM,
		},
		Number: j.Number, State: j.Stage,
		SubmittedUnixMs: j.SubmittedAt, StartedUnixMs: j.StartedAt, FinishedUnixMs: j.FinishedAt,
		Manifest: j.Manifest.Proto(), Plan: j.Plan.Proto(),
		Model: j.Model.Proto(), Outputs: j.OutputFiles(), Failure: j.Failure.Proto(), Counters: j.Counters.Proto(),
		Kernels: j.Kernels, Workers: j.Workers,
		ScheduleId: j.ScheduleID, TickUnixMs: j.Tick, ByHand: j.ByHand, Swept: j.Swept, Course: j.Course.Proto(),
	}
	j.Rounds.record(record)
	j.Audits.record(record)
	return record
}

// Records are the finished rounds as they cross the wire.
func (rs *Rounds) Records() []*pb.RoundRecord { return roundRecords(rs.Finished) }

// RecordsSince are those of the present beginning.
func (rs *Rounds) RecordsSince() []*pb.RoundRecord { return roundRecords(rs.Since()) }

func roundRecords(rounds []RoundRecord) []*pb.RoundRecord {
	var records []*pb.RoundRecord
	for _, r := range rounds {
		records = append(records, &pb.RoundRecord{
			Round: r.Number, Phase: r.Phase, Leaves: r.Leaves, StartedUnixMs: r.StartedAt,
			FinishedUnixMs: r.FinishedAt, State: r.State.Proto(), Metrics: r.Metrics.Proto(), Audited: r.Audited,
		})
	}
	return records
}

// OutputFiles are the job's outputs as they cross the wire.
func (j *Job) OutputFiles() []*pb.OutputFile {
	var files []*pb.OutputFile
	for _, o := range j.Outputs {
		files = append(files, &pb.OutputFile{Name: o.Name, Uri: o.URI, Sha256: o.Ref.SHA256[:], Size: o.Ref.Size})
	}
	return files
}

// Proto is the failure as it crosses the wire; nil for nil.
func (f *Failure) Proto() *pb.Failure {
	if f == nil {
		return nil
	}
	class := map[protocol.Class]pb.FailureClass{
		protocol.ClassTask:           pb.FailureClass_FAILURE_CLASS_TASK,
		protocol.ClassInput:          pb.FailureClass_FAILURE_CLASS_INPUT,
		protocol.ClassInfrastructure: pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE,
	}[f.Class]
	return &pb.Failure{Code: f.Code, Class: class, Message: f.Message, Task: f.Task, Worker: f.Worker}
}

// Proto is the counters as they cross the wire.
func (c Counters) Proto() *pb.Counters {
	return &pb.Counters{
		Committed: c.Committed, Duplicates: c.Duplicates, Superseded: c.Superseded, Violations: c.Violations,
		SpeculativeCopies: &pb.SpeculativeCopies{
			Launched: c.SpeculativeLaunched, Won: c.SpeculativeWon, Wasted: c.SpeculativeWasted,
		},
		Remade: c.Remade.proto(),
	}
}

func countersFrom(c *pb.Counters) Counters {
	b := c.GetSpeculativeCopies()
	return Counters{
		Committed: c.GetCommitted(), Duplicates: c.GetDuplicates(), Superseded: c.GetSuperseded(),
		Violations:          c.GetViolations(),
		SpeculativeLaunched: b.GetLaunched(), SpeculativeWon: b.GetWon(), SpeculativeWasted: b.GetWasted(),
		Remade: remadeFrom(c.GetRemade()),
	}
}

func jobFrom(r *pb.JobRecord) *Job {
	spec := r.GetSpec()
	job := &Job{
		ID: spec.GetId(), Name: spec.GetName(), Kind: spec.GetKind(), Number: r.GetNumber(),
		SpecJSON: spec.GetSpecJson(), SpecHash: spec.GetSpecHash(), ResultHash: spec.GetResultHash(),
		Stage: r.GetState(), SubmittedAt: r.GetSubmittedUnixMs(), StartedAt: r.GetStartedUnixMs(),
		FinishedAt: r.GetFinishedUnixMs(),
		Counters:   countersFrom(r.GetCounters()),
		Kernels:    r.GetKernels(), Workers: r.GetWorkers(),
		ScheduleID: r.GetScheduleId(), Tick: r.GetTickUnixMs(), ByHand: r.GetByHand(),
		Priority: int(spec.GetPriority()), MaxWorkers: int(spec.GetMaxWorkers()), Needs: spec.GetNeeds(),
		Keep: spec.GetKeepMs(), ModelURI: spec.GetModelUri(), ModelJob: spec.GetModelJob(),
		ModelReference: spec.GetModelReference(), Swept: r.GetSwept(),
		SubmittedBy: spec.GetSubmittedBy(),
	}
	job.Manifest, _ = refFrom(r.GetManifest())
	job.Plan, _ = refFrom(r.GetPlan())
	job.Model, _ = refFrom(r.GetModel())
	job.Course, _ = refFrom(r.GetCourse())
	if r.GetFailure() != nil {
		failure := failureFrom(r.GetFailure())
		job.Failure = &failure
	}
	job.Outputs, job.Rounds, job.Audits = outputsFrom(r.GetOutputs()), roundsFrom(r), auditingFrom(r)
	return job
}

func finishedFrom(records []*pb.RoundRecord) []RoundRecord {
	var rounds []RoundRecord
	for _, r := range records {
		round := RoundRecord{
			Number: r.GetRound(), Phase: r.GetPhase(), Leaves: r.GetLeaves(),
			StartedAt: r.GetStartedUnixMs(), FinishedAt: r.GetFinishedUnixMs(), Audited: r.GetAudited(),
		}
		round.State, _ = refFrom(r.GetState())
		round.Metrics, _ = refFrom(r.GetMetrics())
		rounds = append(rounds, round)
	}
	return rounds
}

func outputsFrom(files []*pb.OutputFile) []Output {
	var outputs []Output
	for _, f := range files {
		ref, _ := refFrom(&pb.ObjectRef{Sha256: f.GetSha256(), Size: f.GetSize()})
		outputs = append(outputs, Output{Name: f.GetName(), URI: f.GetUri(), Ref: ref})
	}
	return outputs
}

// roundOf is the round of the job being read that a record of a commit or a carry belongs to.
func (in *recordReader) roundOf(last bool) *Round {
	if last {
		return &in.job.Rounds.last
	}
	return &in.job.Rounds.Open
}

func (in *recordReader) takeCommit(r *pb.CommitRecord, last bool) error {
	piece := r.GetPiece()
	object, ok := refFrom(piece.GetObject())
	node := protocol.Node{Level: int(piece.GetLevel()), Index: int(piece.GetIndex())}
	if in.job == nil {
		return errors.New("a commit of no job")
	}
	round := in.roundOf(last)
	if !ok || int(piece.GetTree()) >= len(round.Trees) || !round.Tree(piece.GetTree()).Valid(node) {
		return errors.New("a commit of no node")
	}
	*round = round.commit(Commit{Tree: piece.GetTree(), Node: node, Object: object, Worker: r.GetWorker(),
		WorkerID: r.GetWorkerId(), Makers: r.GetMakers()})
	return nil
}

func (in *recordReader) takeCarry(r *pb.CarryRecord, last bool) error {
	piece := r.GetPiece()
	object, ok := refFrom(piece.GetObject())
	if in.job == nil || !ok {
		return errors.New("a carry of no leaf")
	}
	carry := Carry{Tree: piece.GetTree(), First: piece.GetFirst(), End: piece.GetEnd(), Object: object}
	round := in.roundOf(last)
	if last && !round.known() {
		return errors.New("a carry of no round")
	}
	if !r.GetKept() {
		*round = round.keep(carry)
		return nil
	}
	round.Kept, _, _ = round.Kept.Insert(leafKey(carry.Tree, int(carry.First)), carry)
	return nil
}
