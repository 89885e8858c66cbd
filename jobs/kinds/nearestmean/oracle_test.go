package nearestmean

import (
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/onevsone"
	"github.com/gram-compute/gram/kernelops"
)

// real are the tables that every classifier is checked against.
var real = []struct {
	name string
	skip int
}{{"digits.csv.gz", 0}, {"iris.csv", 1}, {"wine_data.csv", 1}, {"breast_cancer.csv", 1}}

// plainMeans are the means in float64, straight from the text, labels in byte order.
func plainMeans(rows [][]float32, labels []string) (classes []string, means [][]float64) {
	classes = slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	for _, class := range classes {
		mean, m := make([]float64, len(rows[0])), 0.0
		for i, x := range rows {
			if labels[i] != class {
				continue
			}
			m++
			for j, v := range x {
				mean[j] += float64(v)
			}
		}
		for j := range mean {
			mean[j] /= m
		}
		means = append(means, mean)
	}
	return classes, means
}

func distanceTo(x []float32, mean []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += math.Pow(float64(v)-mean[j], 2)
	}
	return math.Sqrt(sum)
}

func TestRealTablesAgainstTheText(t *testing.T) {
	for _, file := range real {
		rows, labels := jobstest.Table(t, file.name, file.skip)
		classes, means := plainMeans(rows, labels)
		model, err := train(t, `{}`, jobstest.DenseRecords(rows, labels...), 5, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		got, err := jobs.Get[float64](model, "means", len(classes), len(rows[0]))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range slices.Concat(means...) {
			if math.Abs(got[i]-v) > 1e-6*(1+math.Abs(v)) {
				t.Errorf("%s: value %d of the means is %v, not %v", file.name, i, got[i], v)
			}
		}
		for i, o := range outcomes(t, model, jobstest.DenseRecords(rows)) {
			best := 0
			for y, mean := range means {
				d := distanceTo(rows[i], mean)
				if math.Abs(o.Scores[y]-d) > 1e-6*(1+d) {
					t.Fatalf("%s: record %d is %v from class %s, not %v", file.name, i, o.Scores[y], classes[y], d)
				}
				if d < distanceTo(rows[i], means[best]) {
					best = y
				}
			}
			if o.Label != classes[best] {
				t.Errorf("%s: record %d is %q, not %q", file.name, i, o.Label, classes[best])
			}
		}
	}
}

// The rule of each two means, as the text writes it: f(x) = <w, x> + b, with w = 2 (mu_a - mu_b) and
// b = |mu_b|^2 - |mu_a|^2. Every fourth digit is a query.
func TestPairsAgainstTheLinearRule(t *testing.T) {
	rows, labels := jobstest.Table(t, "digits.csv.gz", 0)
	var base, queries [][]float32
	var baseLabels, queryLabels []string
	for i := range rows {
		if i%4 == 0 {
			queries, queryLabels = append(queries, rows[i]), append(queryLabels, labels[i])
		} else {
			base, baseLabels = append(base, rows[i]), append(baseLabels, labels[i])
		}
	}
	classes, means := plainMeans(base, baseLabels)
	result := runPairs(t, jobstest.DenseRecords(base, baseLabels...), jobstest.DenseRecords(queries, queryLabels...), 3,
		kernelops.Best())
	var pairs []onevsone.Pair
	if err := jobs.ReadMetric(result.Metrics, onevsone.Metric, &pairs); err != nil || len(pairs) != 45 {
		t.Fatalf("%d pairs, %v", len(pairs), err)
	}
	next := 0
	for a := range classes {
		for b := a + 1; b < len(classes); b++ {
			want := onevsone.Pair{First: classes[a], Second: classes[b]}
			for i, x := range queries {
				f := 0.0
				for j, v := range x {
					f += 2*(means[a][j]-means[b][j])*float64(v) + means[b][j]*means[b][j] - means[a][j]*means[a][j]
				}
				switch queryLabels[i] {
				case classes[a]:
					want.FirstRecords++
					if f < 0 {
						want.FirstErrors++
					}
				case classes[b]:
					want.SecondRecords++
					if f >= 0 {
						want.SecondErrors++
					}
				}
			}
			got := pairs[next]
			next++
			want.Records, want.Errors = want.FirstRecords+want.SecondRecords, want.FirstErrors+want.SecondErrors
			want.ErrorPercent = 100 * float64(want.Errors) / float64(want.Records)
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	}
}
