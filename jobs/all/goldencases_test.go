package all

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/predict"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// goldenCase says how a golden model was made when it was new. Later versions may train another.
type goldenCase struct {
	name, kind, params string
	format             string
	records, asked     []jobstest.Record // trained on and predicted
}

// goldenCases are one for each kind, and for each form of a model that has arrays of its own.
func goldenCases(t *testing.T) []goldenCase {
	dense, denseAsked, sparse, sparseAsked := goldenVectors(t)
	const asDense, asSparse, asTexts = `"format":"csv","label":1`, `"format":"libsvm","width":4,"index_base":1`,
		`"format":"tsv","label":1,"text":2`
	texts, textsAsked := goldenTexts()
	numbers := append([]jobstest.Record(nil), dense...)
	for i := range numbers {
		numbers[i].Label = strconv.Itoa(i % 7)
	}
	ofDense := func(name, kind, params string) goldenCase {
		return goldenCase{name, kind, params, asDense, dense, denseAsked}
	}
	ofSparse := func(name, kind, params string) goldenCase {
		return goldenCase{name, kind, params, asSparse, sparse, sparseAsked}
	}
	ofTexts := func(name, kind, params string) goldenCase {
		return goldenCase{name, kind, params, asTexts, texts, textsAsked}
	}
	return []goldenCase{
		ofDense("gaussiannb", "GaussianNaiveBayes", `{"features":{"scale":"minmax"}}`),
		ofDense("gaussiannb-costs", "GaussianNaiveBayes", `{"costs":{"1":{"2":5}}}`),
		ofDense("kmeans", "KMeans", `{"k":3,"scale":"standard"}`),
		ofSparse("kmeans-spherical", "KMeans", `{"k":2,"metric":"cosine"}`),
		ofDense("kerneldensity", "KernelDensityBayes", `{}`),
		ofSparse("kerneldensity-sparse", "KernelDensityBayes", `{"features":{"scale":"l2"}}`),
		ofDense("kernelmatrix", "KernelMatrix", `{"kernel":"rbf","gamma":1}`),
		ofDense("kernelmean", "KernelNearestMean", `{"kernel":"rbf","gamma":0.5}`),
		ofDense("kernelmatrix-origin", "KernelMatrix", `{"kernel":"rbf","gamma":1}`),
		ofDense("kernelmean-origin", "KernelNearestMean", `{"kernel":"rbf","gamma":0.5}`),
		ofDense("kernelperceptron-origin", "KernelPerceptron", `{"form":"plain","kernel":"rbf","gamma":0.5}`),
		ofSparse("kernelperceptron-sparse", "KernelPerceptron",
			`{"form":"voted","kernel":"rbf","gamma":0.5,"budget":8}`),
		ofDense("kernelperceptron", "KernelPerceptron", `{"kernel":"polynomial","degree":2}`),
		ofSparse("kernelperceptron-voted", "KernelPerceptron",
			`{"form":"voted","kernel":"rbf","gamma":0.5,"budget":8}`),
		ofTexts("naivebayes", "NaiveBayes", `{}`),
		ofTexts("naivebayes-grows", "NaiveBayes", `{"grows":true}`),
		ofTexts("naivebayes-bernoulli", "NaiveBayes", `{"form":"bernoulli","prior":"uniform"}`),
		ofTexts("naivebayes-complement", "NaiveBayes", `{"form":"complement","text":{"ngram_max":2}}`),
		ofTexts("naivebayes-costs", "NaiveBayes", `{"costs":{"ham":{"spam":9}},"text":{"stop_words":["the","a"]}}`),
		ofDense("nearestmean", "NearestMean", `{"features":{"scale":"standard"}}`),
		ofSparse("nearestmean-sparse", "NearestMean", `{}`),
		ofDense("neighbors", "NearestNeighbors", `{"mode":"classify","store_base":true,"k":3}`),
		ofSparse("neighbors-cosine", "NearestNeighbors",
			`{"mode":"classify","store_base":true,"k":3,"metric":"cosine","weights":"distance"}`),
		ofTexts("neighbors-edit", "NearestNeighbors", `{"mode":"classify","store_base":true,"k":1,"metric":"edit"}`),
		{"neighbors-regress", "NearestNeighbors", `{"store_base":true,"k":2,"mode":"regress"}`, asDense, numbers,
			denseAsked},
		ofDense("perceptron", "Perceptron", `{"features":{"scale":"standard"}}`),
		ofTexts("perceptron-hashed", "Perceptron", `{"features":{"hashing":{"bits":6,"signed":true}}}`),
		ofSparse("perceptron-sparse", "Perceptron", `{"classes":"one_vs_rest","over":"mixed","shuffle":false}`),
		ofTexts("perceptron-texts", "Perceptron", `{"form":"plain","distinct":0.5}`),
		ofDense("perceptron-voted", "Perceptron", `{"form":"voted"}`),
		ofDense("predict", "Predict", `{}`),
	}
}

// goldenVectors are thirty irises and five others, dense and sparse.
func goldenVectors(t *testing.T) (dense, denseAsked, sparse, sparseAsked []jobstest.Record) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "testdata", "iris.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1
	lines, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows, asked [][]float32
	var labels []string
	for i, line := range lines[1:] {
		row := make([]float32, 4)
		for j := range row {
			v, err := strconv.ParseFloat(line[j], 32)
			if err != nil {
				t.Fatal(err)
			}
			row[j] = float32(v)
		}
		switch {
		case i%5 == 0:
			rows, labels = append(rows, row), append(labels, line[4])
		case i%30 == 2:
			asked = append(asked, row)
		}
	}
	thin := func(rows [][]float32) [][]float32 { // zeros of what is short
		out := make([][]float32, len(rows))
		for i, row := range rows {
			out[i] = append([]float32(nil), row...)
			for j, v := range row {
				if v < 1.5 {
					out[i][j] = 0
				}
			}
		}
		return out
	}
	return jobstest.DenseRecords(rows, labels...), jobstest.DenseRecords(asked),
		jobstest.SparseRecords(4, thin(rows), labels...), jobstest.SparseRecords(4, thin(asked))
}

// goldenTexts are ten short mails and four others; the last has no word that the first have.
func goldenTexts() (texts, asked []jobstest.Record) {
	for _, text := range []string{"win a prize now", "cheap pills and a free prize", "Free money, claim it now",
		"you win: claim the free gift", "cheap cheap cheap loans"} {
		texts = append(texts, jobstest.Record{Label: "spam", Text: text})
	}
	for _, text := range []string{"lunch at noon?", "the minutes of the meeting", "can we move the meeting to noon",
		"the draft of the report is here", "thanks for the report"} {
		texts = append(texts, jobstest.Record{Label: "ham", Text: text})
	}
	for _, text := range []string{"claim a free lunch", "the meeting", "now", "über ferne Länder"} {
		asked = append(asked, jobstest.Record{Text: text})
	}
	return texts, asked
}

func (c goldenCase) train(t *testing.T) jobs.Arrays { return c.trainWith(t, kernelops.Generic()) }

// trainWith makes the model; a job of kind Predict begins from one of nearest means.
func (c goldenCase) trainWith(t *testing.T, ops *kernelops.Set) jobs.Arrays {
	t.Helper()
	return c.run(t, ops, func(algorithm jobs.Algorithm) jobs.Algorithm { return algorithm })
}

// run makes the model by what wrap makes of the algorithm. A job that keeps no base has what is asked decided.
func (c goldenCase) run(t *testing.T, ops *kernelops.Set, wrap func(jobs.Algorithm) jobs.Algorithm) jobs.Arrays {
	t.Helper()
	var more string
	var options []jobstest.Option
	if c.kind == predict.KindName {
		more = `"model":"file:///m/model.safetensors",`
		options = append(options, jobstest.WithModel(goldenCase{kind: "NearestMean", params: `{}`, format: c.format,
			records: c.records}.train(t)))
	}
	if strings.Contains(c.params, `"store_base":false`) && c.asked != nil {
		more = fmt.Sprintf(`"queries":{"uri":"file:///queries/",%s},`, c.format)
		options = append(options, jobstest.WithQueries(jobstest.Deal(c.asked, 2)))
	}
	spec, err := protocol.ParseSpec(fmt.Appendf(nil,
		`{"apiVersion":"v1","kind":%q,"metadata":{},"spec":{"input":{"uri":"file:///in/",%s},%s
		"output":{},"params":%s,"repro":{"seed":7},"run":{}}}`, c.kind, c.format, more, c.params))
	if err == nil {
		spec, err = Validate(spec)
	}
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	kind, err := Lookup(spec.Kind)
	if err != nil {
		t.Fatal(err)
	}
	algorithm, err := kind.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	shards := jobstest.Shards(jobstest.Deal(c.records, 2), 8)
	trained, err := jobstest.Run(t.Context(), wrap(algorithm), spec, shards, ops, jobstest.Grouping{}, options...)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return trained.Model
}
