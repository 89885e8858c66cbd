package show

import (
	"github.com/gram-compute/gram/protocol/gramv1"
)

// Sweep is what a sweep did, or would do, as -o json prints it.
type Sweep struct {
	SchemaVersion  int         `json:"schema_version"`
	DryRun         bool        `json:"dry_run"`
	Retired        []string    `json:"retired"`
	Held           []heldView  `json:"held"`
	Objects        uint64      `json:"objects"`
	Bytes          uint64      `json:"bytes"`
	Jobs           []sweptView `json:"jobs"`
	Uploads        uint64      `json:"uploads"`
	UnknownObjects uint64      `json:"unknown_objects"`
	UnknownBytes   uint64      `json:"unknown_bytes"`
	UnknownJobs    []string    `json:"unknown_jobs"`
}

type heldView struct {
	Job string `json:"job"`
	By  string `json:"by"`
}

type sweptView struct {
	Job     string `json:"job"`
	Objects uint64 `json:"objects"`
	Bytes   uint64 `json:"bytes"`
}

// OfSweep converts the answer to a sweep.
func OfSweep(s *gramv1.SweepResponse, dry bool) Sweep {
	v := Sweep{SchemaVersion: SchemaVersion, DryRun: dry, Retired: append([]string{}, s.GetRetired()...),
		Held:    []heldView{},
		Objects: s.GetObjects(), Bytes: s.GetBytes(), Jobs: []sweptView{}, Uploads: s.GetUploads(),
		UnknownObjects: s.GetUnknownObjects(), UnknownBytes: s.GetUnknownBytes(), UnknownJobs: append([]string{},
			s.GetUnknownJobs()...)}
	for _, h := range s.GetHeld() {
		v.Held = append(v.Held, heldView{h.GetId(), h.GetBy()})
	}
	for _, j := range s.GetJobs() {
		v.Jobs = append(v.Jobs, sweptView{j.GetId(), j.GetObjects(), j.GetBytes()})
	}
	return v
}
