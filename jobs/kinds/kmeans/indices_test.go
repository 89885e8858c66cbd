package kmeans

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/kernelops"
)

// Clusters {0 1} {5 6 7} of a line, m = 3.8: W = 2 and 3, means 0.5 and 6, S = 1/2 and 2/3.
//
//	between 2 * 3.3^2 + 3 * 2.2^2 = 36.3, within 2/4 + 2 = 2.5: (36.3/1) / (2.5/3) = 43.56
//	(1/2 + 2/3) / 5.5 of either cluster
func TestIndicesByHand(t *testing.T) {
	result := train(t, strings.Replace(fromLeft, "{", `{"indices": true, `, 1), line[:3], nil, line[3:])
	m := modelOf(t, result)
	near(t, "Calinski-Harabasz", m.indices.calinskiHarabasz, 43.56, 1e-14)
	near(t, "Davies-Bouldin", m.indices.daviesBouldin, 7.0/33, 1e-14)
	if got := numbers(t, result, ".calinski_harabasz"); len(got) != 1 || got[0] != m.indices.calinskiHarabasz {
		t.Errorf("metric %v", got)
	}
	figures, err := Kind().Figures(result.Model, result.Metrics)
	if err != nil || len(figures) != 3 || fmt.Sprint(figures[1].Table.Rows) != "[[1 3 0.7514] [0 2 0.8167]]" {
		t.Errorf("figures %+v, %v", figures, err)
	}
	// by cluster: 0 and 1, then 5, 6 and 7, as in TestSilhouetteByHand
	near(t, "silhouette of 0", m.silhouettes[0], (5/6.0+4/5.0)/2, 1e-12)
	near(t, "silhouette of 1", m.silhouettes[1], (3/4.5+4.5/5.5+5/6.5)/3, 1e-12)
}

// Indices are null where they are not defined: of one cluster, of as many clusters as records, and of clusters that
// weigh nothing but for one. A cluster that only has records of weight 0 does not count.
func TestIndicesThatAreNotDefined(t *testing.T) {
	weighted := jobstest.DenseRecords([][]float32{{0}, {1}, {5}, {6}, {7}})
	for i := range weighted {
		weighted[i].Weight = 1e-3
	}
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
	}{
		"one cluster":       {`{"k": 1, "indices": true}`, line},
		"records alone":     {`{"k": 5, "indices": true}`, line},
		"too little weight": {`{"k": 2, "indices": true}`, weighted},
	} {
		result := train(t, c.params, c.records)
		if m := modelOf(t, result); m.indices != nil {
			t.Errorf("%s: %+v", name, *m.indices)
		}
		found := 0
		for _, metric := range result.Metrics {
			if strings.HasSuffix(metric.Name, "_harabasz") || strings.HasSuffix(metric.Name, "_bouldin") {
				if found++; string(metric.Value) != "null" {
					t.Errorf("%s: %s is %s", name, metric.Name, metric.Value)
				}
			}
		}
		if found != 2 {
			t.Errorf("%s: %d metrics", name, found)
		}
	}
}

// A clustering and what scikit-learn says of it: testdata/indices.py.
type judged struct {
	Name      string
	Rows      [][]float64
	Weights   []int
	Start     [][]float64
	Rounds    int
	Labels    []int
	Distances [][]float64
	CH        float64 `json:"calinski_harabasz"`
	DB        float64 `json:"davies_bouldin"`
}

func readJudged(t *testing.T) []judged {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "indices.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []judged }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

// records are the rows; repeat has a record of weight w as w records.
func (c judged) records(repeat bool) []jobstest.Record {
	var list []jobstest.Record
	for i, row := range c.Rows {
		r := jobstest.Record{}
		for _, v := range row {
			r.Dense = append(r.Dense, float32(v))
		}
		switch {
		case c.Weights == nil:
			list = append(list, r)
		case repeat:
			for range c.Weights[i] {
				list = append(list, r)
			}
		default:
			r.Weight = float32(c.Weights[i])
			list = append(list, r)
		}
	}
	return list
}

func (c judged) params(t *testing.T) string {
	t.Helper()
	start, err := json.Marshal(c.Start)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"init": "given", "centers": %s, "max_rounds": %d, "indices": true, "distances": true,
		"assignments": true, "empty": "keep"}`, start, c.Rounds)
}

// Indices and distances are those of scikit-learn to 1e-9, with weights as with repeated records.
func TestIndicesAgainstScikitLearn(t *testing.T) {
	for _, c := range readJudged(t) {
		result := train(t, c.params(t), jobstest.Deal(c.records(false), 3)...)
		m := modelOf(t, result)
		near(t, c.Name+": Calinski-Harabasz", m.indices.calinskiHarabasz, c.CH, 1e-9)
		near(t, c.Name+": Davies-Bouldin", m.indices.daviesBouldin, c.DB, 1e-9)
		rows := joinedRows(t, result, distancesFolder)
		assigned := joinedRows(t, result, assignmentsFolder)
		for i, row := range rows {
			from := len(row) - len(c.Start)
			scale := 0.0
			for _, want := range c.Distances[i] {
				scale = max(scale, want)
			}
			for j, want := range c.Distances[i] {
				if got := number(t, row[from+j]); !(got-want <= 1e-9*scale && want-got <= 1e-9*scale) {
					t.Errorf("%s: distance of record %d to center %d is %v, not %v", c.Name, i, j, got, want)
				}
			}
			cluster, own := assigned[i][from], assigned[i][from+1]
			if cluster != strconv.Itoa(c.Labels[i]) || own != row[from+c.Labels[i]] {
				t.Errorf("%s: record %d is in cluster %s at %s, not in %d of %v", c.Name, i, cluster, own, c.Labels[i],
					row)
			}
		}
		if len(rows) != len(c.Rows) {
			t.Errorf("%s: distances of %d records", c.Name, len(rows))
		}
		if c.Weights != nil {
			again := modelOf(t, train(t, c.params(t), c.records(true)))
			near(t, c.Name+": Calinski-Harabasz of repeated records", again.indices.calinskiHarabasz, c.CH, 1e-9)
			near(t, c.Name+": Davies-Bouldin of repeated records", again.indices.daviesBouldin, c.DB, 1e-9)
		}
	}
}

// joinedRows are the rows of a table that a job wrote, as `gram get` joins its parts.
func joinedRows(t *testing.T, result jobstest.Result, folder string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(joined(t, result, folder))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

func joined(t *testing.T, result jobstest.Result, folder string) string {
	t.Helper()
	index, err := parts.ReadIndex(result.Files[folder+"/index.json"])
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	joiner := parts.NewJoiner(index, &out)
	for _, part := range index.Parts {
		if err := joiner.Add(result.Files[part.Name]); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDistancesByHand(t *testing.T) {
	for format, want := range map[string]string{
		"csv":   "object,offset,cluster:0,cluster:1\nrecords,0,0.5,6\nrecords,1,0.5,5\n",
		"jsonl": `{"object":"records","offset":0,"cluster:0":0.5,"cluster:1":6}` + "\n",
		"npy":   string(parts.NPYHeader("<f8", 5, 2)),
	} {
		result := train(t, fmt.Sprintf(`{"init": "given", "centers": [[1], [0]], "distances": true, "assignments": true,
			"format": %q}`, format), line[:2], nil, line[2:])
		if got := joined(t, result, distancesFolder); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, not %q", format, got, want)
		}
	}
	result := train(t, `{"init": "given", "centers": [[1], [0]], "assignments": true, "format": "npy"}`, line)
	header := string(parts.NPYHeader("<i8", 5, 0))
	if got := joined(t, result, assignmentsFolder); !strings.HasPrefix(got, header) || len(got) != len(header)+5*8 {
		t.Errorf("npy of clusters: %q", got)
	}
}

// A leaf writes several parts where one would be too large. Joined, they are the one.
func TestDistancesInParts(t *testing.T) {
	c := chunk{X: kernelops.Matrix{Data: []float32{0, 1, 2, 3, 4, 5, 6}, Rows: 7, Cols: 1, Stride: 1}}
	for i := range 7 {
		c.IDs = append(c.IDs, dataset.ByRow(int64(i)))
	}
	near := newAssigner(kernelops.Best(), []float64{0, 10}, []float32{0})
	var want string
	for most, names := range map[int]int{100: 1, 3: 3, 7: 1, 1: 7} { //lint:ordered each is compared with the first
		files := jobstest.Result{Files: map[string][]byte{}}
		emit := func(_ context.Context, name string, data []byte) (jobs.File, error) {
			files.Files[name] = slices.Clone(data)
			return jobs.File{Name: name, Size: int64(len(data)), SHA256: fmt.Sprintf("%x", sha256.Sum256(data))}, nil
		}
		j := job{params: defaults(), way: dataset.Row}
		m := newMatrix(j, distancesFolder, 2)
		m.most = most
		err := m.visit(t.Context(), jobs.Leaf{Index: 4, Emit: emit}, c, func(columns [][]float64, from, to int) {
			near.toAll(columns, c.X.RowRange(from, to), []float64{0, 10}, false)
		})
		if err != nil {
			t.Fatal(err)
		}
		list, err := m.end(t.Context(), jobs.Leaf{Index: 4, Emit: emit})
		if err != nil || len(list) != names || list[0].Name != "distances/part-000004.csv" {
			t.Fatalf("%d rows a part: %v, %v", most, list, err)
		}
		if err := j.writeIndex(t.Context(), emit, distancesFolder, m.table(), list); err != nil {
			t.Fatal(err)
		}
		got := joined(t, files, distancesFolder)
		if want == "" {
			want = got
		}
		if got != want || !strings.HasPrefix(got, "row,cluster:0,cluster:1\n0,0,10\n1,1,9\n") {
			t.Errorf("%d rows a part: %q", most, got)
		}
	}
}

func TestSizesOfOutputs(t *testing.T) {
	for params, want := range map[string]string{
		`{"k": 5000, "indices": true}`:    "k is at most 4096, not 5000",
		`{"k": 20000, "distances": true}`: "k is at most 16384, not 20000",
		`{"k": 2, "format": "tsv"}`:       `format is one of`,
	} {
		_, err := New(specOf(params))
		wantFault(t, err, "SPEC_INVALID", want)
	}
}
