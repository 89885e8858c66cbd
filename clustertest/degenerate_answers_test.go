package clustertest_test

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/protocol"
)

// evaluation reads what the report says of decisions about records of known labels.
func (r ran) evaluation(t *testing.T) evaluation.Report {
	t.Helper()
	var report struct{ Metrics []jobs.Metric }
	if err := json.Unmarshal([]byte(r.read(t, "report.json")), &report); err != nil {
		t.Fatal(err)
	}
	var judged evaluation.Report
	at := slices.IndexFunc(report.Metrics, func(m jobs.Metric) bool { return m.Name == "evaluation" })
	if at < 0 {
		t.Fatal("the report has no evaluation")
	}
	if err := json.Unmarshal(report.Metrics[at].Value, &judged); err != nil {
		t.Fatal(err)
	}
	return judged
}

// rows reads the csv parts of a folder, without their headers, in order.
func (r ran) rows(t *testing.T, folder string) (rows []string) {
	t.Helper()
	index, err := parts.ReadIndex([]byte(r.read(t, path.Join(folder, "index.json"))))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range index.Parts {
		lines := strings.Fields(r.read(t, part.Name))
		rows = append(rows, lines[1:]...)
	}
	return rows
}

func wantRows(folder string, want ...string) func(*testing.T, ran) {
	return func(t *testing.T, r ran) {
		if got := r.rows(t, folder); !slices.Equal(got, want) {
			t.Errorf("%s are %q, want %q", folder, got, want)
		}
	}
}

// wantJudged wants a number of decisions, and of right ones among them.
func wantJudged(records, correct int64) func(*testing.T, ran) {
	return func(t *testing.T, r ran) {
		if e := r.evaluation(t); e.Records != records || e.Correct != correct {
			t.Errorf("%d of %d decisions are right; want %d of %d", e.Correct, e.Records, correct, records)
		}
	}
}

// job is a case over labelled csv.
func job(name, kind, params string, data objects) degenerate {
	return degenerate{name: name, kind: kind, params: params, input: csvLabelled, data: data}
}

func (c degenerate) asks(queries string) degenerate {
	c.queries = objects{"q.csv": queries}
	return c
}

func (c degenerate) by(model string) degenerate {
	c.model = model
	return c
}

func (c degenerate) gives(answer func(*testing.T, ran)) degenerate {
	c.answer = answer
	return c
}

// More neighbors or clusters than records.
func TestMoreThanThereAre(t *testing.T) {
	data := objects{"a.csv": "a,0\nb,1\n", "b.csv": "a,4\n"}
	runDegenerate(t, []degenerate{
		job("kmeans", "KMeans", `{"k":4}`, data).fails("INPUT_EMPTY", "k is 4, more than the 3 training records"),
		job("neighbors", "NearestNeighbors", `{"k":50}`, data).
			gives(wantRows("neighbors", "0,0,1,1", "0,1,2,4", "1,0,0,1", "1,1,2,3", "2,0,1,3", "2,1,0,4")),
		job("one-record", "NearestNeighbors", `{"k":1}`, objects{"a.csv": "a,7\n"}).gives(wantRows("neighbors")),
		job("vote-of-all", "NearestNeighbors", `{"k":50,"mode":"classify"}`, data).asks("b,0\nb,9\n").
			gives(wantRows("predictions", "0,a,0.6666666666666666", "1,a,0.6666666666666666")),
	})
}

// One class is nothing to tell apart, except for a vote.
func TestOneClass(t *testing.T) {
	data := objects{"a.csv": "a,1,2\na,3,4\n", "b.csv": "a,2,2\n"}
	text := job("words", "NaiveBayes", `{}`, objects{"a.tsv": "a\tone word\na\tanother word\n"})
	text.input = tsvLabelled
	var cases []degenerate
	for _, l := range classifiers(t) {
		cases = append(cases, l.of("one-class", data).fails("INPUT_EMPTY", "2 classes"))
	}
	runDegenerate(t, append(cases,
		text.fails("INPUT_EMPTY", `every training record has the label "a"`),
		job("neighbors", "NearestNeighbors", `{"k":2,"mode":"classify"}`, data).asks("a,5,5\nb,9,9\n").
			gives(wantRows("predictions", "0,a,1", "1,a,1")),
		job("kmeans", "KMeans", `{"k":2}`, data),
	))
}

// classifiers are the learners that find classes by themselves.
func classifiers(t *testing.T) []learner {
	t.Helper()
	return slices.DeleteFunc(learners(t), func(l learner) bool { return !l.Degenerate.Classifies })
}

// Columns that are constant tell nothing, and harm nothing; where all are, a kind that
// cannot learn from them says so.
func TestConstantColumns(t *testing.T) {
	one := objects{"a.csv": "a,5,1\na,5,2\n", "b.csv": "b,5,8\nb,5,9\n"}
	all := objects{"a.csv": "b,5,1\na,5,1\n", "b.csv": "a,5,1\nb,5,1\n"}
	var cases []degenerate
	for _, scale := range []string{"standard", "minmax"} {
		features := fmt.Sprintf(`{"features":{"scale":%q}}`, scale)
		for _, kind := range []string{"NearestMean", "GaussianNaiveBayes", "Perceptron", "KernelPerceptron",
			"KernelNearestMean"} {
			name, params := kind+"/"+scale, features
			if strings.HasSuffix(kind, "Perceptron") { // they stop at the first epoch without a mistake
				params = strings.Replace(features, "{", `{"epochs":900,"form":"plain",`, 1)
			}
			cases = append(cases, job(name, kind, params, one),
				job("predict/"+name, "Predict", `{}`, one).by(name).gives(wantJudged(4, 4)))
		}
		cases = append(cases,
			job("kmeans/"+scale, "KMeans", fmt.Sprintf(`{"k":2,"scale":%q}`, scale), one),
			job("neighbors/"+scale, "NearestNeighbors",
				fmt.Sprintf(`{"k":1,"mode":"classify","features":{"scale":%q}}`, scale),
				one).asks(one["a.csv"]+one["b.csv"]).gives(wantJudged(4, 4)))
	}
	runDegenerate(t, append(cases,
		job("all-constant", "GaussianNaiveBayes", `{}`, all).fails("INPUT_EMPTY"),
		job("one-point-twice", "KMeans", `{"k":2}`, all).fails("INPUT_EMPTY", "only 1 of 2 centers"),
		job("equal-means", "NearestMean", `{}`, all),
		job("label-in-byte-order", "Predict", `{}`, all).by("equal-means").gives(wantJudged(4, 2)),
		job("first-in-the-input", "NearestNeighbors", `{"k":2}`,
			all).asks("x,5,1\n").gives(wantRows("neighbors", "0,0,0,0", "0,1,1,0")),
	))
}

// A row of zeros has no direction.
func TestZeroRows(t *testing.T) {
	data := objects{"a.csv": "a,0,0\na,1,0\n", "b.csv": "b,0,0\nb,0,2\n"}
	runDegenerate(t, []degenerate{
		job("kmeans", "KMeans", `{"k":2,"metric":"cosine"}`, data),
		job("kmeans-all", "KMeans", `{"k":1,"metric":"cosine"}`, objects{"a.csv": "a,0,0\na,0,0\n"}).
			fails("INPUT_EMPTY", "only 0 of 1 centers"),
		job("neighbors", "NearestNeighbors", `{"k":4,"metric":"cosine"}`, data).asks("x,3,0\nx,0,0\n").
			gives(wantRows("neighbors", "0,0,1,0", "0,1,0,1", "0,2,2,1", "0,3,3,1", "1,0,0,1", "1,1,1,1", "1,2,2,1",
				"1,3,3,1")),
		job("nearest-mean", "NearestMean", `{"features":{"scale":"l2"}}`, data),
		job("predict", "Predict", `{}`, objects{"a.csv": "a,7,0\nb,0,7\n"}).by("nearest-mean").gives(wantJudged(2, 2)),
		job("gaussian", "GaussianNaiveBayes", `{"features":{"scale":"l2"}}`, data),
	})
}

// A label that training never met counts as a mistake wherever it is met.
func TestUnseenLabels(t *testing.T) {
	data := objects{"a.csv": "a,1\na,2\nb,8\nb,9\n"}
	strange := objects{"a.csv": "a,1\nz,2\nb,8\nz,9\n"}
	words := func(name, kind string, data objects) degenerate {
		c := job(name, kind, `{}`, data)
		c.input = tsvLabelled
		return c
	}
	var cases []degenerate
	for _, l := range classifiers(t) {
		train := l.of("train", data)
		cases = append(cases, train, job(l.Name+"/predict", "Predict", `{}`,
			strange).by(train.name).gives(wantJudged(4, 2)))
	}
	runDegenerate(t, append(cases,
		job("neighbors", "NearestNeighbors", `{"k":1,"mode":"classify","store_base":true}`,
			data).asks(strange["a.csv"]).gives(wantJudged(4, 2)),
		job("neighbors/predict", "Predict", `{}`, strange).by("neighbors").gives(wantJudged(4, 2)),
		words("words", "NaiveBayes", objects{"a.tsv": "a\tred\nb\tblue\n"}),
		words("words/predict", "Predict",
			objects{"a.tsv": "a\tred\nz\tred\nb\tblue blue\nz\tnothing known\n", "b.tsv": "b\t \n"}).by("words").
			gives(func(t *testing.T, r ran) {
				if e := r.evaluation(t); e.Records != 5 || e.Correct != 2 {
					t.Errorf("%d of %d decisions are right", e.Correct, e.Records)
				}
			}),
	))
}

const tsvLabelled = `"format":"tsv","label":1,"text":2`

// The label of a held-out record that no training record has.
func TestUnseenLabelsOfHeldOutRecords(t *testing.T) {
	const n = 40
	spec := protocol.JobSpec{}
	spec.Spec.Repro.Seed, spec.Spec.Input.Split.Test = 7, 0.3
	heldOut := jobs.TestRecords(spec)()
	var data strings.Builder
	strange := int64(0)
	for i := range n {
		label, value := "ab"[i%2:i%2+1], 1+8*(i%2)
		if heldOut(&dataset.Block{IDs: []dataset.Identity{identity("a.csv", 4*i)}}, 0) && strange < 2 {
			label, strange = "z", strange+1
		}
		fmt.Fprintf(&data, "%s,%d\n", label, value)
	}
	if strange != 2 {
		t.Fatal("the split holds nothing out")
	}
	var cases []degenerate
	for _, l := range append(classifiers(t), learner{casetest.Case{Name: "neighbors", Kind: "NearestNeighbors",
		Params: `{"k":3,"mode":"classify"}`, Degenerate: &casetest.Learner{}}}) {
		c := l.of("held-out", objects{"a.csv": data.String()}).gives(func(t *testing.T, r ran) {
			if e := r.evaluation(t); e.Records < 4 || e.Records-e.Correct != strange {
				t.Errorf("%d of %d decisions are right; want all but %d", e.Correct, e.Records, strange)
			}
		})
		c.input += `,"split":{"test":0.3}`
		cases = append(cases, c)
	}
	runDegenerate(t, cases)
}

// What a model cannot take is a fault that says where it is.
func TestPredictionsOfBadRecords(t *testing.T) {
	data := objects{"a.csv": "a,1,2\na,2,1\nb,8,9\nb,9,8\n"}
	var cases []degenerate
	for _, l := range learners(t) {
		if !l.Degenerate.Predicts {
			continue
		}
		train := l.of("train", data)
		kind, name := train.name, func(what string) string { return l.Name + "/" + what }
		text := job(name("text"), "Predict", `{}`, objects{"b.csv": "a,word\n"}).by(kind).fails("BAD_RECORD", "b.csv",
			"texts")
		text.input = `"format":"csv","label":1,"text":2`
		cases = append(cases, train,
			job(name("wider"), "Predict", `{}`,
				objects{"b.csv": "a,1,2\na,1,2\na,1,2\n", "c.csv": "a,1,2,3\n"}).by(kind).
				fails("BAD_RECORD", "c.csv", "width 3, not dense vectors of width 2"),
			job(name("narrower"), "Predict", `{}`,
				objects{"b.csv": "a,1\n", "c.csv": "a,1,2\n"}).by(kind).fails("BAD_RECORD", "b.csv", "width 1"),
			job(name("nan"), "Predict", `{}`, objects{"b.csv": "a,1,2\na,1,2\na,1,nan\n"}).by(kind).fails("BAD_RECORD",
				"b.csv, line 3, column 3", "(byte 12)"),
			job(name("nothing"), "Predict", `{}`, objects{"b.csv": ""}).by(kind).fails("INPUT_EMPTY"),
			job(name("among-nothing"), "Predict", `{}`, objects{"a.csv": "", "b.csv": "a,1,2\n", "c.csv": ""}).by(kind).
				gives(func(t *testing.T, r ran) {
					if rows := r.rows(t, "predictions"); len(rows) != 1 || !strings.HasPrefix(rows[0], "b.csv,0,") {
						t.Errorf("predictions are %q", rows)
					}
				}),
			text)
	}
	runDegenerate(t, cases)
}
