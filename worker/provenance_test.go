package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// integrityJob is a job over four objects: verified, too long, without a checksum and too long again; and over queries
// with labels, all verified but one of the labels.
func integrityJob() *job {
	const digest = "md5:d41d8cd98f00b204e9800998ecf8427e"
	const long = 1 << 30
	points := &input{spec: protocol.Input{Format: "csv", ShardBytes: 1000},
		manifest: dataset.Manifest{Objects: []dataset.Object{
			{Key: "a", Size: 9, Digest: digest}, {Key: "b", Size: long, Digest: digest}, {Key: "c", Size: 9},
			{Key: "d", Size: long, Digest: digest},
		}}}
	queries := &input{spec: protocol.Input{Format: "idx", ShardBytes: 1000}, manifest: dataset.Manifest{
		Objects: []dataset.Object{{Key: "q", Size: 9, Digest: digest}, {Key: "r", Size: 9, Digest: digest}},
		Labels:  []dataset.Object{{Key: "ql", Size: 9, Digest: digest}, {Key: "rl", Size: 0}},
	}}
	return &job{id: "a", w: &worker{}, inputs: []*input{points, queries}}
}

const (
	tooLong    = "it is longer than a shard and read in ranges; raise spec.input.shard_bytes"
	noChecksum = "the store has no checksum of it"
)

// provenance.json has for each object, and each object of labels, whether what was read of it was verified.
func TestProvenanceNamesWhatWasVerified(t *testing.T) {
	p, err := integrityJob().provenance(&pb.JobBrief{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	type listed []struct{ Key, Integrity string }
	var got struct {
		Objects listed
		Queries struct{ Objects, Labels listed }
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ got, want listed }{
		"objects": {got.Objects, listed{{"a", "verified"}, {"b", "not verifiable: " + tooLong},
			{"c", "not verifiable: " + noChecksum}, {"d", "not verifiable: " + tooLong}}},
		"queries.objects": {got.Queries.Objects, listed{{"q", "verified"}, {"r", "verified"}}},
		"queries.labels":  {got.Queries.Labels, listed{{"ql", "verified"}, {"rl", "not verifiable: it is empty"}}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

// Of many objects provenance.json lists the first thousand, each with its own verdict, and counts all.
func TestProvenanceListsTheFirstThousand(t *testing.T) {
	j := integrityJob()
	j.inputs = j.inputs[:1]
	objects := make([]dataset.Object, origin.MaxObjects+5)
	for i := range objects {
		objects[i] = dataset.Object{Key: fmt.Sprint(i), Size: int64(i % 2),
			Digest: "md5:d41d8cd98f00b204e9800998ecf8427e"}
	}
	j.inputs[0].manifest.Objects = objects
	p, err := j.provenance(&pb.JobBrief{})
	if err != nil || len(p.Objects) != origin.MaxObjects || p.ObjectCount != len(objects) || p.Queries != nil {
		t.Fatalf("%d of %d objects, queries %v, %v", len(p.Objects), p.ObjectCount, p.Queries, err)
	}
	for i, o := range p.Objects {
		if want := i%2 == 1; o.Key != fmt.Sprint(i) || (o.Integrity == dataset.Verified) != want {
			t.Errorf("object %d: %+v", i, o)
		}
	}
}

// report.json counts them by data set, and by reason with the first object of each; the page says the same.
func TestReportCountsWhatWasVerified(t *testing.T) {
	j := integrityJob()
	facts, err := j.facts(t.Context(), &pb.JobBrief{}, &pb.Task{Id: &pb.TaskID{JobId: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := facts.encode()
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Integrity json.RawMessage }
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	const want = `[{"data_set":"spec.input","objects":4,"verified":1,"not_verifiable":[` +
		`{"why":"` + tooLong + `","objects":2,"first":"b"},{"why":"` + noChecksum + `","objects":1,"first":"c"}]},` +
		`{"data_set":"spec.queries","objects":2,"verified":2},` +
		`{"data_set":"spec.queries.labels_uri","objects":2,"verified":1,"not_verifiable":[` +
		`{"why":"it is empty","objects":1,"first":"rl"}]}]`
	var text bytes.Buffer
	if err := json.Compact(&text, got.Integrity); err != nil || text.String() != want {
		t.Errorf("report.json has\n%s, want\n%s; %v", &text, want, err)
	}
	const line = "1 of 4 objects verified; 2 not verifiable: " + tooLong + "; 1 not verifiable: " + noChecksum
	if text := integrityText(facts.Integrity[0]); text != line {
		t.Errorf("the page has %q, want %q", text, line)
	}
}
