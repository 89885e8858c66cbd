package supportvectormachine

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// mnist10k is the first 10,000 pictures of MNIST, from `make data`.
func mnist10k(b *testing.B) []jobstest.Record {
	b.Helper()
	folder := "../../../data/mnist10k"
	images, err := os.ReadFile(filepath.Join(folder, "train-images-idx3-ubyte"))
	if err != nil {
		b.Skip("run make data: ", err)
	}
	labels, err := os.ReadFile(filepath.Join(folder, "train-labels-idx1-ubyte"))
	if err != nil {
		b.Fatal(err)
	}
	records := make([]jobstest.Record, len(labels)-8)
	for i := range records {
		records[i] = jobstest.Record{Label: fmt.Sprint(labels[8+i]), Dense: make([]float32, 784)}
		for j, v := range images[16+784*i:][:784] {
			records[i].Dense[j] = float32(v)
		}
	}
	return records
}

// BenchmarkTrain trains ten classes of MNIST.
func BenchmarkTrain(b *testing.B) {
	shards := jobstest.Deal(mnist10k(b), 1)
	spec := specOf(`{"gamma":2.5,"C":5,"features":{"scale":"l2"}}`)
	algorithm, err := New(spec)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := jobstest.Run(b.Context(), algorithm, spec, jobstest.Shards(shards, 4096), kernelops.Best(),
			jobstest.Grouping{}); err != nil {
			b.Fatal(err)
		}
	}
}
