package all

import (
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// Models of hashed texts are the same under every kernel set.
func TestHashedTextsUnderEverySet(t *testing.T) {
	texts, _ := goldenTexts()
	const params = `{"features":{"hashing":{"bits":5,"signed":true},"scale":"l2","text":{"ngram_max":2}}}`
	for _, c := range []struct{ kind, params, want string }{
		{"KMeans", `{"k":2,"hashing":{"bits":5,"signed":true},"scale":"l2"}`,
			"c803262783a4cf8ed0b09c9348c4a4ffaf9f6cd67ee5b563b4e7d5a602fb06ff"},
		{"KernelDensityBayes", params, "36b493c74022e46c3c7e3d9f7350ab818f4a11cdc7c4a5d39f74782f3f408ebf"},
		{"KernelNearestMean", params, "dab4bb8f217db4193b4e8044f93ac10a23a683e9a922f5191fb34b804266b19e"},
		{"KernelPerceptron", params, "1ed31000badf9bdd5dd2d03063b46d58b1dc8d6d6dee88761331dc698861eabb"},
		{"NearestMean", params, "faa29554d6359ff0825ba663d192d5f8c9353f7eb6626e568c3625b5945482fe"},
		{"Perceptron", params, "f01b54ba56362f0f0efbe6024750c65c1773b5560bceb76b03a522496d6be295"},
	} {
		for _, ops := range kernelops.All() {
			job := goldenCase{name: c.kind, kind: c.kind, params: c.params, format: `"format":"tsv","label":1,"text":2`,
				records: texts}
			if got := jobstest.Digest(job.trainWith(t, ops)); got != c.want {
				t.Errorf("%s, %s: %s", c.kind, ops.Name, got)
			}
		}
	}
}
