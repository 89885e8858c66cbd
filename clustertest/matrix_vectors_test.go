package clustertest_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gram-compute/gram/clustertest"
)

// digits returns the lines of two objects of handwritten digits: the first up to past byte
// 40,000, and those up to past the next 20,000.
func digits(t *testing.T) (a, b []byte) {
	t.Helper()
	all := testdata(t, "digits.csv.gz")
	end := func(from int) int { return from + bytes.IndexByte(all[from:], '\n') + 1 }
	first := end(40_000)
	second := end(first + 20_000)
	return all[:first], all[first:second]
}

// repeated is a data set of n objects of the same bytes.
func repeated(data []byte, n int) map[string][]byte {
	objects := map[string][]byte{}
	for i := range n {
		objects[fmt.Sprintf("%03d.csv", i)] = data
	}
	return objects
}

// overDigits is a job over digits: 64 greys and, in the last column, the class.
func overDigits(kind, params string) func(clustertest.Inputs) string {
	return func(in clustertest.Inputs) string {
		digits := func(uri string) string {
			return fmt.Sprintf(`{"uri":%q,"format":"csv","label":65,"shard_bytes":16384}`, uri)
		}
		queries := ""
		if in.Queries != "" {
			queries = `"queries":` + digits(in.Queries) + `,`
		}
		return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":"matrix"},"spec":{"input":%s,%s
			"output":{},"params":%s,"repro":{"seed":7},"run":{}}}`, kind, digits(in.Input), queries, params)
	}
}

// vectors is a case of a kind. Its longer job reads many copies of the digits.
func vectors(name, kind, params string, a []byte) clustertest.Case {
	return clustertest.Case{
		Name: name, Spec: overDigits(kind, params),
		KillObjects: repeated(a, 20), KillSpec: overDigits(kind, params),
	}
}

func TestMatrixVectors(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some hundred processes; run without -short")
	}
	a, b := digits(t)
	both := map[string][]byte{"a.csv": a, "b.csv": b}

	kmeans := vectors("kmeans", "KMeans", `{"k":10,"max_rounds":8,"assignments":true}`, a)
	kmeans.Objects, kmeans.Digest = both, "9c6df9e0a76a8d8281ec181b22192976d236ecb5e3bc08ec41a8ccc8165845f2"
	kmeans.Index, kmeans.IndexDigest = "assignments/index.json", "e7e3fbe6a78152ffe8fce6285f4d543dc3335e2f655a0b7e874165516b5ea4c1"

	means := vectors("nearest-mean", "NearestMean", `{"features":{"scale":"standard"}}`, a)
	means.Objects, means.Digest = both, "d02f4668a78f3bb2987be48114a92b59ef767c5bbbb0c8c23029d1bdc2290ed6"

	bayes := vectors("gaussian-naive-bayes", "GaussianNaiveBayes", `{}`, a)
	bayes.Objects, bayes.Digest = both, "9240a2259acb6efd4ef5369490d41ff9ba38308fc279b6d8566a1b0ab5509518"

	neighbors := vectors("nearest-neighbors", "NearestNeighbors", `{"k":3,"mode":"classify","lists":"csv"}`, a)
	neighbors.Objects, neighbors.Queries = map[string][]byte{"a.csv": a}, map[string][]byte{"b.csv": b}
	neighbors.Digest = "17a55746397b3cc5d3c05c7935281f0e9cf6f6ab0024e41bd34a768c35954568"
	neighbors.Index, neighbors.IndexDigest = "neighbors/index.json", "99b67d4cf159ff6b43b8dbc3308a4974c04056ff9eb9fc67bb53241cfa89ab40"

	clustertest.Matrix(t, kmeans, means, bayes, neighbors)
}
