package worker

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report"
)

// integrity counts the objects that were verified.
func (j *job) integrity() []origin.Integrity {
	var manifests []dataset.Manifest
	var specs []protocol.Input
	for _, in := range j.inputs {
		manifests, specs = append(manifests, in.manifest), append(specs, in.spec)
	}
	return origin.IntegrityOf(manifests, specs)
}

// integrityText is a line of the page.
func integrityText(c origin.Integrity) string {
	text := fmt.Sprintf("%d of %d objects verified", c.Verified, c.Objects)
	if c.Objects == 1 {
		text = fmt.Sprintf("%d of 1 object verified", c.Verified)
	}
	for _, u := range c.NotVerifiable {
		text += fmt.Sprintf("; %d not verifiable: %s", u.Objects, u.Why)
	}
	return text
}

func (in *input) provenance() origin.DataSet {
	return origin.DataSetOf(in.manifest, in.spec, len(in.shards))
}

func (j *job) provenance(brief *pb.JobBrief) (origin.Provenance, error) {
	record := brief.GetRecord()
	spec, err := json.Marshal(j.spec)
	if err != nil {
		return origin.Provenance{}, fmt.Errorf("encode the spec: %w", err)
	}
	p := origin.Provenance{
		SchemaVersion: 1, Job: j.id, Spec: spec, SpecHash: brief.GetSpecHash(), ResultHash: brief.GetResultHash(),
		Model: fileOf(brief.GetModel()), Manifest: fileOf(brief.GetManifest()), Plan: fileOf(brief.GetPlan()),
		DataSet: j.inputs[jobs.Input].provenance(), InitialModel: j.model,
		Kernels: brief.GetKernels(), Workers: brief.GetWorkers(),
		Build: j.w.cfg.Build, Go: runtime.Version(),
		Submitted: report.Timestamp(record.GetSubmittedUnixMs()), Started: report.Timestamp(record.GetStartedUnixMs()),
	}
	if len(j.inputs) > int(jobs.Queries) {
		queries := j.inputs[jobs.Queries].provenance()
		p.Queries = &queries
	}
	for _, r := range record.GetRounds() {
		p.Rounds = append(p.Rounds, origin.Round{
			Round: r.GetRound(), Phase: r.GetPhase(), Leaves: r.GetLeaves(), State: fileOf(r.GetState()),
			Started: report.Timestamp(r.GetStartedUnixMs()), Finished: report.Timestamp(r.GetFinishedUnixMs()),
		})
	}
	return p, nil
}

// fileOf is an object by its content; zeros for none.
func fileOf(ref *pb.ObjectRef) proof.File {
	f := proof.File{Size: ref.GetSize()}
	copy(f.SHA256[:], ref.GetSha256())
	return f
}
