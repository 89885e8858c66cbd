package kernelperceptron_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// mnist10k reads what `make data` fetched.
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

// BenchmarkTrain is the training of examples/mnist-kernel-perceptron.yaml.
func BenchmarkTrain(b *testing.B) {
	shards := jobstest.Deal(mnist10k(b), 1)
	for b.Loop() {
		if _, err := run(b, `{"degree": 4, "features": {"scale": "l2"}}`, shards, kernelops.Best()); err != nil {
			b.Fatal(err)
		}
	}
}
