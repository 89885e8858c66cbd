package origin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// Proved is what is known of a job from its proof. What is nil is not known, and what would follow from it is not
// compared; Manifest must be known.
type Proved struct {
	Manifest *proof.Manifest
	Spec     *protocol.JobSpec
	Inputs   *planned.Inputs
	Records  []*proof.Record // of all rounds
}

// Mismatch is a field of a file that is not what follows from other files.
type Mismatch struct {
	File  string
	Path  string // of the field; "" where the file is too large to say which
	Has   string // as JSON; "" where the field is absent; equal to Wants where the field is too large to show
	Wants string
	By    string // what it follows from
}

// String is a sentence, without its full stop.
func (m Mismatch) String() string {
	if m.Path == "" {
		return fmt.Sprintf("%s is not the file that follows from %s", m.File, m.By)
	}
	if m.Has == m.Wants {
		return fmt.Sprintf("%s does not have in the field %.200s what follows from %s", m.File, m.Path, m.By)
	}
	has, wants := m.Has, m.Wants
	if has == "" {
		has = "nothing"
	}
	if wants == "" {
		wants = "nothing"
	}
	return fmt.Sprintf("%s has %.200s in the field %.200s, and by %s it is %.200s", m.File, has, m.Path, m.By, wants)
}

// Compare compares what provenance.json and report.json tell of a job with what follows from its proof, and returns the
// fields that differ, in order of file and path. A report of nil is not compared. Times, workers, kernel sets, builds
// and counts of tasks do not follow from the proof, nor do rounds before the last beginning of a job that began anew.
func (k Proved) Compare(p *Provenance, r *Report) ([]Mismatch, error) {
	wanted := *p
	if err := k.fill(&wanted); err != nil {
		return nil, err
	}
	const by = "the proof"
	found, err := mismatches(ProvenanceFile, p, wanted, by)
	if err != nil || r == nil {
		return found, err
	}
	has := *r
	has.Metrics, has.Warnings, has.Files = nil, nil, nil // CompareFound compares these
	report := has
	k.fillReport(&report, &wanted)
	more, err := mismatches(ReportFile, has, report, by)
	return append(found, more...), err
}

// mismatches compares a file with what it should be.
func mismatches(file string, has, wants any, by string) ([]Mismatch, error) {
	left, err := json.Marshal(has)
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", file, err)
	}
	right, err := json.Marshal(wants)
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", file, err)
	}
	return Mismatches(file, left, right, by)
}

// maxFields bounds JSON whose fields are compared, in bytes. A job's own files are smaller: only a forged one is not.
// A field takes some 250 times the bytes of the shortest one.
const maxFields = 1 << 20

// Mismatches lists the fields of a file that are not those that it should have, in order of path.
func Mismatches(file string, has, wants []byte, by string) ([]Mismatch, error) {
	switch {
	case bytes.Equal(has, wants):
		return nil, nil
	case len(has) > maxFields:
		return []Mismatch{{File: file, By: by}}, nil
	}
	fields, err := Fields(has, wants)
	if errors.Is(err, errPaths) {
		return []Mismatch{{File: file, By: by}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", file, err)
	}
	var found []Mismatch
	for _, f := range fields {
		found = append(found, Mismatch{file, f.Path, f.Left, f.Right, by})
	}
	return found, nil
}

// fill sets the fields that follow from the proof.
func (k Proved) fill(p *Provenance) error {
	m := k.Manifest
	p.Job, p.SpecHash, p.Model, p.Manifest, p.Plan = m.Job, m.Spec.SHA256.String(), m.Model, m.Input, m.Plan
	if p.Proof != nil {
		p.Proof = SummaryOf(m, p.Proof.Manifest)
	}
	if k.Spec != nil {
		if err := k.fillFromSpec(p); err != nil {
			return err
		}
	}
	p.Rounds = rounds(p.Rounds, len(m.Rounds),
		func(number uint32, i int, told Round) Round {
			return Round{Round: number, Phase: m.Rounds[i].Phase, Leaves: uint64(m.Rounds[i].Leaves),
				State: k.made(i, told.State), Started: told.Started, Finished: told.Finished}
		})
	return nil
}

// fillFromSpec sets what follows from the spec and the input.
func (k Proved) fillFromSpec(p *Provenance) (err error) {
	if p.ResultHash, err = k.Spec.ResultHash(); err != nil {
		return err
	}
	spec := k.Spec.Spec
	if k.Inputs == nil {
		if p.InitialModel = initialModel(p.InitialModel, spec.Model); spec.Queries == nil {
			p.Queries = nil
		}
		return nil
	}
	p.InitialModel, p.Queries = k.Inputs.Model, nil
	for i, s := range specsOf(spec, k.Inputs) {
		set := DataSetOf(k.Inputs.Manifests[i], s, len(k.Inputs.Shards[i]))
		if i == 0 {
			p.DataSet = set
		} else {
			p.Queries = &set
		}
	}
	return nil
}

// initialModel is the model that a job began from as far as the spec tells it.
func initialModel(told *planned.Model, uri string) *planned.Model {
	if uri == "" {
		return nil
	}
	model := planned.Model{URI: uri}
	if told != nil {
		model.SHA256, model.Size = told.SHA256, told.Size
	}
	return &model
}

// made is the state that a round made; told where that is not known.
func (k Proved) made(i int, told proof.File) proof.File {
	switch {
	case i == len(k.Manifest.Rounds)-1:
		return k.Manifest.Model
	case i+1 < len(k.Records):
		return proof.File{SHA256: k.Records[i+1].State, Size: k.Records[i+1].StateSize}
	}
	return told
}

// fillReport sets the fields of a report that follow from the proof and from what provenance.json should be.
func (k Proved) fillReport(r *Report, p *Provenance) {
	m, told := k.Manifest, r.Rounds
	r.Job, r.ModelSHA256, r.Proof, r.Rounds = m.Job, m.Model.SHA256.String(), p.Proof, nil
	for i, round := range p.Rounds {
		listed := ReportRound{Round: round.Round, Phase: round.Phase, Leaves: round.Leaves}
		if i < len(told) {
			listed.Seconds = told[i].Seconds
		}
		r.Rounds = append(r.Rounds, listed)
	}
	if k.Spec == nil {
		return
	}
	r.Name, r.Kind = k.Spec.Metadata.Name, k.Spec.Kind
	if k.Inputs != nil {
		r.Integrity = IntegrityOf(k.Inputs.Manifests, specsOf(k.Spec.Spec, k.Inputs))
	}
}

// rounds returns the rounds that provenance.json should list where the proof has several: the newest MaxRounds. make
// makes one from its number, its index in the proof and what the file tells of it. A job that began anew also lists
// rounds of before, which are as told, and its numbers go on.
func rounds(told []Round, proved int, make func(number uint32, i int, told Round) Round) []Round {
	last := uint32(proved)
	if n := len(told); n > 0 {
		last = max(last, told[n-1].Round)
	}
	want := min(proved, MaxRounds)
	before := 0 // rounds of an earlier beginning
	if int64(last) > int64(proved) {
		before = min(max(0, len(told)-want), MaxRounds-want)
	}
	var list []Round
	for i := range before + want {
		var r Round
		if i < len(told) {
			r = told[i]
		}
		if i >= before {
			left := want - 1 - (i - before) // rounds after it
			r = make(last-uint32(left), proved-1-left, r)
		}
		list = append(list, r)
	}
	return list
}
