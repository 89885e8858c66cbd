package nearestmean

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/onevsone"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// pairsSpec judges all pairs on queries.
func pairsSpec() protocol.JobSpec {
	spec := specOf(`{"pairs": true}`)
	spec.Spec.Queries = &protocol.Input{}
	return spec
}

func runPairs(t testing.TB, base, queries []jobstest.Record, shards int, ops *kernelops.Set) jobstest.Result {
	t.Helper()
	algorithm, err := New(pairsSpec())
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, pairsSpec(), jobstest.Shards(jobstest.Deal(base, 2), 300), ops,
		jobstest.Grouping{},
		jobstest.WithQueries(jobstest.Deal(queries, shards)))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// The means lie at 0, 10 and 4. Of the queries of class "a" the one at 1 is right in both pairs, the
// one at 3 is closer to "c", the one at 2 is as close to "c" and goes to "a", the first label; of class "c"
// the one at 2 goes to "a" for the same reason, and the one at 8 to "b". "b" has no queries, and "d" no mean.
func TestPairsByHand(t *testing.T) {
	base := jobstest.DenseRecords([][]float32{{-1}, {9}, {4}, {1}, {11}}, "a", "b", "c", "a", "b")
	queries := jobstest.DenseRecords([][]float32{{1}, {3}, {2}, {2}, {8}, {5}}, "a", "a", "a", "c", "c", "d")
	result := runPairs(t, base, queries, 2, kernelops.Generic())
	want := "first,second,records,errors,error_percent,first_records,first_errors,second_records,second_errors\n" +
		"a,b,3,0,0,3,0,0,0\n" +
		"a,c,5,2,40,3,1,2,1\n" +
		"b,c,2,1,50,0,0,2,1\n"
	if got := string(result.Files[onevsone.File]); got != want {
		t.Errorf("%s", got)
	}
	for _, m := range result.Metrics {
		if m.Name == "pairs.most_errors" && string(m.Value) != `"b and c: 1 of 2 (50.00 %)"` {
			t.Errorf("%s", m.Value)
		}
	}
}

// pictures are 16 grays: class y is bright in row y of 4, but every seventh looks like the next class.
func pictures(n int) []jobstest.Record {
	var records []jobstest.Record
	for i := range n {
		y, row := i%3, make([]float32, 16)
		bright := y
		if i%7 == 0 {
			bright = (y + 1) % 3
		}
		for j := range 4 {
			row[4*bright+j] = float32(1 + i%5)
		}
		records = append(records, jobstest.Record{Label: string(rune('a' + y)), Dense: row})
	}
	return records
}

func TestPairFigures(t *testing.T) {
	result := runPairs(t, pictures(60), pictures(42), 4, kernelops.Best())
	figures, err := Kind().Figures(result.Model, result.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]jobs.Figure{}
	for _, f := range figures {
		found[f.Title] = f
	}
	if means := found["Class means"].Images; len(means) != 3 || means[0].Width != 4 || means[2].Label != "c" {
		t.Errorf("means: %+v", means)
	}
	if table := found["Pairs of classes"].Table; table == nil || len(table.Rows) != 3 || table.Rows[0][0] != "a, b" {
		t.Errorf("table: %+v", table)
	}
	// Of 42 queries six look like the next class, two of each.
	if heat := found["Errors of pairs"].Heat; heat == nil || heat.Counts[1] != 2 || heat.Counts[5] != 2 ||
		heat.Counts[6] != 2 {
		t.Errorf("heat map: %+v", heat)
	}
	if wrong := found["Misclassified by the rule of two means"].Images; len(wrong) < 3 || wrong[0].Label != "a → b" ||
		wrong[0].Values[4] == 0 {
		t.Errorf("misclassified: %+v", wrong)
	}
	if figures, err = Kind().Figures(result.Model, nil); err != nil || len(figures) != 1 {
		t.Errorf("without metrics: %d figures, %v", len(figures), err)
	}
	if _, err := Kind().Figures(result.Model, []jobs.Metric{{Name: "pairs", Value: []byte(`"x"`)}}); err == nil {
		t.Error("a metric that the job did not write is taken")
	}
}

func TestGroupingOfPairsNeverShows(t *testing.T) {
	algorithm, err := New(pairsSpec())
	if err != nil {
		t.Fatal(err)
	}
	for _, ops := range kernelops.All() {
		jobstest.CheckGrouping(t, algorithm, pairsSpec(), jobstest.Deal(pictures(30), 4), ops,
			jobstest.WithQueries(jobstest.Deal(pictures(24), 4)))
	}
}

// How the queries are cut into shards changes nothing either: counts are integers.
func TestShardsOfQueriesNeverShow(t *testing.T) {
	var first string
	for shards := 1; shards < 6; shards++ {
		result := runPairs(t, pictures(60), pictures(44), shards, kernelops.Best())
		if got := fmt.Sprintf("%s %s", result.Files[onevsone.File], result.Metrics); first == "" {
			first = got
		} else if got != first {
			t.Errorf("%d shards:\n%s\nnot\n%s", shards, got, first)
		}
	}
}

// A split holds out its share, and the model is that of the others.
func TestEvaluationOfASplit(t *testing.T) {
	spec := specOf(`{"pairs": true, "costs": {"a": {"b": 5}}}`)
	spec.Spec.Input.Split.Test, spec.Spec.Repro.Seed = 0.3, 7
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(pictures(90), 3), 4),
		kernelops.Best(), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Records, Correct int64
	}
	var cost struct{ Total float64 }
	if err := errors.Join(jobs.ReadMetric(result.Metrics, "evaluation", &report),
		jobs.ReadMetric(result.Metrics, "evaluation.cost", &cost)); err != nil {
		t.Fatal(err)
	}
	weights, err := jobs.Get[float64](result.Model, "means.weight")
	if err != nil {
		t.Fatal(err)
	}
	if trained := weights[0] + weights[1] + weights[2]; trained+float64(report.Records) != 90 || report.Records < 10 {
		t.Errorf("%v trained, %d judged", trained, report.Records)
	}
	if wrong := float64(report.Records - report.Correct); !(cost.Total >= wrong) || wrong == 0 {
		t.Errorf("%v wrong, cost %v", wrong, cost.Total)
	}
}

func TestPairsRefused(t *testing.T) {
	many := make([]jobstest.Record, onevsone.MaxClasses+1)
	for i := range many {
		many[i] = jobstest.Record{Label: fmt.Sprint(i), Dense: []float32{float32(i)}}
	}
	both, unlabelled := pairsSpec(), pairsSpec()
	both.Spec.Input.Split.Test = 0.5
	costly := specOf(`{"costs": {"a": {"x": 2}}}`)
	for name, c := range map[string]struct {
		spec    protocol.JobSpec
		base    []jobstest.Record
		queries []jobstest.Record
		want    string
	}{
		"nothing to judge":    {specOf(`{"pairs": true}`), pictures(9), nil, "spec.queries or spec.input.split"},
		"queries and a split": {both, pictures(9), pictures(9), "leave one out"},
		"queries unlabelled": {unlabelled, pictures(9), jobstest.DenseRecords([][]float32{make([]float32, 16)}),
			"no label to judge by"},
		"queries of a width":    {unlabelled, pictures(9), jobstest.DenseRecords([][]float32{{1}}, "a"), ""},
		"too many classes":      {pairsSpec(), many, many, "up to 256 classes"},
		"costs of no label":     {costly, pictures(9), nil, `costs name the label "x"`},
		"a cost that is no one": {specOf(`{"costs": {"a": {"b": -1}}}`), pictures(9), nil, "the cost of deciding"},
	} {
		err := func() error {
			algorithm, err := New(c.spec)
			if err != nil {
				return err
			}
			_, err = jobstest.Run(t.Context(), algorithm, c.spec, jobstest.Shards(jobstest.Deal(c.base, 2), 3),
				kernelops.Generic(), jobstest.Grouping{},
				jobstest.WithQueries(jobstest.Deal(c.queries, 1)))
			return err
		}()
		var fault *protocol.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A row of zeros has the distance |mu| to each mean.
func TestRowsOfZeros(t *testing.T) {
	model, err := train(t, `{"features": {"scale": "l2"}}`, append(jobstest.DenseRecords([][]float32{{0, 0}}, "+"),
		fourPoints...), 9, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	means, err := jobs.Get[float64](model, "means", 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	o := outcomes(t, model, jobstest.DenseRecords([][]float32{{0, 0}}))[0]
	for y, d := range o.Scores {
		if want := math.Hypot(means[2*y], means[2*y+1]); math.Abs(d-want) > 1e-12 {
			t.Errorf("class %d: %v, not %v", y, d, want)
		}
	}
}
