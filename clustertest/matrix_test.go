package clustertest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"testing"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all/casetest"
)

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// split cuts a text at a line's end near its middle.
func split(text []byte) (first, second []byte) {
	at := len(text)/2 + bytes.IndexByte(text[len(text)/2:], '\n') + 1
	return text[:at], text[at:]
}

func naiveBayes(shardBytes int, params string) func(clustertest.Inputs) string {
	return func(in clustertest.Inputs) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"NaiveBayes","metadata":{"name":"matrix"},"spec":{
			"input":{"uri":%q,"format":"tsv","label":1,"text":3,"shard_bytes":%d,"split":{"test":0.2}},
			"output":{},"params":%s,"repro":{"seed":7},"run":{}}}`, in.Input, shardBytes, params)
	}
}

func TestMatrixNaiveBayes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some sixty processes; make test-all runs it")
	}
	clustertest.Matrix(t, naiveBayesCase(t))
}

func naiveBayesCase(t *testing.T) clustertest.Case {
	first, second := split(casetest.Glosses(t, 25))
	return clustertest.Case{
		Name:        "naive-bayes",
		Objects:     map[string][]byte{"a.tsv": first, "b.tsv.gz": gzipped(t, second), "c/d.tsv": first[:1000]},
		Spec:        naiveBayes(16<<10, `{"alpha":0.1,"text":{"ngram_max":2,"min_df":2}}`),
		Digest:      "6bc216c33e1b62dc0dc20b728456922a2d00ebdba6c4c2dbd2c335eef5693ccb",
		KillObjects: map[string][]byte{"all.tsv": casetest.Glosses(t, 1)},
		KillSpec:    naiveBayes(64<<10, `{"alpha":0.1}`),
	}
}
