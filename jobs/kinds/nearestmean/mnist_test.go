package nearestmean

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/onevsone"
	"github.com/gram-compute/gram/kernelops"
)

// digitErrors are the errors on the 10,000 test pictures of MNIST, by true digit and the digit against it: of
// the rule <w, x> + b in float64 by NumPy, w and b from the means of the 60,000 training pictures.
var digitErrors = [10][10]int64{
	{0, 10, 38, 47, 29, 87, 58, 24, 44, 38},
	{0, 0, 28, 10, 3, 15, 5, 5, 34, 8},
	{25, 99, 0, 88, 55, 59, 52, 40, 83, 45},
	{9, 48, 50, 0, 27, 101, 25, 42, 93, 57},
	{2, 31, 9, 3, 0, 27, 30, 13, 25, 138},
	{20, 73, 28, 132, 43, 0, 39, 21, 34, 34},
	{28, 40, 39, 12, 44, 55, 0, 12, 28, 12},
	{4, 80, 53, 27, 50, 32, 15, 0, 52, 108},
	{21, 55, 33, 117, 37, 115, 31, 30, 0, 69},
	{22, 31, 24, 23, 101, 42, 18, 49, 42, 0},
}

// mnist reads pictures and labels that `make data` fetched; without them the test is skipped, or fails
// under REQUIRE_MNIST=1.
func mnist(t *testing.T, set string) []jobstest.Record {
	t.Helper()
	folder := filepath.Join("..", "..", "..", "data", "mnist")
	images, err := os.ReadFile(filepath.Join(folder, set+"-images-idx3-ubyte"))
	if errors.Is(err, os.ErrNotExist) && os.Getenv("REQUIRE_MNIST") == "" {
		t.Skip("run make data: ", err)
	}
	labels, labelsErr := os.ReadFile(filepath.Join(folder, set+"-labels-idx1-ubyte"))
	if err := errors.Join(err, labelsErr); err != nil {
		t.Fatal(err)
	}
	const header, width = 16, 28 * 28
	records := make([]jobstest.Record, len(labels)-8)
	values := make([]float32, len(records)*width)
	for i := range values {
		values[i] = float32(images[header+i])
	}
	for i := range records {
		records[i] = jobstest.Record{Label: fmt.Sprint(labels[8+i]), Dense: values[i*width : (i+1)*width]}
	}
	return records
}

func TestPairsOfMNIST(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 70,000 pictures; make test-all runs it")
	}
	result := runPairs(t, mnist(t, "train"), mnist(t, "t10k"), 2, kernelops.Best())
	var pairs []onevsone.Pair
	if err := jobs.ReadMetric(result.Metrics, onevsone.Metric, &pairs); err != nil || len(pairs) != 45 {
		t.Fatalf("%d pairs, %v", len(pairs), err)
	}
	for _, p := range pairs {
		a, b := p.First[0]-'0', p.Second[0]-'0'
		if p.FirstErrors != digitErrors[a][b] || p.SecondErrors != digitErrors[b][a] {
			t.Errorf("%s and %s: %d and %d errors, not %d and %d", p.First, p.Second, p.FirstErrors, p.SecondErrors,
				digitErrors[a][b], digitErrors[b][a])
		}
	}
}
