package origin

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// provedJob is a job over an object with labels and ids, cut into 2 shards, that began from a model; and what it tells.
func provedJob(t testing.TB, rounds int) (Proved, *Provenance, *Report) {
	t.Helper()
	spec := protocol.JobSpec{Kind: "KMeans", Metadata: protocol.Metadata{Name: "n"}, Spec: protocol.Spec{
		Input: protocol.Input{URI: "mem://m/x/", Format: "csv", ShardBytes: 1000}, Model: "mem://m/model"}}
	result, err := spec.ResultHash()
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := spec.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	object := func(key string) []dataset.Object { return []dataset.Object{{Key: key, Size: 3, ETag: "e"}} }
	inputs := &planned.Inputs{Shards: [][]dataset.Shard{make([]dataset.Shard, 2)}, Manifests: []dataset.Manifest{
		{Objects: object("x"), Labels: object("y"), IDs: object("i")}}, Model: planned.PinModel("mem://m/model", nil)}
	m := &proof.Manifest{Job: "j-1", Kept: proof.States, Model: proof.File{SHA256: proof.Digest{9}, Size: 9},
		Spec: proof.File{SHA256: proof.DigestOf(canonical)}}
	p := &Provenance{Job: "j-1", Spec: canonical, SpecHash: m.Spec.SHA256.String(), ResultHash: result,
		Model:        m.Model,
		DataSet:      DataSetOf(inputs.Manifests[0], spec.Spec.Input, 2),
		InitialModel: planned.PinModel("mem://m/model", nil), Workers: []string{"w"}}
	r := &Report{Job: "j-1", Name: "n", Kind: "KMeans", ModelSHA256: m.Model.SHA256.String(),
		Integrity: IntegrityOf(inputs.Manifests, []protocol.Input{spec.Spec.Input})}
	known := Proved{Manifest: m, Spec: &spec, Inputs: inputs}
	for i := range rounds {
		m.Rounds = append(m.Rounds, proof.Round{Round: int64(i + 1), Phase: fmt.Sprint("p", i), Leaves: int64(i + 2)})
		known.Records = append(known.Records, &proof.Record{State: proof.Digest{1, byte(i)}, StateSize: int64(i)})
		round := Round{Round: uint32(i + 1), Phase: fmt.Sprint("p", i), Leaves: uint64(i + 2), State: m.Model,
			Finished: "t"}
		if i+1 < rounds {
			round.State = proof.File{SHA256: proof.Digest{1, byte(i + 1)}, Size: int64(i + 1)}
		}
		p.Rounds = append(p.Rounds, round)
		r.Rounds = append(r.Rounds, ReportRound{Round: round.Round, Phase: round.Phase, Leaves: round.Leaves})
	}
	p.Proof = SummaryOf(m, proof.File{SHA256: proof.Digest{8}})
	r.Proof = SummaryOf(m, proof.File{SHA256: proof.Digest{8}})
	return known, p, r
}

// pathsOf are the files and paths of what differs.
func pathsOf(t testing.TB, k Proved, p *Provenance, r *Report) (paths []string) {
	t.Helper()
	found, err := k.Compare(p, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range found {
		paths = append(paths, m.File+" "+m.Path)
	}
	return paths
}

// Each field that follows from the proof is found where it is changed, by its path; times, builds and workers are not.
func TestChangedFieldsAreFound(t *testing.T) {
	for path, change := range map[string]func(*Provenance, *Report){
		"": func(p *Provenance, r *Report) {
			p.Workers, p.Build, p.Started, p.Rounds[0].Finished, r.Rounds[1].Seconds = nil, "b", "t", "t", 9
			r.Warnings, r.Metrics = []string{"w"}, []jobs.Metric{jobs.CountMetric("x", 1)}
		},
		"provenance.json job":                    func(p *Provenance, _ *Report) { p.Job = "j-2" },
		"provenance.json spec_sha256":            func(p *Provenance, _ *Report) { p.SpecHash = "00" },
		"provenance.json result_sha256":          func(p *Provenance, _ *Report) { p.ResultHash = "00" },
		"provenance.json model.size":             func(p *Provenance, _ *Report) { p.Model.Size++ },
		"provenance.json manifest.sha256":        func(p *Provenance, _ *Report) { p.Manifest.SHA256[0]++ },
		"provenance.json plan.sha256":            func(p *Provenance, _ *Report) { p.Plan.SHA256[0]++ },
		"provenance.json shards":                 func(p *Provenance, _ *Report) { p.Shards++ },
		"provenance.json object_count":           func(p *Provenance, _ *Report) { p.ObjectCount++ },
		"provenance.json objects[0].key":         func(p *Provenance, _ *Report) { p.Objects[0].Key = "z" },
		"provenance.json objects[0].integrity":   func(p *Provenance, _ *Report) { p.Objects[0].Integrity = "" },
		"provenance.json labels[0].etag":         func(p *Provenance, _ *Report) { p.Labels[0].ETag = "f" },
		"provenance.json ids[0].rows":            func(p *Provenance, _ *Report) { p.IDs[0].Rows = 1 },
		"provenance.json ids[1].key":             func(p *Provenance, _ *Report) { p.IDs = append(p.IDs, p.IDs[0]) },
		"provenance.json queries.shards":         func(p *Provenance, _ *Report) { p.Queries = &DataSet{} },
		"provenance.json initial_model.uri":      func(p *Provenance, _ *Report) { p.InitialModel.URI = "mem://m/x" },
		"provenance.json initial_model.sha256":   func(p *Provenance, _ *Report) { p.InitialModel.SHA256 = "00" },
		"provenance.json rounds[0].phase":        func(p *Provenance, _ *Report) { p.Rounds[0].Phase = "q" },
		"provenance.json rounds[1].leaves":       func(p *Provenance, _ *Report) { p.Rounds[1].Leaves++ },
		"provenance.json rounds[0].state.sha256": func(p *Provenance, _ *Report) { p.Rounds[0].State.SHA256[3]++ },
		"provenance.json rounds[1].state.size":   func(p *Provenance, _ *Report) { p.Rounds[1].State.Size++ },
		"provenance.json proof.root":             func(p *Provenance, _ *Report) { p.Proof.Root[0]++ },
		"provenance.json proof.rounds":           func(p *Provenance, _ *Report) { p.Proof.Rounds++ },
		"provenance.json proof.leaves":           func(p *Provenance, _ *Report) { p.Proof.Leaves++ },
		"provenance.json proof.states":           func(p *Provenance, _ *Report) { p.Proof.States++ },
		"report.json job":                        func(_ *Provenance, r *Report) { r.Job = "j-2" },
		"report.json name":                       func(_ *Provenance, r *Report) { r.Name = "m" },
		"report.json kind":                       func(_ *Provenance, r *Report) { r.Kind = "Perceptron" },
		"report.json model_sha256":               func(_ *Provenance, r *Report) { r.ModelSHA256 = "00" },
		"report.json rounds[1].round":            func(_ *Provenance, r *Report) { r.Rounds[1].Round-- },
		"report.json rounds[0].leaves":           func(_ *Provenance, r *Report) { r.Rounds[0].Leaves++ },
		"report.json rounds[0].round": func(_ *Provenance, r *Report) {
			// The report tells that the job began anew, and provenance.json does not.
			r.Rounds[0].Round, r.Rounds[1].Round = 8, 9
		},
		"report.json integrity[0].verified": func(_ *Provenance, r *Report) { r.Integrity[0].Verified = 9 },
		"report.json proof.kept":            func(_ *Provenance, r *Report) { r.Proof.Kept = proof.Full },
	} {
		known, p, r := provedJob(t, 2)
		change(p, r)
		found := pathsOf(t, known, p, r)
		if path == "" && len(found) > 0 || path != "" && !slices.Contains(found, path) {
			t.Errorf("%q was changed: found %q", path, found)
		}
	}
}

// Of what is not known nothing is compared: of the input, the spec, the records and the report.
func TestLittleIsKnown(t *testing.T) {
	known, p, r := provedJob(t, 2)
	known.Inputs, known.Records = nil, nil
	p.Shards, p.InitialModel.SHA256, p.Rounds[0].State.Size = 7, "00", 7
	if found := pathsOf(t, known, p, nil); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	p.InitialModel.URI = "mem://m/x"
	if found := pathsOf(t, known, p, r); !slices.Equal(found, []string{"provenance.json initial_model.uri"}) {
		t.Errorf("found %q", found)
	}
	known.Spec = nil
	if found := pathsOf(t, known, p, r); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

// The newest 256 rounds are listed, all of them; a job that began anew lists older ones before, and counts on.
func TestRoundsThatAreListed(t *testing.T) {
	shift := func(by int) func(*Provenance) {
		return func(p *Provenance) {
			for i := range p.Rounds {
				p.Rounds[i].Round += uint32(by)
			}
		}
	}
	with := func(change func(*Provenance), before []Round) func(*Provenance) {
		return func(p *Provenance) {
			change(p)
			p.Rounds = append(slices.Clone(before), p.Rounds...)
		}
	}
	older := []Round{{Round: 1, Phase: "p0", Leaves: 2}, {Round: 2, Phase: "lost", Leaves: 2}}
	for name, c := range map[string]struct {
		rounds int
		change func(*Provenance)
		right  bool
	}{
		"all":                  {256, func(*Provenance) {}, true},
		"the newest":           {260, func(p *Provenance) { p.Rounds = p.Rounds[4:] }, true},
		"too many":             {260, func(*Provenance) {}, false},
		"too few":              {260, func(p *Provenance) { p.Rounds = p.Rounds[5:] }, false},
		"the oldest":           {260, func(p *Provenance) { p.Rounds = p.Rounds[:256] }, false},
		"without the first":    {3, func(p *Provenance) { p.Rounds = p.Rounds[1:] }, false},
		"without the last":     {3, func(p *Provenance) { p.Rounds = p.Rounds[:2] }, false},
		"none":                 {3, func(p *Provenance) { p.Rounds = nil }, false},
		"one more":             {3, func(p *Provenance) { p.Rounds = append(p.Rounds, p.Rounds[2]) }, false},
		"begun anew":           {3, shift(2), true},
		"begun anew, of 2":     {3, with(shift(2), older), true},
		"begun anew, too many": {256, with(shift(2), older), false},
		"another beginning":    {3, with(shift(0), older), false},
		"a gap":                {3, func(p *Provenance) { shift(2)(p); p.Rounds[1].Round-- }, false},
	} {
		known, p, _ := provedJob(t, c.rounds)
		c.change(p)
		if found := pathsOf(t, known, p, nil); (len(found) == 0) != c.right {
			t.Errorf("%s: found %.300q", name, found)
		}
	}
}

// Metrics, warnings and files are those of the steps, each once, in order; a report of fewer rounds has those of the
// newest, and one that began anew may have more.
func TestCompareFound(t *testing.T) {
	warn := jobs.Metric{Name: jobs.WarningsMetric, Value: []byte(`["w"]`)}
	count, score := jobs.CountMetric("n", 1), jobs.Metric{Name: "evaluation", Value: []byte(`{ "a":0.5}`)}
	rounds := []Found{{Metrics: []jobs.Metric{count, warn}, Files: []jobs.File{{Name: "a"}}},
		{Metrics: []jobs.Metric{count, score}, Files: []jobs.File{{Name: "a"}, {Name: "b"}}}}
	honest := func() *Report {
		return &Report{Rounds: []ReportRound{{Round: 1}, {Round: 2}}, Metrics: []jobs.Metric{count, score},
			Warnings: []string{"w", "audits: 1"}, Files: []jobs.File{{Name: "a"}, {Name: "b"}}}
	}
	for path, change := range map[string]func(*Report){
		"":                   func(*Report) {},
		"metrics[0].name":    func(r *Report) { r.Metrics = r.Metrics[1:] },
		"metrics[1].value.a": func(r *Report) { r.Metrics[1].Value = []byte(`{"a":0.50}`) },
		"metrics[2].name":    func(r *Report) { r.Metrics = append(r.Metrics, warn) },
		// Paths and values are the same, or there are none.
		"metrics[1]":    func(r *Report) { r.Metrics[1].Value = []byte(`{"a":0.5,"b":[]}`) },
		"warnings[0]":   func(r *Report) { r.Warnings = r.Warnings[1:] },
		"warnings[2]":   func(r *Report) { r.Warnings = append(r.Warnings, "x") },
		"files[1].name": func(r *Report) { r.Files = r.Files[:1] },
		"files[0].size": func(r *Report) { r.Files[0].Size = 1 },
	} {
		r := honest()
		change(r)
		found, err := r.CompareFound(rounds, "steps")
		at := func(m Mismatch) bool { return m.File == ReportFile && m.Path == path && m.By == "steps" }
		if err != nil || path == "" && len(found) > 0 || path != "" && !slices.ContainsFunc(found, at) {
			t.Errorf("%q: %v, %v", path, found, err)
		}
	}
	newest := honest()
	newest.Rounds, newest.Warnings = newest.Rounds[1:], nil
	anew := honest()
	anew.Rounds, anew.Metrics = []ReportRound{{Round: 7}, {Round: 8}}, append(anew.Metrics, jobs.CountMetric("n", 2))
	for _, r := range []*Report{newest, anew} {
		if found, err := r.CompareFound(rounds, "steps"); err != nil || len(found) > 0 {
			t.Errorf("%+v: %v, %v", r, found, err)
		}
	}
	anew.Metrics = anew.Metrics[1:]
	if found, err := anew.CompareFound(rounds, "steps"); err != nil || len(found) == 0 {
		t.Errorf("a metric is missing: %v, %v", found, err)
	}
}

// Both files are refused where they give a name twice or in other letters, are of no job or too large.
func TestFilesThatAreRefused(t *testing.T) {
	for text, want := range map[string]bool{
		`{"job":"j-1"}`: true, `{"job":"j-1","Job":"j-1"}`: false, `{"job":"j-1","job":"j-1"}`: false,
		`{"job":"../x"}`: false, `{}`: false, `[]`: false, `{"job":"j-1","model":{"sha256":"00"}}`: false,
		`{"job":"j-1","spec":{"a":1,"A":1}}`: true, `{"job":"j-1"} {}`: false,
		`{"Job":"j-1"}`: false, `{"job":"j-1","ſhards":1}`: false,
	} {
		if _, err := ReadProvenance([]byte(text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]bool{
		`{"metrics":[{"name":"x","value":{"a":1,"A":1}}]}`: true, `{"rounds":[{"round":1,"Round":1}]}`: false,
		`{"metrics":[{"name":"x","value":1,"Value":2}]}`:   false,
		`{"metrics":[{"name":"x","value":{"a":1,"a":1}}]}`: false,
		`{"job":1}`: false,
	} {
		if _, err := ReadReport([]byte(text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	large := append([]byte(`{"job":"j-1"}`), bytes.Repeat([]byte(" "), MaxBytes)...)
	if _, err := ReadProvenance(large); err == nil {
		t.Errorf("read %d bytes", len(large))
	}
}
