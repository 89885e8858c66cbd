package clustertest_test

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gram-compute/gram/attestation/mlbom"
	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/verify"
)

// told are the files that tell of a model, to be forged so that they agree.
type told struct {
	store      *mem.Store
	folder     string
	provenance *origin.Provenance
	report     *origin.Report
}

func readTold(t *testing.T, store *mem.Store, folder string) *told {
	t.Helper()
	f := &told{store: store, folder: folder}
	var err error
	if f.provenance, err = origin.ReadProvenance(read(t, store, folder+origin.ProvenanceFile)); err != nil {
		t.Fatal(err)
	}
	if f.report, err = origin.ReadReport(read(t, store, folder+origin.ReportFile)); err != nil {
		t.Fatal(err)
	}
	return f
}

// write writes the files, and the bill of materials that follows from them.
func (f *told) write(t *testing.T) {
	t.Helper()
	bill, err := mlbom.Of(f.provenance, f.report.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{mlbom.File: bill}
	for name, value := range map[string]any{origin.ProvenanceFile: f.provenance, origin.ReportFile: f.report} {
		if files[name], err = json.Marshal(value); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range files {
		if _, err := f.store.Put(t.Context(), f.folder+name, data); err != nil {
			t.Fatal(err)
		}
	}
}

// seal writes a manifest with its root, and the files so that they agree with it.
func (f *told) seal(t *testing.T, m *proof.Manifest) {
	t.Helper()
	m.Root = m.ComputeRoot()
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Put(t.Context(), f.folder+proof.ManifestFile, data); err != nil {
		t.Fatal(err)
	}
	summary := origin.SummaryOf(m, proof.File{SHA256: sha256.Sum256(data), Size: int64(len(data))})
	f.provenance.Proof, f.report.Proof = summary, summary
	f.provenance.Rounds, f.report.Rounds = nil, nil
	for i, r := range m.Rounds {
		round := origin.Round{Round: uint32(r.Round), Phase: r.Phase, Leaves: uint64(r.Leaves), State: m.Model}
		if i+1 < len(m.Rounds) {
			next, err := proof.ReadRecord(read(t, f.store, f.folder+proof.RoundFile(m.Rounds[i+1].Round)))
			if err != nil {
				t.Fatal(err)
			}
			round.State = proof.File{SHA256: next.State, Size: next.StateSize}
		}
		f.provenance.Rounds = append(f.provenance.Rounds, round)
		f.report.Rounds = append(f.report.Rounds,
			origin.ReportRound{Round: round.Round, Phase: r.Phase, Leaves: round.Leaves})
	}
	f.write(t)
}

// A trainer that seals the forgery itself, down to what the other files tell of it, gains nothing by leaving rounds or
// states out of the manifest.
func TestManifestsThatLeaveThingsOut(t *testing.T) {
	t.Parallel()
	store := provedStore(t)
	p := provedJobs[1]
	proveJobs(t, store, []provedJob{p}, proof.States)
	folder := protocol.OutputPrefix(p.id(proof.States))
	honest := read(t, store, folder+proof.ManifestFile)
	for says, forge := range map[string]func(*proof.Manifest){
		"it lists no round":            func(m *proof.Manifest) { m.Rounds = nil },
		"the state of round 3 is kept": func(m *proof.Manifest) { m.Rounds[2].State = false },
		"rounds[0] is round 2":         func(m *proof.Manifest) { m.Rounds = m.Rounds[1:] },
		"the job ends with it":         func(m *proof.Manifest) { m.Rounds = m.Rounds[:len(m.Rounds)-1] },
		"leaves":                       func(m *proof.Manifest) { m.Rounds[1].Leaves-- },
	} {
		m, err := proof.ReadManifest(honest)
		if err != nil {
			t.Fatal(err)
		}
		forge(m)
		f := readTold(t, store, folder)
		f.seal(t, m)
		r := checked(t, checkOf(store, p.id(proof.States)))
		if r.Verdict != verify.False || !strings.Contains(r.False[0].Says, says) {
			t.Errorf("%s: %s, %+v, %+v", says, r.Verdict, r.False, r.Missing)
		}
	}
}

// A report and provenance.json list as many rounds as the coordinator remembers.
func TestRoundsThatAreRemembered(t *testing.T) {
	if origin.MaxRounds != state.MaxRoundRecords {
		t.Errorf("%d rounds are expected, and %d remembered", origin.MaxRounds, state.MaxRoundRecords)
	}
}

// Figures, warnings and files of a report are those that the steps make, to the last digit, even where the other files
// agree with the forged ones.
func TestForgedFiguresAreFound(t *testing.T) {
	t.Parallel()
	store := provedStore(t)
	proveJobs(t, store, provedJobs, proof.Digests)
	metric := func(r *origin.Report, name, old, now string) {
		for i, m := range r.Metrics {
			if m.Name == name {
				r.Metrics[i].Value = []byte(strings.Replace(string(m.Value), old, now, 1))
			}
		}
	}
	for _, c := range []struct {
		job   provedJob
		forge func(*origin.Report)
		field string
	}{
		{provedJobs[2], func(r *origin.Report) { metric(r, "evaluation", `"accuracy": `, `"accuracy": 1`) }, ".accuracy"},
		{provedJobs[1], func(r *origin.Report) { r.Metrics = r.Metrics[1:] }, "metrics[0]"},
		{provedJobs[0], func(r *origin.Report) {
			r.Metrics = append(r.Metrics, jobs.CountMetric("more", 1))
		}, ".name"},
		{provedJobs[0], func(r *origin.Report) { r.Warnings = []string{"none"} }, "warnings[0]"},
		{provedJobs[4], func(r *origin.Report) { r.Files = r.Files[1:] }, "files[0]"},
	} {
		folder := protocol.OutputPrefix(c.job.id(proof.Digests))
		f, honest := readTold(t, store, folder), readTold(t, store, folder)
		f.write(t)
		wantVerified(t, checked(t, checkOf(store, c.job.id(proof.Digests))))
		c.forge(f.report)
		f.write(t)
		r := checked(t, checkOf(store, c.job.id(proof.Digests)))
		if r.Verdict != verify.False || r.False[0].File != origin.ReportFile || r.False[0].Of != verify.OfOutput ||
			!strings.HasPrefix(r.Says[0], "Files beside the model are not what repeating the job gives.") ||
			!strings.Contains(r.False[0].Says, c.field) || !strings.Contains(r.False[0].Says, "the repeated steps") {
			t.Errorf("%s: %s is %s: %+v, %+v", c.field, c.job.kind, r.Verdict, r.False, r.Missing)
		}
		honest.write(t)
	}
}
