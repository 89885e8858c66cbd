package kernelmean

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// streamed is a form without its base in the model.
func streamed(params string) string {
	if params == `{}` {
		return `{"store_base": false}`
	}
	return strings.Replace(params, "{", `{"store_base": false, `, 1)
}

// decide runs a job that decides queries.
func decide(t testing.TB, kind, params string, records, queries [][]jobstest.Record,
	ops *kernelops.Set) jobstest.Result {
	t.Helper()
	r, err := tryStream(t, specOf(kind, params), records, queries, ops)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryStream(t testing.TB, spec protocol.JobSpec, records, queries [][]jobstest.Record,
	ops *kernelops.Set) (jobstest.Result, error) {
	t.Helper()
	var options []jobstest.Option
	if queries != nil {
		spec.Spec.Queries = &protocol.Input{}
		options = append(options, jobstest.WithQueries(queries))
	}
	algorithm, err := kindOf(spec.Kind).New(spec)
	if err != nil {
		return jobstest.Result{}, err
	}
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(records, 7), ops, jobstest.Grouping{}, options...)
}

// decided is a row of the predictions.
type decided struct {
	query int
	label string
	value float64
}

// decisions reads the predictions of a job over so many shards.
func decisions(t testing.TB, r jobstest.Result, shards int) (all []decided) {
	t.Helper()
	for i := range shards {
		rows, err := csv.NewReader(strings.NewReader(string(
			r.Files[fmt.Sprintf("predictions/part-%06d.csv", i)]))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[min(1, len(rows)):] {
			query, err1 := strconv.Atoi(row[0])
			value, err2 := strconv.ParseFloat(row[2], 64)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			all = append(all, decided{query, row[1], value})
		}
	}
	return all
}

func near(a, b, share float64) bool { return math.Abs(a-b) <= share*(math.Abs(a)+math.Abs(b)) }

func metricsOf(r jobstest.Result, prefix string) (text string) {
	for _, m := range r.Metrics {
		if strings.HasPrefix(m.Name, prefix) {
			text += fmt.Sprintf("%s %s\n", m.Name, m.Value)
		}
	}
	return text
}

// The decisions and values are those of a model that holds the base, and so is what is judged.
func TestStreamDecidesAsTheModelDoes(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		records, queries := someRecords(150, sparse), someRecords(40, sparse)
		for i := range queries {
			queries[i].Label = string(rune('a' + i%2)) // some are mistakes
		}
		for i := range records {
			records[i].Weight = float32(1 + i%4)
		}
		for _, form := range forms {
			want := outcomes(t, form.kind, mustTrain(t, form.kind, form.params, records), queries)
			r := decide(t, form.kind, streamed(form.params), jobstest.Deal(records, 4), jobstest.Deal(queries, 3),
				kernelops.Best())
			got := decisions(t, r, 3)
			if len(got) != len(want) {
				t.Fatalf("%s %s: %d decisions of %d", form.kind, form.params, len(got), len(want))
			}
			share := 1e-9
			if form.params == `{}` && form.kind == MeanName {
				share = 1e-6 // the norms of the linear kernel are those of the means
			}
			for i, d := range got {
				if d.query != i || d.label != want[i].Label || !near(d.value, want[i].Value, share) {
					t.Errorf("%s %s: %+v of query %d, want %+v", form.kind, form.params, d, i, want[i])
				}
			}
			whole := decide(t, form.kind, form.params, jobstest.Deal(records, 4), jobstest.Deal(queries, 3),
				kernelops.Best())
			if a, b := metricsOf(r, "evaluation.confusion"), metricsOf(whole, "evaluation.confusion"); a != b ||
				metricsOf(r, "evaluation.mistakes") == "" {
				t.Errorf("%s %s: judged\n%s, want\n%s", form.kind, form.params, a, b)
			}
		}
	}
}

// The records that a split holds out are decided by the others.
func TestStreamDecidesHeldOutRecords(t *testing.T) {
	for _, form := range forms {
		spec := specOf(form.kind, streamed(form.params))
		spec.Spec.Input.Split.Test = 0.3
		records := jobstest.Deal(someRecords(90, false), 4)
		r, err := tryStream(t, spec, records, nil, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		spec.Spec.Params = []byte(form.params)
		whole, err := tryStream(t, spec, records, nil, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		if a, b := metricsOf(r, "evaluation"), metricsOf(whole, "evaluation"); a != b || a == "" {
			t.Errorf("%s %s: judged\n%s, want\n%s", form.kind, form.params, a, b)
		}
	}
}

// Whatever tasks and blocks: one model, the same files.
func TestStreamGroupingNeverShows(t *testing.T) {
	for i, form := range forms {
		spec := specOf(form.kind, streamed(form.params))
		spec.Spec.Queries = &protocol.Input{}
		algorithm, err := kindOf(form.kind).New(spec)
		if err != nil {
			t.Fatal(err)
		}
		records, queries := someRecords(23, i%2 == 1), someRecords(10, i%2 == 1)
		jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(records, 4), kernelops.Best(),
			jobstest.WithQueries(jobstest.Deal(queries, 3)))
	}
}

func TestStreamKernelSetsAgree(t *testing.T) {
	for _, form := range forms {
		digests := map[string]bool{}
		for _, ops := range kernelops.All() {
			r := decide(t, form.kind, streamed(form.params), jobstest.Deal(someRecords(300, false), 3),
				jobstest.Deal(someRecords(40, false), 2), ops)
			digests[jobstest.Digest(r.Model)+metricsOf(r, "")+fmt.Sprint(decisions(t, r, 2))] = true
		}
		if len(digests) != 1 {
			t.Errorf("%s %s: %d results", form.kind, form.params, len(digests))
		}
	}
}

// Chunks have their rows whatever blocks they come in, and wide rows come a few at a time.
func TestChunks(t *testing.T) {
	for _, c := range []struct{ width, rows int }{{1, 4096}, {0, 4096}, {784, 1337}, {1 << 19, 2}, {1 << 22, 1}} {
		if got := chunkRows(c.width); got != c.rows {
			t.Errorf("%d rows of width %d, want %d", got, c.width, c.rows)
		}
	}
	for _, sparse := range []bool{false, true} {
		records := someRecords(23, sparse)
		for i := range records {
			records[i].Weight = float32(i)
		}
		state := mustTrain(t, MeanName, `{}`, records)
		space, err := readSpace(state)
		if err != nil {
			t.Fatal(err)
		}
		whole := newBase(space)
		var sizes []int
		err = chunks(jobstest.Shards([][]jobstest.Record{records}, 7)[0](t.Context()), space, nil, 5,
			func(b *base) error {
				sizes = append(sizes, b.N)
				return whole.join(b)
			})
		if err != nil || !slices.Equal(sizes, []int{5, 5, 5, 5, 3}) {
			t.Errorf("%v, %v", sizes, err)
		}
		for i := range records {
			if whole.weight(i) != float64(i) || whole.class[i] != int32(i%3) {
				t.Errorf("row %d weighs %v in class %d", i, whole.weight(i), whole.class[i])
			}
		}
	}
}

// Sums of terms are the same however they are relative.
func TestTermsByHand(t *testing.T) {
	all := newLogSums(1)
	all.add(0, math.Inf(-1), 0)
	if all.sum[0] != 0 {
		t.Error(all)
	}
	for _, add := range [][2]float64{{-5, 2}, {-1000, 3}, {-4, 1}, {math.Inf(-1), 0}, {-6, 1}} {
		all.add(0, add[0], add[1])
	}
	want := 2*math.Exp(-1) + 1 + math.Exp(-2)
	if all.greatest[0] != -4 || math.Abs(all.sum[0]-want) > 1e-15 {
		t.Errorf("%v, want %v", all, want)
	}
}

// What is not stored does not grow with the records, predicts nothing and says so.
func TestUnstoredModel(t *testing.T) {
	for _, form := range forms {
		few := decide(t, form.kind, streamed(form.params), jobstest.Deal(someRecords(60, false), 2),
			jobstest.Deal(someRecords(5, false), 1), kernelops.Best())
		many := decide(t, form.kind, streamed(form.params), jobstest.Deal(someRecords(600, false), 9),
			jobstest.Deal(someRecords(5, false), 1), kernelops.Best())
		if a, b := few.Model.EncodedSize(), many.Model.EncodedSize(); a != b {
			t.Errorf("%s %s: models of %d and %d bytes", form.kind, form.params, a, b)
		}
		text, err := kindOf(form.kind).Describe(many.Model, jobs.DescribeOptions{})
		if err != nil || !strings.Contains(text, "600 records of width 6, not stored") ||
			!strings.Contains(text, " 200  ") {
			t.Errorf("%s, %v", text, err)
		}
		_, err = kindOf(form.kind).Predict(many.Model, kernelops.Best())
		wantFault(t, err, protocol.CodeSpecInvalid)
	}
}

func wantFault(t testing.TB, err error, code protocol.Code) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != code {
		t.Errorf("%v; want %s", err, code)
	}
}

// What cannot be decided is refused.
func TestStreamRefuses(t *testing.T) {
	queries := jobstest.Deal(someRecords(20, false), 2)
	for _, form := range forms {
		_, err := kindOf(form.kind).New(specOf(form.kind, streamed(form.params)))
		wantFault(t, err, protocol.CodeSpecInvalid) // nothing to decide
		spec := specOf(form.kind, streamed(form.params))
		spec.Spec.Run.MaxStateBytes = 100
		_, err = tryStream(t, spec, queries, queries, kernelops.Best())
		wantFault(t, err, protocol.CodeStateTooBig)
		light := someRecords(20, false)
		for i := range light {
			light[i].Weight = float32(i % 3)
		}
		_, err = tryStream(t, specOf(form.kind, streamed(form.params)), jobstest.Deal(light, 2), queries,
			kernelops.Best())
		wantFault(t, err, protocol.CodeInputEmpty)
	}
	huge := jobstest.DenseRecords([][]float32{{1e30, 0}, {0, 1}}, "a", "b")
	_, err := tryStream(t, specOf(MeanName, `{"store_base": false, "kernel": "polynomial"}`), [][]jobstest.Record{huge},
		queries, kernelops.Best())
	wantFault(t, err, protocol.CodeBadRecord)
	_, err = tryStream(t, specOf(MeanName, `{"store_base": false}`),
		[][]jobstest.Record{jobstest.DenseRecords([][]float32{{1e20}, {1}}, "a", "b")},
		[][]jobstest.Record{jobstest.DenseRecords([][]float32{{1e20}})}, kernelops.Best())
	wantFault(t, err, protocol.CodeBadRecord)
}

// Queries without labels are decided and not judged.
func TestStreamWithoutLabels(t *testing.T) {
	queries := someRecords(12, false)
	for i := range queries {
		queries[i].Label = ""
	}
	rows := make([][]float32, len(queries))
	for i := range rows {
		rows[i] = queries[i].Dense
	}
	for _, form := range forms {
		r := decide(t, form.kind, streamed(form.params), jobstest.Deal(someRecords(60, false), 3),
			jobstest.Deal(jobstest.DenseRecords(rows), 2), kernelops.Best())
		if n := len(decisions(t, r, 2)); n != 12 || metricsOf(r, "evaluation") != "" {
			t.Errorf("%s %s: %d decisions, judged %s", form.kind, form.params, n, metricsOf(r, "evaluation"))
		}
	}
}
