package worker

import (
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker/proofs"
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
	InitialModel *planned.Model    `json:"initial_model,omitempty"`
	Rounds       []roundProvenance `json:"rounds"`
	Proof        *proofs.Summary   `json:"proof,omitempty"`
	Kernels      []string          `json:"kernel_sets"`
	Workers      []string          `json:"workers"`
	Build        string            `json:"build"`
	Go           string            `json:"go"`
	Submitted    string            `json:"submitted"`
	Started      string            `json:"started"`
}

// inputProvenance is one data set as it was planned.
type inputProvenance struct {
	Shards      int                `json:"shards"`
	Objects     []objectProvenance `json:"objects"` // the first thousand
	ObjectCount int                `json:"object_count"`
	Labels      []objectProvenance `json:"labels,omitempty"` // the objects of labels_uri, the first thousand
	IDs         []objectProvenance `json:"ids,omitempty"`    // those of ids_uri
}

// objectProvenance is an object as it was planned, and whether what was read of it was verified.
type objectProvenance struct {
	dataset.Object
	Integrity string `json:"integrity"`
}

func (in *input) provenance() inputProvenance {
	objects, labels, ids := dataset.Integrity(in.manifest, in.spec)
	return inputProvenance{Shards: len(in.shards), Objects: objectsListed(in.manifest.Objects, objects),
		ObjectCount: len(objects),
		Labels:      objectsListed(in.manifest.Labels, labels),
		IDs:         objectsListed(in.manifest.IDs, ids)}
}

func objectsListed(objects []dataset.Object, integrity []string) []objectProvenance {
	listed := make([]objectProvenance, min(len(objects), maxObjectsListed))
	for i := range listed {
		listed[i] = objectProvenance{objects[i], integrity[i]}
	}
	return listed
}

// inputIntegrity counts the objects of a data set that were verified, and those that could not be, by reason in
// the order of the objects.
type inputIntegrity struct {
	DataSet       string       `json:"data_set"` // the field of the spec
	Objects       int          `json:"objects"`
	Verified      int          `json:"verified"`
	NotVerifiable []unverified `json:"not_verifiable,omitempty"`
}

type unverified struct {
	Why     string `json:"why"`
	Objects int    `json:"objects"`
	First   string `json:"first"`
}

func (j *job) integrity() []inputIntegrity {
	var all []inputIntegrity
	for i, in := range j.inputs {
		objects, labels, ids := dataset.Integrity(in.manifest, in.spec)
		all = append(all, countIntegrity(jobs.Source(i).String(), in.manifest.Objects, objects))
		if len(labels) > 0 {
			all = append(all, countIntegrity(jobs.Source(i).String()+".labels_uri", in.manifest.Labels, labels))
		}
		if len(ids) > 0 {
			all = append(all, countIntegrity(jobs.Source(i).String()+".ids_uri", in.manifest.IDs, ids))
		}
	}
	return all
}

func countIntegrity(name string, objects []dataset.Object, integrity []string) inputIntegrity {
	count := inputIntegrity{DataSet: name, Objects: len(objects)}
	for i, said := range integrity {
		why, no := strings.CutPrefix(said, "not verifiable: ")
		if !no {
			count.Verified++
			continue
		}
		at := slices.IndexFunc(count.NotVerifiable, func(u unverified) bool { return u.Why == why })
		if at < 0 {
			at = len(count.NotVerifiable)
			count.NotVerifiable = append(count.NotVerifiable, unverified{Why: why, First: objects[i].Key})
		}
		count.NotVerifiable[at].Objects++
	}
	return count
}

// text is a line of the page.
func (c inputIntegrity) text() string {
	text := fmt.Sprintf("%d of %d objects verified", c.Verified, c.Objects)
	if c.Objects == 1 {
		text = fmt.Sprintf("%d of 1 object verified", c.Verified)
	}
	for _, u := range c.NotVerifiable {
		text += fmt.Sprintf("; %d not verifiable: %s", u.Objects, u.Why)
	}
	return text
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
