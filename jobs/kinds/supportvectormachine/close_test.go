package supportvectormachine

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/kernelops"
)

// supportRow is a row of the file.
type supportRow struct {
	offset               int
	label, machine       string
	alpha, margin, slack float64
}

func supportRows(t *testing.T, result jobstest.Result) (rows []supportRow) {
	t.Helper()
	x, err := parts.ReadIndex(result.Files["support/index.json"])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range x.Parts {
		lines, err := csv.NewReader(strings.NewReader(string(result.Files[part.Name]))).ReadAll()
		if err != nil || !slices.Equal(lines[0], x.Columns) {
			t.Fatal(lines, x.Columns, err)
		}
		for _, l := range lines[1:] {
			r := supportRow{label: l[2], machine: l[3]}
			r.offset, _ = strconv.Atoi(l[1])
			for i, to := range []*float64{&r.alpha, &r.margin, &r.slack} {
				if *to, err = strconv.ParseFloat(l[4+i], 64); err != nil {
					t.Fatal(err)
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// Worked by hand: 1 and 3 of b, -1 of a: coefficients of 1/2 at 1 and -1, with margins of 1; at C = 1/4 both are 1/4,
// and lie within the margin by 1/2.
func TestSupportByHand(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{1}, {3}, {-1}}, "b", "b", "a")
	for cost, want := range map[string][3]float64{"10": {0.5, 1, 0}, "0.25": {0.25, 0.5, 0.5}} {
		_, result := train(t, `{"kernel":"linear","support_vectors":true,"blocks":2,"tol":1e-9,"C":`+cost+`}`, records)
		rows := supportRows(t, result)
		if len(rows) != 2 || rows[0].label != "b" || rows[1].label != "a" || rows[1].machine != "b against a" {
			t.Fatalf("%+v", rows)
		}
		for _, r := range rows {
			for i, got := range []float64{r.alpha, r.margin, r.slack} {
				if math.Abs(got-want[i]) > 1e-9 {
					t.Errorf("C %s: %+v, not %v", cost, r, want)
				}
			}
		}
	}
}

// The rows are the coefficients of the model with the decisions that were certified; the model is that of a job that
// writes nothing; neither depends on shards or kernel sets.
func TestSupportVectors(t *testing.T) {
	records := groups(90, 4, 3)
	plain, _ := train(t, `{"C":2,"blocks":3}`, records)
	m, result := train(t, `{"C":2,"blocks":3,"support_vectors":true}`, records)
	if !slices.Equal(plain.alpha, m.alpha) || plain.rounds != m.rounds || m.margins != nil {
		t.Error("another model")
	}
	rows := supportRows(t, result)
	p, at := newProofSums(m, kernelops.Best()), 0
	for i, ordinal := range m.ordinal {
		p.decide(records[ordinal].Dense, int(m.class[i]))
		for slot, a := range m.alpha[2*i : 2*i+2] {
			if a == 0 {
				continue
			}
			k, y := m.classes().At(int(m.class[i]), slot)
			decision := y * (p.sum[slot] + m.bias[k])
			want := supportRow{int(ordinal), records[ordinal].Label, m.machineName(k), a, decision, max(0, 1-decision)}
			if at >= len(rows) || rows[at] != want {
				t.Fatalf("row %d is not %+v", at, want)
			}
			at++
		}
	}
	if at != len(rows) {
		t.Errorf("%d rows, not %d", len(rows), at)
	}
	count := 0
	if err := jobs.ReadMetric(result.Metrics, "svm.support", &count); err != nil || count != at {
		t.Errorf("%d support vectors are counted, %v", count, err)
	}
	other, err := tryRun(t, `{"C":2,"blocks":3,"support_vectors":true}`,
		[][]jobstest.Record{records[:7], records[7:50], records[50:]}, kernelops.Generic())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range supportRows(t, other) {
		if r.alpha != rows[i].alpha || r.margin != rows[i].margin || r.label != rows[i].label {
			t.Errorf("row %d of other shards is %+v", i, r)
		}
	}
}

// Over two columns the report has a picture of each of the first machines: the records of its classes, and curves on
// which its decision is 0, 1 and -1.
func TestPlane(t *testing.T) {
	for classes, want := range map[int]int{2: 1, 3: 3, 4: margin.PlaneMachines} {
		records := groups(96, 2, classes)
		m, result := train(t, `{"C":5,"gamma":1}`, records)
		figures, err := Kind().Figures(result.Model, result.Metrics)
		if err != nil {
			t.Fatal(err)
		}
		pictures := 0
		for _, f := range figures {
			if f.Scatter == nil {
				continue
			}
			checkPlane(t, m, pictures, *f.Scatter, 96*2/classes)
			pictures++
		}
		if pictures != want || result.Files["support/index.json"] != nil {
			t.Errorf("%d classes: %d pictures", classes, pictures)
		}
	}
	for params, width := range map[string]int{`{}`: 3, `{"mode":"regress"}`: 2} {
		records := groups(40, width, 2)
		for i := range records {
			records[i].Label = fmt.Sprint(i % 2)
		}
		_, result := train(t, params, records)
		if points, err := margin.Points(result.Metrics, metricPrefix); err != nil || points != nil {
			t.Errorf("%s: %d points, %v", params, len(points), err)
		}
	}
}

func checkPlane(t *testing.T, m *model, k int, s jobs.ScatterPlot, records int) {
	t.Helper()
	decide := plane{m, k}.decision()
	points, marked := 0, 0
	for g, group := range s.Groups {
		points += len(group.X)
		for i := range group.X {
			if group.Marked[i] {
				marked++
				side := decide([]float32{float32(group.X[i]), float32(group.Y[i])})
				if float64(2*g-1)*side > 1.01 {
					t.Errorf("machine %d, group %d: a support vector at %v", k, g, side)
				}
			}
		}
	}
	if points != records || marked != m.supportsOf(k) || len(s.Curves) < 3 {
		t.Errorf("machine %d: %d points, %d marked, %d curves", k, points, marked, len(s.Curves))
	}
	levels := map[string]float64{"boundary": 0, "margin": 1}
	for _, c := range s.Curves {
		for i, x := range c.X {
			if d := math.Abs(decide([]float32{float32(x), float32(c.Y[i])})); math.Abs(d-levels[c.Name]) > 0.05 {
				t.Errorf("machine %d: the decision on its %s is %v", k, c.Name, d)
			}
		}
	}
}
