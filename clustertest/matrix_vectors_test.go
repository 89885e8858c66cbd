package clustertest_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all/casetest"
)

// digits returns the lines of two objects of handwritten digits: the first up to past byte
// 40,000, and those up to past the next 20,000.
func digits(t *testing.T) (a, b []byte) {
	t.Helper()
	all := casetest.Testdata(t, "digits.csv.gz")
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

// vectors is a case of a kind over two objects of digits. Its longer job reads many copies of the
// first, with parameters for fewer rounds.
func vectors(t *testing.T, name, kind, params, killParams string) clustertest.Case {
	a, b := digits(t)
	return clustertest.Case{
		Name: name, Objects: map[string][]byte{"a.csv": a, "b.csv": b}, Spec: overDigits(kind, params),
		KillObjects: repeated(a, 20), KillSpec: overDigits(kind, killParams),
	}
}

// withQueries makes the second object of a case its queries.
func withQueries(c clustertest.Case) clustertest.Case {
	c.Objects, c.Queries = map[string][]byte{"a.csv": c.Objects["a.csv"]},
		map[string][]byte{"b.csv": c.Objects["b.csv"]}
	return c
}

func TestMatrixVectors(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some two hundred processes; make test-all runs it")
	}
	clustertest.Matrix(t, vectorCases(t)...)
}

func vectorCases(t *testing.T) []clustertest.Case {
	t.Helper()
	return slices.Concat(means(t), perceptrons(t), kernels(t))
}

func means(t *testing.T) []clustertest.Case {
	kmeans := vectors(t, "kmeans", "KMeans", `{"k":10,"max_rounds":8,"assignments":true}`,
		`{"k":3,"max_rounds":2,"init":"random","assignments":true}`)
	kmeans.Digest = "ec6bebe331251424cb7328007dfc2e4fd2be1921c33a70c7bb0982c2bec5ee08"
	kmeans.Index, kmeans.IndexDigest = "assignments/index.json",
		"7ff2af56fafe86fe714770e2d7350666601a68c61ed5dd7c4a328c8f3d4633e3"

	means := vectors(t, "nearest-mean", "NearestMean", `{"features":{"scale":"standard"}}`, `{}`)
	means.Digest = "d02f4668a78f3bb2987be48114a92b59ef767c5bbbb0c8c23029d1bdc2290ed6"

	bayes := vectors(t, "gaussian-naive-bayes", "GaussianNaiveBayes", `{}`, `{}`)
	bayes.Digest = "9240a2259acb6efd4ef5369490d41ff9ba38308fc279b6d8566a1b0ab5509518"

	neighbors := withQueries(vectors(t, "nearest-neighbors", "NearestNeighbors",
		`{"k":3,"mode":"classify","lists":"csv"}`, `{"k":1}`))
	neighbors.Digest = "17a55746397b3cc5d3c05c7935281f0e9cf6f6ab0024e41bd34a768c35954568"
	neighbors.Index, neighbors.IndexDigest = "neighbors/index.json",
		"99b67d4cf159ff6b43b8dbc3308a4974c04056ff9eb9fc67bb53241cfa89ab40"

	return []clustertest.Case{kmeans, means, bayes, neighbors}
}

func perceptrons(t *testing.T) []clustertest.Case {
	chained := vectors(t, "perceptron-chained", "Perceptron", `{"epochs":3}`, `{"epochs":1}`)
	chained.Digest = "0098d30dddbdfe8416c5124a8b927f3c8951fc40b7aa5586abb30b057ca721e1"

	mixed := vectors(t, "perceptron-mixed", "Perceptron", `{"epochs":3,"over":"mixed","mixing":"mistakes"}`,
		`{"epochs":2,"over":"mixed"}`)
	mixed.Digest = "716e12fbcf4d4db14cc02d29478f2be157e17547c6fd98abaf9eefb11565c940"

	kernel := vectors(t, "kernel-perceptron", "KernelPerceptron", `{"kernel":"rbf","gamma":0.001,"epochs":2}`,
		`{"epochs":1}`)
	kernel.Digest = "bcd6e83f5e911633ddb1fe66c407e77d588678c4a32808cd08cce3a0c000f0b0"

	budget := vectors(t, "kernel-perceptron-budget", "KernelPerceptron",
		`{"kernel":"rbf","gamma":0.001,"form":"averaged","budget":40,"epochs":2}`,
		`{"form":"averaged","budget":40,"epochs":1}`)
	budget.Digest = "8b4c51c06bc9494f1d36ace3236d520534627cee7f465202f42b019510603805"

	return []clustertest.Case{chained, mixed, kernel, budget}
}

func kernels(t *testing.T) []clustertest.Case {
	// The main job is symmetric, the longer one, of fewer tiles, is not. The model's digest covers that of the index
	// of the tiles.
	tiles := vectors(t, "kernel-matrix", "KernelMatrix", `{"kernel":"rbf","gamma":0.001,"tile":100}`,
		`{"kernel":"sigmoid"}`)
	symmetric := tiles.Spec
	tiles.Queries = map[string][]byte{"b.csv": tiles.Objects["b.csv"]}
	tiles.Spec = func(in clustertest.Inputs) string { return symmetric(clustertest.Inputs{Input: in.Input}) }
	tiles.Digest = "c526db4760c42418cad1879c622e79ff1023f2b835adafb52a29fc532e260620"
	tiles.Index, tiles.IndexDigest = "records/index.json",
		"81aa480bc7c022a0e837cfdc4bdcbc1aab4634d908e1f4d013ff6df95c140d74"

	means := vectors(t, "kernel-nearest-mean", "KernelNearestMean", `{"kernel":"rbf","gamma":0.001}`,
		`{"kernel":"polynomial"}`)
	means.Digest = "0b372bce6b20a4793ae953b13b742bd65dce22cb9963345e3d14cdaee153c69c"

	density := vectors(t, "kernel-density-bayes", "KernelDensityBayes", `{"bandwidth":10}`, `{}`)
	density.Digest = "1d92efd5c82b5ec035e784c45c6f4b0373c00806d11a723bca923cf99456f9b6"

	// Neither of these two keeps its base: what they decide is in the files.
	decides := withQueries(vectors(t, "kernel-nearest-mean-decides", "KernelNearestMean",
		`{"store_base":false,"kernel":"rbf","gamma":0.001}`, `{"store_base":false}`))
	decides.Digest = "e569019f56c89865ade372283c8c8a5c049136078234fbeeca1b29707e108f02"
	decides.Index, decides.IndexDigest = "predictions/index.json",
		"238e4f32d4bd7a4866c2c82b37b924312a8d3688ebbc8ddad2dc9d83126571a3"

	densities := withQueries(vectors(t, "kernel-density-bayes-decides", "KernelDensityBayes", `{"store_base":false}`,
		`{"store_base":false,"bandwidth":10}`))
	densities.Digest = "e45152f7e9440305274771ad12c36b0d079dfeabbeb29ac8bc56b7bb49e29007"
	densities.Index, densities.IndexDigest = "predictions/index.json",
		"b2585c364de0e34982f19fe64ec6ef577249e5082e184952ee6db23e0654b58e"

	return []clustertest.Case{tiles, means, density, decides, densities}
}
