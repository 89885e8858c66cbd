package kmeans

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
)

// table reads numbers with the label in the last column, after lines to skip.
func table(t testing.TB, name string, skip int) (rows [][]float32, labels []string) {
	t.Helper()
	file, err := os.Open(filepath.Join("../../../testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range lines[skip:] {
		row := make([]float32, len(fields)-1)
		for j := range row {
			v, err := strconv.ParseFloat(fields[j], 32)
			if err != nil {
				t.Fatal(err)
			}
			row[j] = float32(v)
		}
		rows, labels = append(rows, row), append(labels, fields[len(fields)-1])
	}
	return rows, labels
}

// plain is Algorithm 5 in float64, straight from the text: J of each round, and the centers and assignments at the end.
func plain(rows [][]float32, centers [][]float64, rounds int) (distortion []float64, assigned []int) {
	assigned = make([]int, len(rows))
	for range rounds {
		sums, sizes, j := make([][]float64, len(centers)), make([]float64, len(centers)), 0.0
		for i, x := range rows {
			best := math.Inf(1)
			for c, center := range centers {
				if d := plainDistance(x, center); d < best {
					best, assigned[i] = d, c
				}
			}
			j += best / 2
			c := assigned[i]
			if sums[c] == nil {
				sums[c] = make([]float64, len(x))
			}
			for d, v := range x {
				sums[c][d] += float64(v)
			}
			sizes[c]++
		}
		distortion = append(distortion, j)
		for c := range centers {
			for d := range centers[c] {
				if sizes[c] > 0 {
					centers[c][d] = sums[c][d] / sizes[c]
				}
			}
		}
	}
	return distortion, assigned
}

func plainDistance(x []float32, c []float64) float64 {
	sum := 0.0
	for d, v := range x {
		sum += (float64(v) - c[d]) * (float64(v) - c[d])
	}
	return sum
}

// places are the longitude and latitude of every 9th place.
func places(rows [][]float32, labels []string) (some [][]float32, of []string) {
	for i := 0; i < len(rows); i += 9 {
		some, of = append(some, rows[i][:2]), append(of, labels[i])
	}
	return some, of
}

var offGrid = philox.New(5, "test/grid")

// The same centers lead the same way as a float64 loop: J within 1e-12 in each round, each record in the same cluster.
func TestAgainstFloat64(t *testing.T) {
	for _, set := range []struct {
		name    string
		skip, k int
	}{{"digits.csv.gz", 0, 10}, {"digits.csv.gz", 0, 40}, {"iris.csv", 1, 3}, {"wine_data.csv", 1, 3},
		{"breast_cancer.csv", 1, 2},
		{"geonames-cities.csv.gz", 1, 12}} {
		rows, labels := table(t, set.name, set.skip)
		if len(rows) > 100_000 {
			rows, labels = places(rows, labels)
		}
		first, centers := "", make([][]float64, set.k)
		for c := range centers {
			centers[c] = wide(rows[c*len(rows)/set.k])
			for d := range centers[c] { // off the grid of the data, so that no record is exactly as far from two
				centers[c][d] += 0.1 * offGrid.Float64(uint64(c), uint64(d))
			}
			text := fmt.Sprint(centers[c])
			first += strings.ReplaceAll(text, " ", ", ") + ", "
		}
		params := fmt.Sprintf(`{"init": "given", "centers": [%s]}`, strings.TrimSuffix(first, ", "))
		result := train(t, params, jobstest.Deal(jobstest.DenseRecords(rows, labels...), 5)...)
		m := modelOf(t, result)
		got := numbers(t, result, ".distortion")
		want, assigned := plain(rows, centers, int(m.rounds))
		for i, j := range want {
			near(t, fmt.Sprintf("%s: J of round %d", set.name, i+1), got[i], j, 1e-12)
		}
		other := compare(t, m, rows, assigned, centers)
		t.Logf("%s, k = %d: %d rounds, ARI %.4f", set.name, set.k, m.rounds, ari(m))
		if other > 0 || m.stop != stopUnchanged {
			t.Errorf("%s: %d records in another cluster, stopped by %s", set.name, other, m.stop)
		}
	}
}

func ari(m *model) float64 {
	c, _ := m.agreement()
	return c.adjustedRand()
}

// compare predicts the rows and counts those whose cluster is not that of the float64 loop.
func compare(t *testing.T, m *model, rows [][]float32, assigned []int, centers [][]float64) (other int) {
	t.Helper()
	at := numberOf(t, m, centers)
	for i, o := range predictAll(t, m, rows) {
		if o.Label != strconv.Itoa(at[assigned[i]]) {
			other++
		}
	}
	return other
}

func predictAll(t *testing.T, m *model, rows [][]float32) []jobs.Outcome {
	t.Helper()
	p, err := NewPredictor(jobs.ArraysOf(m), kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	block := &dataset.Block{Dense: dataset.Dense{Width: len(rows[0])}}
	for i, row := range rows {
		block.IDs = append(block.IDs, dataset.Identity{Object: "x", Offset: int64(i)})
		block.Dense.Values = append(block.Dense.Values, row...)
	}
	outcomes, err := p.Predict(t.Context(), block)
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// numberOf finds the model's number of each center of the loop: the one at no distance.
func numberOf(t *testing.T, m *model, centers [][]float64) []int {
	t.Helper()
	at := make([]int, len(centers))
	for c, center := range centers {
		best := math.Inf(1)
		for j := range m.clusters() {
			small := make([]float32, len(center))
			for d, v := range center {
				small[d] = float32(v)
			}
			if d := plainDistance(small, m.centers[j*len(center):(j+1)*len(center)]); d < best {
				best, at[c] = d, j
			}
		}
		if best > 1e-4 {
			t.Errorf("center %d of the loop is nowhere: %v", c, best)
		}
	}
	return at
}

// What is known of digits: k-means with 10 clusters reaches an ARI of about 0.67 and an NMI of about 0.74 with good
// begins, and J of about 582,600 (scikit-learn's inertia over 2).
func TestDigits(t *testing.T) {
	rows, labels := table(t, "digits.csv.gz", 0)
	m := modelOf(t, train(t, `{"k": 10, "restarts": 4, "silhouette_sample": 300}`,
		jobstest.Deal(jobstest.DenseRecords(rows, labels...), 4)...))
	c, _ := m.agreement()
	t.Logf("J %.0f, ARI %.3f, NMI %.3f, silhouette %.3f", m.distortion(), c.adjustedRand(),
		c.normalizedMutualInformation(), m.silhouette)
	if m.distortion() > 590_000 || c.adjustedRand() < 0.6 || c.normalizedMutualInformation() < 0.7 ||
		m.silhouette < 0.12 {
		t.Errorf("J %v, ARI %v, NMI %v, silhouette %v", m.distortion(), c.adjustedRand(),
			c.normalizedMutualInformation(), m.silhouette)
	}
}
