package state

import (
	"crypto/sha256"
	"errors"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Summary is a job's audits as they cross the wire.
func (au *Auditing) Summary() *pb.AuditSummary {
	a := &pb.AuditSummary{
		SharePpm: au.PPM, Drawn: au.Counts.Drawn, Agreed: au.Counts.Agreed, Waived: au.Counts.Waived,
		Disputed: au.Counts.Disputed, Repeated: au.Counts.Repeated, Pending: uint64(au.Pending()),
		Nodes: au.Counts.Nodes, Again: au.Counts.Again, OtherSets: au.Counts.OtherSets, Failed: au.Counts.Failed,
		SelfChecked: au.Counts.SelfChecked, SpentUs: au.Counts.SpentUs, WorkUs: au.Counts.WorkUs,
		EndedUnixMs: au.Counts.EndedAt, WaivedTasks: au.WaivedTasks,
	}
	for _, w := range au.Auditors {
		a.Auditors = append(a.Auditors, &pb.Auditor{
			Id: w.WorkerID, Name: w.Worker, Kernels: w.Kernels, Tasks: w.Tasks, OtherSets: w.OtherSets,
		})
	}
	for _, c := range au.Convicted {
		a.Convicted = append(a.Convicted, c.Proto())
	}
	return a
}

// Proto is the conviction as it crosses the wire.
func (c Conviction) Proto() *pb.ConvictedWorker {
	return &pb.ConvictedWorker{Id: c.WorkerID, Name: c.Worker, Task: c.Task, AtUnixMs: c.At, JobId: c.JobID,
		Than: c.Than}
}

func convictionFrom(c *pb.ConvictedWorker) Conviction {
	return Conviction{
		WorkerID: c.GetId(), Worker: c.GetName(), Task: c.GetTask(), JobID: c.GetJobId(), Than: c.GetThan(),
		At: c.GetAtUnixMs(),
	}
}

// record adds what a job's audits need to the job's record; the pending ones have records of their own.
func (au *Auditing) record(record *pb.JobRecord) {
	record.Audit = au.Summary()
	record.Audit.Pending, record.Audit.SharePpm = 0, 0
	record.Makers, record.ModelMakers = au.makers, au.modelMakers
	record.PlanMaker, record.PlanVerified = au.planMaker, au.planVerified
}

// auditingFrom reads what record wrote.
func auditingFrom(record *pb.JobRecord) Auditing {
	a := record.GetAudit()
	au := Auditing{
		PPM: record.GetSpec().GetAuditPpm(),
		Counts: AuditCounts{
			Drawn: a.GetDrawn(), Agreed: a.GetAgreed(), Waived: a.GetWaived(), Disputed: a.GetDisputed(),
			Repeated: a.GetRepeated(), Nodes: a.GetNodes(), Again: a.GetAgain(), OtherSets: a.GetOtherSets(),
			Failed: a.GetFailed(), SelfChecked: a.GetSelfChecked(), SpentUs: a.GetSpentUs(), WorkUs: a.GetWorkUs(),
			EndedAt: a.GetEndedUnixMs(),
		},
		WaivedTasks: a.GetWaivedTasks(), makers: record.GetMakers(), modelMakers: record.GetModelMakers(),
		planMaker: record.GetPlanMaker(), planVerified: record.GetPlanVerified(),
	}
	for _, w := range a.GetAuditors() {
		au.Auditors = append(au.Auditors, Auditor{
			WorkerID: w.GetId(), Worker: w.GetName(), Kernels: w.GetKernels(), Tasks: w.GetTasks(),
			OtherSets: w.GetOtherSets(),
		})
	}
	for _, c := range a.GetConvicted() {
		au.Convicted = append(au.Convicted, convictionFrom(c))
	}
	return au
}

func (a *Audit) record(jobID string) *pb.AuditRecord {
	r := &pb.AuditRecord{
		Id: &pb.TaskID{
			JobId: jobID, Round: a.Round, Kind: a.Kind, Tree: a.Tree, Level: uint32(a.Node.Level),
			Index: uint32(a.Node.Index),
		},
		Phase: a.Phase, State: a.State.Proto(), StateRound: a.Base, TreeLeaves: a.TreeLeaves, Pieces: a.PieceRecords(),
		Carries: a.CarryRecords(), Makers: a.Makers, Whole: a.Whole,
	}
	for _, o := range a.Opinions {
		r.Opinions = append(r.Opinions, o.record())
	}
	return r
}

func (o Opinion) record() *pb.Opinion {
	r := &pb.Opinion{
		WorkerId: o.WorkerID, Worker: o.Worker, Kernels: o.Kernels, Sum: o.Sum[:], Basis: o.Basis[:],
		AgainKernels: o.AgainKernels,
	}
	if o.Repeated() {
		r.Again = o.Again[:]
	}
	return r
}

// opinionFrom reads what record wrote.
func opinionFrom(r *pb.Opinion) (Opinion, error) {
	if len(r.GetSum()) != sha256.Size || len(r.GetBasis()) != sha256.Size {
		return Opinion{}, errors.New("an audit with an opinion of nothing")
	}
	o := Opinion{
		WorkerID: r.GetWorkerId(), Worker: r.GetWorker(), Kernels: r.GetKernels(), Sum: [32]byte(r.GetSum()),
		Basis: [32]byte(r.GetBasis()), AgainKernels: r.GetAgainKernels(),
	}
	switch len(r.GetAgain()) {
	case 0: // Again stays zero, which is the digest of no result
	case sha256.Size:
		o.Again = [32]byte(r.GetAgain())
	default:
		return Opinion{}, errors.New("an audit with half an opinion")
	}
	return o, nil
}

// PieceRecords are what the task folds, as they cross the wire.
func (a *Audit) PieceRecords() (pieces []*pb.Piece) {
	for _, p := range a.Pieces {
		pieces = append(pieces, &pb.Piece{Tree: p.Tree, Level: uint32(p.Node.Level), Index: uint32(p.Node.Index),
			Object: p.Object.Proto()})
	}
	return pieces
}

// CarryRecords are the carries that the task reads, as they cross the wire.
func (a *Audit) CarryRecords() (carries []*pb.CarryPiece) {
	for _, c := range a.Carries {
		carries = append(carries, &pb.CarryPiece{Tree: c.Tree, First: c.First, End: c.End, Object: c.Object.Proto()})
	}
	return carries
}

// takeAudit reads what record wrote.
func (in *recordReader) takeAudit(r *pb.AuditRecord) error {
	id := r.GetId()
	if in.job == nil || in.job.ID != id.GetJobId() || len(r.GetOpinions()) == 0 {
		return errors.New("an audit of no job, or without a result")
	}
	a := &Audit{
		Kind: id.GetKind(), Round: id.GetRound(), Tree: id.GetTree(), Node: nodeFrom(id),
		Phase: r.GetPhase(), Base: r.GetStateRound(), TreeLeaves: r.GetTreeLeaves(), Makers: r.GetMakers(),
		Whole: r.GetWhole(),
	}
	a.State, _ = refFrom(r.GetState())
	for _, p := range r.GetPieces() {
		object, _ := refFrom(p.GetObject())
		a.Pieces = append(a.Pieces, Commit{Tree: p.GetTree(), Node: nodeFrom(p), Object: object})
	}
	for _, c := range r.GetCarries() {
		object, _ := refFrom(c.GetObject())
		a.Carries = append(a.Carries, Carry{Tree: c.GetTree(), First: c.GetFirst(), End: c.GetEnd(), Object: object})
	}
	for _, o := range r.GetOpinions() {
		opinion, err := opinionFrom(o)
		if err != nil {
			return err
		}
		a.Opinions = append(a.Opinions, opinion)
	}
	in.job.Audits.put(a)
	return nil
}
