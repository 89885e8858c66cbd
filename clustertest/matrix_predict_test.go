package clustertest_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// glossModel is naive Bayes trained on tab-separated glosses, in this process.
func glossModel(t *testing.T, text []byte) []byte {
	t.Helper()
	var records []jobstest.Record
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		records = append(records, jobstest.Record{Label: fields[0], Text: fields[2]})
	}
	spec, err := protocol.ParseSpec([]byte(naiveBayes(1<<20, `{}`)(clustertest.Inputs{Input: "file:///in/"})))
	if err == nil {
		spec, err = all.Validate(spec)
	}
	if err != nil {
		t.Fatal(err)
	}
	kind, err := all.Lookup(spec.Kind)
	if err != nil {
		t.Fatal(err)
	}
	algorithm, err := kind.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	trained, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, 3), 100), kernelops.Generic(), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	return trained.Model.Encode()
}

// Predictions over several shards, one part for each, and their index.
func TestMatrixPredict(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some sixty processes; run without -short")
	}
	first, second := split(glosses(t, 100))
	clustertest.Matrix(t, clustertest.Case{
		Name:    "predict",
		Objects: map[string][]byte{"a.tsv": first, "b.tsv.gz": gzipped(t, second)},
		Model:   glossModel(t, bytes.Join([][]byte{first, second}, nil)),
		Spec: func(in clustertest.Inputs) string {
			return fmt.Sprintf(`{"apiVersion":"v1","kind":"Predict","metadata":{},"spec":{
				"input":{"uri":%q,"format":"tsv","label":1,"text":3,"shard_bytes":16384},"model":%q,"output":{},"repro":{},"run":{}}}`, in.Input, in.Model)
		},
		Digest:      "6af7eb797a515804b6407dc5b6d1336e89b16438df3323217689ca7849f468d1",
		Index:       "predictions/index.json",
		IndexDigest: "a6edbc5342b7f797fd9f3bf6f2a74b2dfb6e1acf5240ee791efa9e4c9b5c6cb7",
	})
}
