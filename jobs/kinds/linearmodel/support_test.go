package linearmodel

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// supportRow is a row of the file.
type supportRow struct {
	object, label, machine string
	offset                 int
	alpha, margin, slack   float64
}

// supportRows reads all parts, and checks that the index counts their rows.
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
			r := supportRow{object: l[0], label: l[2], machine: l[3]}
			r.offset, _ = strconv.Atoi(l[1])
			for i, to := range []*float64{&r.alpha, &r.margin, &r.slack} {
				if *to, err = strconv.ParseFloat(l[4+i], 64); err != nil {
					t.Fatal(err)
				}
			}
			rows = append(rows, r)
		}
	}
	if int64(len(rows)) != x.Rows {
		t.Errorf("%d rows, the index has %d", len(rows), x.Rows)
	}
	return rows
}

// Worked by hand: x = 1 and 3 of b, -1 of a, C = 1/4, no bias: w = 1/2 of the coefficients 1/4 of 1 and -1, which lie
// within the margin by 1/2; 3 is beyond it.
func TestSupportByHand(t *testing.T) {
	records := []jobstest.Record{{Label: "b", Dense: []float32{1}}, {Label: "b", Dense: []float32{3}},
		{Label: "a", Dense: []float32{-1}}}
	for _, solver := range solvers {
		m, result := train(t, fmt.Sprintf(
			`{"support_vectors":true,"bias_scale":0,"tol":1e-9,"C":0.25,"blocks":2,"solver":%q}`, solver), records)
		rows := slices.DeleteFunc(supportRows(t, result), func(r supportRow) bool {
			return r.offset == 1 && r.alpha < 1e-15 && r.slack == 0 // ascend comes as near to 0 as that
		})
		if len(rows) != 2 || rows[0].label != "b" || rows[1].label != "a" || rows[0].machine != "b" {
			t.Fatalf("%s: %+v", solver, rows)
		}
		for _, r := range rows {
			if math.Abs(r.alpha-0.25) > 1e-4 || math.Abs(r.margin-0.5) > 1e-4 || math.Abs(r.slack-0.5) > 1e-4 {
				t.Errorf("%s: %+v, w %v", solver, r, m.weights)
			}
		}
	}
}

// The coefficients make the weights that were proved; margins and slacks are those of the model's weights. The model is
// the one of a job that writes nothing, and the rows depend on neither shards nor kernel sets.
func TestSupportVectors(t *testing.T) {
	for _, classes := range []int{2, 3} {
		records := groups(120, 4, classes, classes == 3)
		for _, solver := range solvers {
			for _, loss := range []string{"hinge", "squared_hinge"} {
				params := fmt.Sprintf(`{"support_vectors":%%t,"loss":%q,"solver":%q,"blocks":3,"max_rounds":400,"C":0.5}`,
					loss, solver)
				plain, _ := train(t, fmt.Sprintf(params, false), records)
				m, result := train(t, fmt.Sprintf(params, true), records)
				if !slices.Equal(plain.weights, m.weights) || !slices.Equal(plain.proofs, m.proofs) {
					t.Errorf("%s: another model", params)
				}
				rows := supportRows(t, result)
				checkSupport(t, m, records, rows)
				other, err := tryRun(t, fmt.Sprintf(params, true),
					[][]jobstest.Record{records[:7], records[7:50], records[50:]}, kernelops.Generic())
				if err != nil {
					t.Fatal(err)
				}
				again := supportRows(t, other)
				for i := range again {
					again[i].object, again[i].offset = rows[i].object, rows[i].offset
				}
				if !slices.Equal(rows, again) {
					t.Errorf("%s: other rows of other shards", params)
				}
				total := 0
				if err := jobs.ReadMetric(result.Metrics, "linear.support", &total); err != nil || total != len(rows) {
					t.Errorf("%s: %d support vectors, %d rows, %v", params, total, len(rows), err)
				}
			}
		}
	}
}

func checkSupport(t *testing.T, m *model, records []jobstest.Record, rows []supportRow) {
	t.Helper()
	of, linear := make([]float64, len(m.weights)), make([]float64, m.machines())
	for _, r := range rows {
		i := r.offset
		if i >= len(records) || records[i].Label != r.label {
			t.Fatalf("no record of %+v", r)
		}
		x := dual.Row{Values: records[i].Dense, Index: records[i].Indices, Bias: 1}
		if records[i].Dense == nil {
			x.Values = records[i].Values
		}
		k := 0
		if m.machines() > 1 {
			k = int(r.machine[0] - 'a')
		}
		y := -1.0
		if r.machine == r.label {
			y = 1
		}
		margin := y * x.Dot(m.row(m.weights, k))
		if r.alpha <= 0 || r.margin != margin || r.slack != max(0, 1-margin) ||
			m.loss.Form == dual.Hinge && r.alpha > 0.5 {
			t.Errorf("%+v, margin %v", r, margin)
		}
		x.AddTo(m.row(of, k), r.alpha*y)
		linear[k] += r.alpha
	}
	for k, c := range m.proofs {
		off := 0.0 // D is strongly concave in W(alpha), P strongly convex: both are near the best
		for j, w := range m.row(m.weights, k) {
			off += (w - m.row(of, k)[j]) * (w - m.row(of, k)[j])
		}
		if math.Sqrt(off) > 4*math.Sqrt(2*c.GapUpper) {
			t.Errorf("machine %d: the weights of the coefficients are %v off; %+v", k, math.Sqrt(off), c)
		}
		if m.loss.Form != dual.Hinge {
			continue // its dual has a square beside
		}
		d := linear[k] - dual.SquareOf(m.row(of, k))/2
		if d > c.Primal+1e-9*c.Primal || d < c.Dual-2*c.GapUpper-1e-9*c.Primal {
			t.Errorf("machine %d: the coefficients have the dual objective %v: %+v", k, d, c)
		}
	}
}

// A record that no coefficient was carried for, and a last round that wrote nothing, are faults.
func TestMalformedSupport(t *testing.T) {
	m, _ := train(t, `{}`, groups(60, 3, 2, false))
	u := newSupport(&training{model: m}, dataset.Row, 7)
	r := record{Row: dual.Row{Values: []float32{1, 2, 3}, Bias: 1}, number: 4}
	if err := u.add(&r, dataset.Identity{}, carried{1, 0, 2, 3}); err == nil {
		t.Error("a record without a coefficient was taken")
	}
	var fault *protocol.Fault
	if _, err := (job{}).close(t.Context(), &training{model: m}, nil, jobs.Round{}); !errors.As(err, &fault) ||
		fault.Code != protocol.CodeCorrupt {
		t.Errorf("a last round that wrote nothing: %v", err)
	}
	if _, err := New(specOf(`{"support_vectors":true,"loss":"squared"}`)); err == nil {
		t.Error("support vectors of squared loss were accepted")
	}
}

// Over two columns the report has a picture of each machine, with its lines.
func TestPlane(t *testing.T) {
	for classes, want := range map[int]int{2: 1, 3: 3, 6: margin.PlaneMachines} {
		records := groups(90, 2, classes, false)
		m, result := train(t, `{"max_rounds":20}`, records)
		figures, err := Kind().Figures(result.Model, result.Metrics)
		if err != nil {
			t.Fatal(err)
		}
		pictures := 0
		for _, f := range figures {
			if f.Scatter == nil {
				continue
			}
			checkPlane(t, m, pictures, *f.Scatter, len(records))
			pictures++
		}
		if pictures != want || result.Files["support/index.json"] != nil {
			t.Errorf("%d classes: %d pictures", classes, pictures)
		}
	}
	if _, result := train(t, `{}`, groups(90, 2, 2, true)); slices.ContainsFunc(result.Metrics,
		func(m jobs.Metric) bool { return m.Name == "linear.plane" }) {
		t.Error("a picture of sparse records")
	}
}

func checkPlane(t *testing.T, m *model, k int, s jobs.ScatterPlot, records int) {
	t.Helper()
	points, marked := 0, 0
	for g, group := range s.Groups {
		for i := range group.X {
			points++
			if !group.Marked[i] {
				continue
			}
			marked++
			// A support vector is not beyond its line of the margin, but for what is not proved.
			line := s.Lines[2-g]
			if side := line.A*group.X[i] + line.B*group.Y[i] + line.C; float64(2*g-1)*side > 0.2 {
				t.Errorf("machine %d, group %d: a support vector %v beyond the margin", k, g, side)
			}
		}
	}
	if points != records || marked == 0 || len(s.Lines) != 3 || s.Lines[0].A != m.row(m.weights, k)[0] {
		t.Errorf("%d points, %d marked, lines %+v", points, marked, s.Lines)
	}
}

// A machine that is done keeps the coefficients that its proof is about, while others go on.
func TestDoneKeepsCoefficients(t *testing.T) {
	m, _ := train(t, `{}`, groups(60, 3, 3, false))
	s := newNewton(training{model: m, now: slices.Clone(m.weights), done: []int32{1, 0, 1}}, false)
	l := newBent(s)
	l.before = held{centers: carried{0.25, 0.25, 0.25}, alpha: carried{0.5, 0.75, 1}}
	r := record{Row: dual.Row{Values: []float32{1, 2, 3}, Bias: 1}, target: 1, cost: 1, square: 15}
	if err := l.measure(&r); err != nil || l.after.alpha[0] != 0.5 || l.after.alpha[2] != 1 {
		t.Errorf("%v, %v", l.after, err)
	}
}
