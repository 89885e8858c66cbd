package kmeans

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// fourGroups are n points in two columns: two pairs of groups 2,000 apart, those of a pair 0.1 apart, with a standard
// deviation of 0.01.
func fourGroups(n int) [][]float32 {
	r, rows := rand.New(rand.NewPCG(0, 61)), make([][]float32, n)
	at := []float64{1000, 1000.1, -1000, -1000.1}
	for i := range rows {
		rows[i] = []float32{float32(at[i%4] + 0.01*r.NormFloat64()), float32(0.01 * r.NormFloat64())}
	}
	return rows
}

// events have a time in seconds, around one of four points of a year, and a value.
func events(n int) [][]float32 {
	r, rows := rand.New(rand.NewPCG(0, 62)), make([][]float32, n)
	at := []float64{0, 3600, 7200, 31_536_000}
	for i := range rows {
		rows[i] = []float32{float32(at[r.IntN(4)] + 60*r.NormFloat64()), float32(r.NormFloat64())}
	}
	return rows
}

// integers have exact ties between the centers that are records of theirs.
func integers(n, width, most int) [][]float32 {
	r, rows := rand.New(rand.NewPCG(0, 63)), make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, width)
		for j := range rows[i] {
			rows[i][j] = float32(r.IntN(most))
		}
	}
	return rows
}

func given(t *testing.T, rows [][]float32, more string) string {
	t.Helper()
	var exact [][]float64
	for _, row := range rows {
		exact = append(exact, wide(row))
	}
	centers, err := json.Marshal(exact)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"init": "given", "centers": %s, "assignments": true%s}`, centers, more)
}

// checkNearest recomputes every assignment: the first of the nearest centers in float64.
func checkNearest(t *testing.T, where string, m *model, rows [][]float32) {
	t.Helper()
	sizes, wrong := make([]int64, m.clusters()), 0
	for i, o := range predictAll(t, m, rows) {
		best, at := math.Inf(1), 0
		for j := range m.clusters() {
			d := squaredDistance(rows[i], m.centers[j*m.space.Width:(j+1)*m.space.Width])
			if d < best {
				best, at = d, j
			}
		}
		sizes[at]++
		if o.Label != strconv.Itoa(at) || o.Value != math.Sqrt(best) {
			wrong++
		}
	}
	if wrong > 0 || !slices.Equal(sizes, m.records) {
		t.Errorf("%s: %d of %d records are not at the first of their nearest centers; sizes %v, want %v", where, wrong,
			len(rows), m.records, sizes)
	}
}

// Records whose nearest centers differ by less than a float32 score can tell: each is at its nearest, at a tie at the
// first, and J is that of the same algorithm in float64.
func TestAssignmentIsExact(t *testing.T) {
	jitter := integers(3000, 16, 16)
	for i := range jitter {
		for j := range jitter[i] {
			jitter[i][j] += float32(offGrid.Float64(uint64(i), uint64(j))/2 - 0.25)
		}
	}
	four := fourGroups(2000)
	for _, set := range []struct {
		name string
		rows [][]float32
		k    int
	}{{"four groups", four, 4}, {"events", events(3000), 8}, {"integers", integers(3000, 3, 5), 8},
		{"jitter", jitter, 26}} {
		for _, rounds := range []int{1, 300} {
			where := fmt.Sprintf("%s, %d rounds at most", set.name, rounds)
			params := given(t, set.rows[:set.k], fmt.Sprintf(`, "max_rounds": %d`, rounds))
			records := jobstest.Deal(jobstest.DenseRecords(set.rows), 5)
			result := train(t, params, records...)
			m := modelOf(t, result)
			checkNearest(t, where, m, set.rows)
			centers := make([][]float64, set.k)
			for c := range centers {
				centers[c] = wide(set.rows[c])
			}
			got := numbers(t, result, ".distortion")
			want, _ := plain(set.rows, centers, int(m.rounds))
			for i, j := range want {
				near(t, fmt.Sprintf("%s: J of round %d", where, i+1), got[i], j, 1e-6)
			}
			digest := jobstest.Digest(result.Model)
			for _, ops := range kernelops.All() {
				other, err := tryRun(t, params, records, ops)
				if err != nil || jobstest.Digest(other.Model) != digest {
					t.Errorf("%s: kernel set %s has another model (%v)", where, ops.Name, err)
				}
			}
		}
	}
}

// Records as far from one center as from another go to the lower number, whatever centering rounds.
func TestTiesGoToTheLowerNumber(t *testing.T) {
	rows := integers(2000, 3, 5)
	var centers []float64
	for _, row := range rows[:8] {
		centers = append(centers, wide(row)...)
	}
	c := chunk{X: kernelops.NewMatrix(len(rows), 3)}
	for i, row := range rows {
		copy(c.X.Row(i), row)
	}
	for _, ops := range kernelops.All() {
		near, ties := newAssigner(ops, centers, []float32{1.0 / 3, 2.1, 1.7}), 0
		if err := near.assign(c); err != nil {
			t.Fatal(err)
		}
		for i, got := range near.index {
			best, at := math.Inf(1), 0
			for j := range 8 {
				switch d := squaredDistance(rows[i], centers[3*j:3*j+3]); {
				case d == best:
					ties++
				case d < best:
					best, at = d, j
				}
			}
			if int(got) != at {
				t.Errorf("%s: record %d, %v, is at center %d, want %d", ops.Name, i, rows[i], got, at)
			}
		}
		if ties < 100 {
			t.Errorf("%d ties: nothing to see", ties)
		}
	}
}

// All points equal, and centers equal to each other: everything goes to the first.
func TestEqualPointsGoToTheFirst(t *testing.T) {
	rows := slices.Repeat([][]float32{{1e6 + 1, -3}}, 50)
	m := modelOf(t, train(t, given(t, [][]float32{{1, 1}, {2, 2}, {1, 1}}, `, "empty": "keep", "max_rounds": 1`),
		jobstest.DenseRecords(rows)))
	if slices.Max(m.records) != 50 {
		t.Errorf("sizes %v", m.records)
	}
	checkNearest(t, "equal points", m, rows)
	twice := modelOf(t, train(t, given(t, [][]float32{{1e6 + 1, -3}, {1e6 + 1, -3}}, `, "empty": "keep"`),
		jobstest.DenseRecords(rows)))
	if !slices.Equal(twice.records, []int64{50, 0}) {
		t.Errorf("equal centers: sizes %v", twice.records)
	}
}

// Values at the ends of the range, and scales from 1e-40 to 1e30, have no bound in float32.
func TestHugeRangesAreExact(t *testing.T) {
	for name, values := range map[string][]float32{
		"huge": {-3e38, 3e38, 0, 2e38, 2.9e38, -1e38}, "mixed": {1e30, 1.1e30, 1e-3, 2e-3, -1e30, 5e29},
		"subnormal": {1e-40, 2e-40, 3e-45, 0, 1e-45, 5e-40},
	} {
		var rows [][]float32
		for _, v := range values {
			rows = append(rows, []float32{v, v / 3})
		}
		for _, ops := range kernelops.All() {
			result, err := tryRun(t, given(t, rows[:3], ""), [][]jobstest.Record{jobstest.DenseRecords(rows)}, ops)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkNearest(t, name+" with "+ops.Name, modelOf(t, result), rows)
		}
	}
}

// Sparse records, of which some are far out: one round from given centers.
func TestFarRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	const k, width = 64, 8
	for _, far := range []float64{127 * 0x1p40, 127 * 0x1p36, 127 * 0x1p33} {
		for range 5 {
			centers := make([][]float64, k)
			for c := range centers {
				centers[c] = make([]float64, width)
				for j := range centers[c] {
					centers[c][j] = float64(r.IntN(128)) / 127
				}
			}
			table := make([][]float32, 200)
			for i := range table {
				table[i] = make([]float32, width)
				for j := range table[i] {
					table[i][j] = r.Float32()
					if i%7 == 3 {
						table[i][j] = float32(far / 127 * float64(100+r.IntN(28)))
					}
				}
			}
			given, err := json.Marshal(centers)
			if err != nil {
				t.Fatal(err)
			}
			params := fmt.Sprintf(`{"k": 64, "init": "given", "centers": %s, "max_rounds": 1}`, given)
			records := jobstest.Deal(jobstest.SparseRecords(width, table), 3)
			want := runWith(t, params, records, kernelops.Generic())
			got := runWith(t, params, records, kernelops.Best(), jobstest.WithMemos(nil))
			if jobstest.Digest(got.Model) != jobstest.Digest(want.Model) {
				t.Fatalf("records %g away: another model", far)
			}
		}
	}
}
