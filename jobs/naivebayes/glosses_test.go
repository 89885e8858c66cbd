package naivebayes

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// glosses are WordNet's 117,659 definitions, each labelled with its lexicographer file.
func glosses(t testing.TB) []jobstest.Record {
	t.Helper()
	file, err := os.Open("../../testdata/wordnet30-glosses.tsv.gz")
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
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(shards, 1000), kernelops.Best(), jobstest.Grouping{})
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

// The accuracies on held-out glosses that an independent implementation reached on this data, with
// Laplace's smoothing and with less: 0.59 and 0.655, each within 0.01.
func TestGlosses(t *testing.T) {
	shards := inShards(glosses(t), 8)
	for alpha, want := range map[float64]float64{1: 0.59, 0.1: 0.655} {
		spec := specOf(fmt.Sprintf(`{"alpha": %v}`, alpha), 0.2)
		result, err := train(t, spec, shards)
		if err != nil {
			t.Fatal(err)
		}
		var report evaluation.Report
		metric(t, result.Metrics, "evaluation", &report)
		if report.Accuracy < want-0.01 || report.Accuracy > want+0.01 {
			t.Errorf("alpha %v: accuracy %.4f of %d records, want %.3f", alpha, report.Accuracy, report.Records, want)
		}
		t.Logf("alpha %v: accuracy %.4f of %d, macro F1 %.4f, digest %s", alpha, report.Accuracy, report.Records, report.Macro.F1,
			jobstest.Digest(result.Model))
	}
}
