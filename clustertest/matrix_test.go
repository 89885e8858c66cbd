package clustertest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all/casetest"
)

// naiveBayes is a job over glosses.
func naiveBayes(shardBytes int, params string) func(clustertest.Inputs) string {
	return func(in clustertest.Inputs) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"NaiveBayes","metadata":{"name":"matrix"},"spec":{
			"input":{"uri":%q,"format":"tsv","label":1,"text":3,"shard_bytes":%d,"split":{"test":0.2}},
			"output":{},"params":%s,"repro":{"seed":7},"run":{}}}`, in.Input, shardBytes, params)
	}
}

// matrixSpec is a job of a kind over data sets with the same fields; more is other fields of the spec, each followed by
// a comma.
func matrixSpec(kind, fields, params, more string) func(clustertest.Inputs) string {
	return func(in clustertest.Inputs) string {
		more := more
		if in.Queries != "" {
			more += fmt.Sprintf(`"queries":{"uri":%q,%s},`, in.Queries, fields)
		}
		if in.Model != "" {
			more += fmt.Sprintf(`"model":%q,`, in.Model)
		}
		return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":"matrix"},"spec":{"input":{"uri":%q,%s},%s
			"output":{},"params":%s,"repro":{"seed":7},"run":{}}}`, kind, in.Input, fields, more, params)
	}
}

func matrixCase(t *testing.T, c casetest.Case) clustertest.Case {
	t.Helper()
	m, stored := c.Matrix, c.Matrix.Over.Stored(t)
	made := clustertest.Case{
		Name: c.Name, Objects: stored.Objects, Queries: stored.Queries, Model: stored.Model,
		Spec:   matrixSpec(c.Kind, m.Over.Fields, c.Params, m.More),
		Digest: m.Digest, Index: m.Index, IndexDigest: m.IndexDigest,
	}
	if m.Alone {
		asked := made.Spec
		made.Spec = func(in clustertest.Inputs) string {
			in.Queries = ""
			return asked(in)
		}
	}
	if m.Kill != "" {
		made.KillObjects, made.KillSpec = stored.KillObjects, matrixSpec(c.Kind, m.Over.KillFields, m.Kill, m.More)
	}
	return made
}

// matrixCases are the cases of every kind, over texts or over vectors.
func matrixCases(t *testing.T, texts bool) (cases []clustertest.Case) {
	t.Helper()
	for _, c := range casetest.Of(t, casetest.Matrix) {
		if strings.Contains(c.Matrix.Over.Fields, `"text":`) == texts {
			cases = append(cases, matrixCase(t, c))
		}
	}
	return cases
}

func TestMatrixVectors(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some two hundred processes; make test-all runs it")
	}
	clustertest.Matrix(t, matrixCases(t, false)...)
}

func TestMatrixTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some hundred processes; make test-all runs it")
	}
	clustertest.Matrix(t, matrixCases(t, true)...)
}
