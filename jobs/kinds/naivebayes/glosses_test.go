package naivebayes

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// glosses are WordNet's 117,659 definitions, each labelled with its lexicographer file.
func glosses(t testing.TB) []jobstest.Record {
	t.Helper()
	file, err := os.Open("../../../testdata/wordnet30-glosses.tsv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var records []jobstest.Record
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 3 {
			t.Fatalf("%d fields in %q", len(fields), lines.Text())
		}
		records = append(records, jobstest.Record{Label: fields[0], Text: fields[2]})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return records
}

// inShards cuts records into n shards of nearly one size.
func inShards(records []jobstest.Record, n int) [][]jobstest.Record {
	var shards [][]jobstest.Record
	for i := range n {
		shards = append(shards, records[i*len(records)/n:(i+1)*len(records)/n])
	}
	return shards
}

func specOf(params string, testShare float64) protocol.JobSpec {
	spec := protocol.JobSpec{APIVersion: protocol.APIVersion, Kind: KindName}
	spec.Spec.Params = json.RawMessage(params)
	spec.Spec.Input.Split.Test = testShare
	spec.Spec.Repro.Seed = 7
	return spec
}

func train(t testing.TB, spec protocol.JobSpec, shards [][]jobstest.Record) (jobstest.Result, error) {
	t.Helper()
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(shards, 1000), kernelops.Best(),
		jobstest.Grouping{})
}

func metric(t testing.TB, metrics []jobs.Metric, name string, into any) {
	t.Helper()
	for _, m := range metrics {
		if m.Name == name {
			if err := json.Unmarshal(m.Value, into); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no metric %q", name)
}

// The peer is scikit-learn 1.9.1: MultinomialNB on CountVectorizer(token_pattern=r"[^\W_]+")
// of the same training records. It finds the same dictionary and the same decisions.
func TestGlossesAgainstPeer(t *testing.T) {
	shards := inShards(glosses(t), 8)
	for _, peer := range []struct {
		alpha          string
		correct        int64
		macroF1, about float64 // about: the accuracy seen on other splits, within 0.01
	}{
		{"1", 14124, 0.2957024154470149, 0.59},
		{"0.1", 15562, 0.4737384762699345, 0.655},
	} {
		result, err := train(t, specOf(`{"alpha": `+peer.alpha+`}`, 0.2), shards)
		if err != nil {
			t.Fatal(err)
		}
		var report evaluation.Report
		metric(t, result.Metrics, "evaluation", &report)
		if report.Records != 23671 || report.Correct != peer.correct {
			t.Errorf("alpha %s: %d of %d correct; the peer has %d of 23671", peer.alpha, report.Correct, report.Records,
				peer.correct)
		}
		if math.Abs(report.Macro.F1-peer.macroF1) > 1e-12 {
			t.Errorf("alpha %s: macro F1 %v; the peer has %v", peer.alpha, report.Macro.F1, peer.macroF1)
		}
		if math.Abs(report.Accuracy-peer.about) > 0.01 {
			t.Errorf("alpha %s: accuracy %.4f, want about %.3f", peer.alpha, report.Accuracy, peer.about)
		}
		var records, terms, tokens int64
		metric(t, result.Metrics, "counts.records", &records)
		metric(t, result.Metrics, "vocabulary.terms_kept", &terms)
		metric(t, result.Metrics, "counts.tokens", &tokens)
		if records != 117659 {
			t.Errorf("%d records, want 117659", records)
		}
		if terms != 50778 || tokens != 1182664 {
			t.Errorf("%d terms and %d tokens; the peer has 50778 and 1182664", terms, tokens)
		}
	}
}
