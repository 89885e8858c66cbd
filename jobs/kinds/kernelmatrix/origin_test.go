package kernelmatrix

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/kernelops"
	"pgregory.net/rapid"
)

// normal draws rows of N(offset, deviation) in each column.
func normal(seed uint64, n, width int, offset, deviation float64) [][]float32 {
	draw := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, width)
		for j := range rows[i] {
			rows[i][j] = float32(offset + deviation*draw.NormFloat64())
		}
	}
	return rows
}

// worst compares the rbf matrix of rows with float64: the largest relative error of the values above a least one.
func worst(rows [][]float32, gamma float64, got []float32, least float64) (largest float64) {
	k := kernelops.Kernel{Kind: kernelops.RBF, Scale: float32(gamma)}
	for i, x := range rows {
		for j, y := range rows {
			if want := exact(k, x, y); want > least {
				largest = max(largest, math.Abs(float64(got[i*len(rows)+j])-want)/want)
			}
		}
	}
	return largest
}

func count(t testing.TB, result jobstest.Result, name string) (n float64) {
	t.Helper()
	for _, m := range result.Metrics {
		if m.Name == name {
			if err := json.Unmarshal(m.Value, &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// roads are the pairs by differences and the largest proved error of the others.
func roads(t testing.TB, result jobstest.Result) (pairs, bound float64) {
	t.Helper()
	return count(t, result, "kernelmatrix.pairs_by_differences"), count(t, result, "kernelmatrix.largest_error_bound")
}

// Three points a million away: the squared distances are 5, 20 and 13 there too, and the matrix has the same bits.
func TestShiftedPointsByHand(t *testing.T) {
	const params = `{"kernel": "rbf", "gamma": 0.125}`
	_, want, _ := assembled(t, mustRun(t, params, three, 1, kernelops.Generic()).Files)
	for i, d := range []float64{0, 5, 20, 5, 0, 13, 20, 13, 0} {
		if v := math.Exp(-d / 8); math.Abs(float64(want[i])-v) > 2e-7*v {
			t.Errorf("element %d is %v, not %v", i, want[i], v)
		}
	}
	for _, offset := range []float32{-100, 1e3, 1 << 20, 1e6} {
		var shifted [][]float32
		for _, row := range three {
			shifted = append(shifted, []float32{row[0] + offset, row[1] - offset})
		}
		files := mustRun(t, params, shifted, 2, kernelops.Generic()).Files
		if _, got, _ := assembled(t, files); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("shifted by %v: %v, not %v", offset, got, want)
		}
	}
}

// Normal data anywhere have the values of float64 on the rows as they were read, and no pair is measured by
// differences.
func TestOffsets(t *testing.T) {
	for _, offset := range []float64{0, 10, 100, 1e3, -1e4, 1e6} {
		rows := normal(7, 200, 8, offset, 1)
		result := mustRun(t, `{"kernel": "rbf", "gamma": 0.125}`, rows, 3, kernelops.Best())
		_, got, _ := assembled(t, result.Files)
		if e := worst(rows, 0.125, got, 0); !(e <= 1e-5) {
			t.Errorf("offset %v: relative error %v", offset, e)
		}
		n, bound := roads(t, result)
		if n != 0 || !(bound > 0 && bound < 5e-5) {
			t.Errorf("offset %v: %v pairs by differences, bound %v", offset, n, bound)
		}
		if c, err := Certify(result.Model); err != nil || c.Least < -c.Tolerance || c.Tolerance > 1e-3 {
			t.Errorf("offset %v: %+v, %v", offset, c, err)
		}
	}
}

// cities are rows of longitude, latitude and population.
func cities(t testing.TB, n int) (rows [][]float32) {
	t.Helper()
	file, err := os.Open("../../../testdata/geonames-cities.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; len(rows) < n; i += len(lines) / n {
		row := make([]float32, 3)
		for j := range row {
			v, err := strconv.ParseFloat(lines[i][j], 32)
			if err != nil {
				t.Fatal(err)
			}
			row[j] = float32(v)
		}
		rows = append(rows, row)
	}
	return rows
}

// The tables of testdata, raw and scaled, at narrow and wide kernels: values above 1e-6 are within 2e-5 of float64.
func TestRealTablesAgainstFloat64(t *testing.T) {
	tables := map[string][][]float32{"iris": iris(t), "cities": cities(t, 300)}
	for name, skip := range map[string]int{"wine_data.csv": 1, "breast_cancer.csv": 1, "digits.csv.gz": 0} {
		rows, _ := jobstest.Table(t, name, skip)
		tables[name] = rows[:min(300, len(rows))]
	}
	places := make([][]float32, 0, 300)
	for _, row := range tables["cities"] {
		places = append(places, row[:2])
	}
	tables["places"] = places
	for name, rows := range tables {
		largest, pairs := 0.0, 0.0
		for _, gamma := range []float64{1e-7, 1e-5, 1e-3, 0.02, 0.25, 1, 1 / float64(len(rows[0]))} {
			result := mustRun(t, fmt.Sprintf(`{"kernel": "rbf", "gamma": %v}`, gamma), rows, 2, kernelops.Best())
			_, got, _ := assembled(t, result.Files)
			e := worst(rows, gamma, got, 1e-6)
			if largest = max(largest, e); !(e <= 2e-5) {
				t.Errorf("%s, gamma %v: relative error %v", name, gamma, e)
			}
			pairs = max(pairs, count(t, result, "kernelmatrix.pairs_by_differences"))
		}
		t.Logf("%s: largest relative error %.3g, up to %.0f of %d pairs by differences", name, largest, pairs,
			len(rows)*(len(rows)-1)/2)
	}
}

// hard are data whose products do not tell distances, however they are centered.
func hard() map[string][][]float32 {
	groups := slices.Concat(normal(1, 30, 2, 1000, 0.01), normal(2, 30, 2, 1000.1, 0.01),
		normal(3, 30, 2, -1000, 0.01), normal(4, 30, 2, -1000.1, 0.01))
	unlike := normal(5, 100, 3, 0, 1)
	fine := normal(6, 100, 2, 0, 0.001)
	vast := normal(7, 40, 2, 0, 1)
	tiny := normal(8, 40, 2, 0, 1e-39)
	for i := range unlike {
		unlike[i][1] *= 30
		unlike[i][2] = 3600 * float32(i%4)
		fine[i][0] += float32(i%2) * 1e6 // centering loses the digits of half of the rows
	}
	for i := range vast {
		if i%3 == 0 {
			vast[i][0] = 3e38 * float32(1-i%2*2)
		}
	}
	return map[string][][]float32{"tight groups": groups, "columns unlike": unlike, "fine near 0": fine,
		"vast": vast, "tiny": tiny}
}

// Hard data have the values of float64 as well, by the second road, and the same bytes and counts for every kernel
// set, cut into shards, blocks and tiles.
func TestHardDataByDifferences(t *testing.T) {
	for name, rows := range hard() {
		var whole []byte
		figures := ""
		for _, ops := range kernelops.All() {
			for _, cut := range []struct{ shards, tile, block int }{{1, 2048, 1 << 14}, {3, 2048, 7}, {2, 9, 31}} {
				result := mustRun(t, fmt.Sprintf(`{"kernel": "rbf", "gamma": 0.5, "tile": %d, "block_records": %d}`,
					cut.tile, cut.block), rows, cut.shards, ops)
				_, got, file := assembled(t, result.Files)
				n, bound := roads(t, result)
				if whole == nil {
					whole, figures = file, fmt.Sprint(n, bound)
					if e := worst(rows, 0.5, got, 1e-37); !(e <= kernels.MaxError) {
						t.Errorf("%s: relative error %v", name, e)
					}
					if e := worst(rows, 0.5, got, 1e-6); !(e <= 2e-5) {
						t.Errorf("%s: relative error %v of values above 1e-6", name, e)
					}
					if n == 0 && name != "tiny" {
						t.Errorf("%s: no pair by differences", name)
					}
					t.Logf("%s: %v of %d pairs by differences, bound %v", name, n, len(rows)*(len(rows)-1)/2, bound)
				}
				if !bytes.Equal(file, whole) || fmt.Sprint(n, bound) != figures {
					t.Errorf("%s, %s, %+v: another matrix, or %v pairs and bound %v, not %s", name, ops.Name, cut, n,
						bound, figures)
				}
			}
		}
	}
}

// A row is at distance 0 from itself and its equals, on either road.
func TestEqualRowsAreAtDistanceZero(t *testing.T) {
	rows := append(normal(9, 5, 3, 1e7, 3e4), normal(9, 5, 3, 1e7, 3e4)...)
	result := mustRun(t, `{"kernel": "rbf", "gamma": 1e-3}`, rows, 2, kernelops.Best())
	_, got, _ := assembled(t, result.Files)
	for i := range rows {
		if got[i*10+i] != 1 || got[i*10+(i+5)%10] != 1 {
			t.Errorf("row %d: %v with itself, %v with its equal", i, got[i*10+i], got[i*10+(i+5)%10])
		}
	}
	if count(t, result, "kernelmatrix.pairs_by_differences") == 0 {
		t.Error("no pair by differences")
	}
}

// Rows of any place, scale and width: what is proved holds, by float64.
func TestErrorsAreWithinTheBound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.IntRange(1, 40).Draw(r, "width")
		offset := math.Ldexp(rapid.Float64Range(-1, 1).Draw(r, "offset"), rapid.IntRange(-3, 24).Draw(r, "exponent"))
		deviation := math.Ldexp(1, rapid.IntRange(-6, 6).Draw(r, "deviation"))
		rows := normal(rapid.Uint64().Draw(r, "seed"), 24, width, offset, deviation)
		gamma := math.Ldexp(1, rapid.IntRange(-12, 4).Draw(r, "gamma"))
		result := mustRun(t, fmt.Sprintf(`{"kernel": "rbf", "gamma": %v}`, gamma), rows, 2, kernelops.Best())
		_, got, _ := assembled(t, result.Files)
		if e := worst(rows, gamma, got, 1e-37); !(e <= kernels.MaxError) {
			r.Errorf("relative error %v", e)
		}
		if e := worst(rows, gamma, got, 1e-6); !(e <= 2e-5) {
			r.Errorf("relative error %v of values above 1e-6", e)
		}
	})
}
