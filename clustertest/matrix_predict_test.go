package clustertest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// glossModel is naive Bayes trained on tab-separated glosses, in this process.
func glossModel(t *testing.T, specJSON string, text []byte) []byte {
	t.Helper()
	var records []jobstest.Record
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		records = append(records, jobstest.Record{Label: fields[0], Text: fields[2]})
	}
	spec, err := protocol.ParseSpec([]byte(specJSON))
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
	trained, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, 3), 100),
		kernelops.Generic(), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	return trained.Model.Encode()
}

// grownBayes counts on from a model where there is one, and holds nothing out.
func grownBayes(params string) func(clustertest.Inputs) string {
	return func(in clustertest.Inputs) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"NaiveBayes","metadata":{},"spec":{
			"input":{"uri":%q,"format":"tsv","label":1,"text":3,"shard_bytes":16384},"model":%q,"output":{},"params":%s,"repro":{},"run":{}}}`, in.Input, in.Model, params)
	}
}

// A model that counts on from that of the first half, to the bit that of both halves at once, terms left out at the
// end.
func TestMatrixGrownNaiveBayes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some sixty processes; make test-all runs it")
	}
	clustertest.Matrix(t, grownCase(t))
}

func grownCase(t *testing.T) clustertest.Case {
	t.Helper()
	first, rest := split(casetest.Glosses(t, 50))
	second, third := split(rest)
	const digest = "4d93177c411cfd71b67cc05d84f16f2f549e9482fc4f2688da8ec9f9a6b807b6"
	last, here := `{"alpha":0.1,"text":{"min_df":2}}`, clustertest.Inputs{Input: "file:///in/"}
	atOnce := sha256.Sum256(glossModel(t, grownBayes(last)(here), bytes.Join([][]byte{first, rest}, nil)))
	if hex.EncodeToString(atOnce[:]) != digest {
		t.Errorf("both halves at once give %x", atOnce)
	}
	return clustertest.Case{
		Name:    "naive-bayes-grown",
		Objects: map[string][]byte{"b.tsv": second, "c.tsv.gz": gzipped(t, third)},
		Model:   glossModel(t, grownBayes(`{"grows":true}`)(here), first),
		Spec:    grownBayes(last),
		Digest:  digest,
	}
}

// Predictions over several shards, one part for each, and their index.
func TestMatrixPredict(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some sixty processes; make test-all runs it")
	}
	clustertest.Matrix(t, predictCase(t))
}

func predictCase(t *testing.T) clustertest.Case {
	t.Helper()
	first, second := split(casetest.Glosses(t, 100))
	return clustertest.Case{
		Name:    "predict",
		Objects: map[string][]byte{"a.tsv": first, "b.tsv.gz": gzipped(t, second)},
		Model: glossModel(t, naiveBayes(1<<20, `{}`)(clustertest.Inputs{Input: "file:///in/"}),
			bytes.Join([][]byte{first, second}, nil)),
		Spec: func(in clustertest.Inputs) string {
			return fmt.Sprintf(`{"apiVersion":"v1","kind":"Predict","metadata":{},"spec":{
				"input":{"uri":%q,"format":"tsv","label":1,"text":3,"shard_bytes":16384},"model":%q,"output":{},"repro":{},"run":{}}}`, in.Input, in.Model)
		},
		Digest:      "6af7eb797a515804b6407dc5b6d1336e89b16438df3323217689ca7849f468d1",
		Index:       "predictions/index.json",
		IndexDigest: "a6edbc5342b7f797fd9f3bf6f2a74b2dfb6e1acf5240ee791efa9e4c9b5c6cb7",
	}
}
