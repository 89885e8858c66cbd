package kmeans

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// Points 0, 1, 5, 6 and 7 on a line, centers begin at 0 and 1.
//
//	round 1: {0} {1 5 6 7}, J = (0 + 16 + 25 + 36)/2 = 38.5, centers 0 and 4.75
//	round 2: {0 1} {5 6 7}, J = (0 + 1 + 0.0625 + 1.5625 + 5.0625)/2 = 3.84375, centers 0.5 and 6
//	round 3: unchanged,     J = (0.25 + 0.25 + 1 + 0 + 1)/2 = 1.25
var line = jobstest.DenseRecords([][]float32{{0}, {1}, {5}, {6}, {7}}, "a", "a", "b", "b", "a")

const fromLeft = `{"init": "given", "centers": [[1], [0]], "assignments": true, "silhouette_sample": 5}`

func TestByHand(t *testing.T) {
	for _, shards := range [][][]jobstest.Record{{line}, {line[:2], line[2:]}, {nil, line[:1], line[1:4], line[4:]}} {
		result := train(t, fromLeft, shards...)
		m := modelOf(t, result)
		if got := numbers(t, result, ".distortion")[:3]; !slices.Equal(got, []float64{38.5, 3.84375, 1.25}) {
			t.Errorf("J by round: %v", got)
		}
		if !slices.Equal(m.centers, []float64{0.5, 6}) || !slices.Equal(m.records, []int64{2, 3}) ||
			m.distortion() != 1.25 {
			t.Errorf("centers %v, sizes %v, J %v", m.centers, m.records, m.distortion())
		}
		if m.stop != stopUnchanged || m.rounds != 3 || !slices.Equal(m.labels, []int64{2, 1, 0, 2}) {
			t.Errorf("stop %s after %d, labels %v", m.stop, m.rounds, m.labels)
		}
	}
}

func TestAssignmentsByHand(t *testing.T) {
	result := train(t, fromLeft, line[:2], line[2:])
	want := "object,offset,cluster,distance\n%,0,0,0.5\n%,1,0,0.5\n"
	got := string(result.Files["assignments/part-000000.csv"])
	object := strings.SplitN(strings.SplitN(got, "\n", 3)[1], ",", 2)[0]
	if got != strings.ReplaceAll(want, "%", object) {
		t.Errorf("part 0: %q", got)
	}
	if index := string(result.Files["assignments/index.json"]); !strings.Contains(index, `"rows": 5`) {
		t.Errorf("index: %s", index)
	}
}

// Of the points above, a and b of the silhouette: 0 and 1: a = 1; b = 6 and 5. 5: a = 1.5, b = 4.5; 6: a = 1, b = 5.5;
// 7: a = 1.5, b = 6.5.
func TestSilhouetteByHand(t *testing.T) {
	want := ((6-1)/6.0 + (5-1)/5.0 + (4.5-1.5)/4.5 + (5.5-1)/5.5 + (6.5-1.5)/6.5) / 5
	near(t, "silhouette", modelOf(t, train(t, fromLeft, line)).silhouette, want, 1e-12)
}

// ARI and NMI of Hubert and Arabie's kind of table, by hand. Labels 3+3, clusters 2+4:
//
//	2 1      pairs in cells 1+0+0+3 = 4, of rows 3+... see below
//	0 3
func TestAgreementByHand(t *testing.T) {
	// rows 3, 3: pairs 3 + 3 = 6; columns 2, 4: pairs 1 + 6 = 7; all 6: 15 pairs; cells: 1 + 0 + 0 + 3 = 4.
	// expected 6*7/15 = 2.8, greatest 6.5: ARI = 1.2/3.7.
	c := contingency{[]int64{2, 1, 0, 3}, 2}
	near(t, "ARI", c.adjustedRand(), 1.2/3.7, 1e-12)
	ln := math.Log
	mutual := 2.0/6*ln(2.0*6/(3*2)) + 1.0/6*ln(1.0*6/(3*4)) + 3.0/6*ln(3.0*6/(3*4))
	entropies := (ln(2) - (2.0/6*ln(2.0/6) + 4.0/6*ln(4.0/6))) / 2
	near(t, "NMI", c.normalizedMutualInformation(), mutual/entropies, 1e-12)
	equal, one := contingency{[]int64{0, 4, 3, 0}, 2}, contingency{[]int64{5}, 1}
	for _, same := range []contingency{equal, one} {
		near(t, "ARI of equals", same.adjustedRand(), 1, 1e-12)
		near(t, "NMI of equals", same.normalizedMutualInformation(), 1, 1e-12)
	}
	apart := contingency{[]int64{2, 2, 2, 2}, 2}
	if nmi := apart.normalizedMutualInformation(); nmi > 1e-12 || apart.adjustedRand() >= 0 {
		t.Errorf("independent partitions: NMI %v, ARI %v", nmi, apart.adjustedRand())
	}
}

func squaredDistance(x []float32, c []float64) float64 { return rows.SquaredDistance(x, c) }

func TestSqDistByHand(t *testing.T) {
	for n := range 12 {
		x, c, want := make([]float32, n), make([]float64, n), 0.0
		for j := range n {
			x[j], c[j] = float32(j*j), float64(3-j)
			want += (float64(x[j]) - c[j]) * (float64(x[j]) - c[j])
		}
		if got := squaredDistance(x, c); got != want {
			t.Errorf("%d numbers: %v, not %v", n, got, want)
		}
	}
}

func TestPredictByHand(t *testing.T) {
	p, err := NewPredictor(train(t, fromLeft, line).Model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	block := func(values ...float32) *dataset.Block {
		b := &dataset.Block{Dense: dataset.Dense{Width: 1, Values: values}}
		for i := range values {
			b.IDs = append(b.IDs, dataset.Identity{Object: "new", Offset: int64(i)})
		}
		return b
	}
	// 3.25 lies half way: the lower number.
	outcomes, err := p.Predict(t.Context(), block(-1, 3.25, 8))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []jobs.Outcome{{Label: "0", Value: 1.5}, {Label: "0", Value: 2.75}, {Label: "1", Value: 2}} {
		if got := outcomes[i]; got.Label != want.Label || got.Value != want.Value {
			t.Errorf("record %d: %+v, not %+v", i, got, want)
		}
	}
	wide := block(1, 2)
	wide.Dense.Width, wide.IDs = 2, wide.IDs[:1]
	_, err = p.Predict(t.Context(), wide)
	wantFault(t, err, "BAD_RECORD", "")
	if outcomes, err = p.Predict(t.Context(), block(3e38, 2e9)); err != nil || outcomes[1].Label != "1" {
		t.Errorf("records far out: %+v, %v", outcomes, err)
	}
}

// Directions: (1,0) and (2,1) against (0,3) and (1,9); lengths do not matter.
func TestCosineByHand(t *testing.T) {
	rows := jobstest.DenseRecords([][]float32{{1, 0}, {20, 10}, {0, 3}, {1, 9}})
	m := modelOf(t, train(t, `{"k": 2, "metric": "cosine", "init": "given", "centers": [[5, 0], [0, 5]]}`, rows))
	unit := func(x, y float64) (float64, float64) { n := math.Hypot(x, y); return x / n, y / n }
	ax, ay := unit(20, 10)
	bx, by := unit(1, 9)
	ax, ay = unit(1+ax, ay)
	bx, by = unit(bx, 1+by)
	for i, want := range []float64{bx, by, ax, ay} {
		near(t, "coordinate", m.centers[i], want, 1e-6)
	}
	if m.space.Scale() != "l2" || !slices.Equal(m.records, []int64{2, 2}) {
		t.Errorf("scale %s, sizes %v", m.space.Scale(), m.records)
	}
}

func TestDescribe(t *testing.T) {
	text, err := Kind().Describe(train(t, fromLeft, line).Model, jobs.DescribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"KMeans (euclidean)", "clusters     2", "1.25", "stopped by unchanged",
		"cluster 1 (3 records, radius 0.8165)",
		`mostly "b" (67 %)`, "column 1 6", "silhouette   0.7775", "  silhouette 0.7514"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	_, err = Kind().Describe(train(t, fromLeft, line).Model, jobs.DescribeOptions{Classes: []string{"2"}})
	wantFault(t, err, "SPEC_INVALID", `no cluster "2"`)
}

func TestFigures(t *testing.T) {
	result := train(t, `{"k": 3, "restarts": 2}`, blobs(60, 16, 3, 1))
	figures, err := Kind().Figures(result.Model, result.Metrics)
	if err != nil || len(figures) != 3 {
		t.Fatal(len(figures), err)
	}
	if lines := figures[0].Lines.Series; len(lines) != 2 || !strings.HasPrefix(lines[1].Name, "restart 1") ||
		len(lines[0].Y) == 0 {
		t.Errorf("lines %+v", lines)
	}
	least, chosen := 0, 0
	for i, line := range figures[0].Lines.Series {
		if last := figures[0].Lines.Series[least].Y; line.Y[len(line.Y)-1] < last[len(last)-1] {
			least = i
		}
		if line.Chosen != strings.HasSuffix(line.Name, ", chosen") {
			t.Errorf("%q is chosen: %t", line.Name, line.Chosen)
		}
		if line.Chosen {
			chosen++
		}
	}
	if !figures[0].Lines.Series[least].Chosen || chosen != 1 {
		t.Errorf("line %d ends lowest; %+v", least, figures[0].Lines.Series)
	}
	if heat := figures[1].Heat; len(heat.Counts) != 9 || len(heat.ColKeys) != 3 {
		t.Errorf("heat map %+v", heat)
	}
	if images := figures[2].Images; len(images) != 3 || images[0].Width != 4 || len(images[0].Values) != 16 {
		t.Errorf("images %+v", images)
	}
}
