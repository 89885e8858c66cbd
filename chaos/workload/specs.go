// Package workload is what clients of a chaos run ask for: small jobs of several kinds, schedules, and
// reads; and it records what they were answered.
package workload

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// Spec is a job that the workload submits, again and again under new ids.
type Spec struct {
	Name string
	JSON string
	Hash string // as a coordinator works it out
	// Shifts: the object it reads is replaced while the run goes on. It may fail with INPUT_CHANGED, and
	// has the model of one of the object's Versions.
	Shifts bool
}

// Inputs are the folders below the bucket that the specs read; Shifting is the object that is replaced.
const (
	inputFolder = "input/"
	Shifting    = inputFolder + "shifting.tsv"
)

// URI is where an object of the bucket is.
func URI(bucket, key string) string { return "s3://" + bucket + "/" + key }

// Specs are all specs over a bucket.
func Specs(bucket string) ([]Spec, error) {
	glosses := func(name, key, params, more string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"NaiveBayes","metadata":{"name":%q},"spec":{"input":{"uri":%q,"format":"tsv","label":1,
			"text":3,"shard_bytes":4096%s},"output":{},"params":%s,"repro":{"seed":7},"run":{"audit":1}}}`, name,
			URI(bucket, key), more, params)
	}
	table := func(name, kind, key string, label int, params, more string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":%q},"spec":{"input":{"uri":%q,"format":"csv","label":%d,
			"shard_bytes":1024%s},"output":{},"params":%s,"repro":{"seed":7},"run":{"audit":1}}}`, kind, name,
			URI(bucket, key), label, more, params)
	}
	const split = `,"split":{"test":0.2}`
	specs := []Spec{
		{Name: "bayes", JSON: glosses("bayes", inputFolder+"glosses.tsv", `{"alpha":0.1}`, "")},
		{Name: "bayes-split", JSON: glosses("bayes-split", inputFolder+"glosses.tsv", `{"alpha":1}`, split)},
		{Name: "kmeans-iris", JSON: table("kmeans-iris", "KMeans", inputFolder+"iris.csv", 5, `{"k":3}`, "")},
		{Name: "kmeans-wine", JSON: table("kmeans-wine", "KMeans", inputFolder+"wine.csv", 14, `{"k":4,"restarts":2}`,
			"")},
		{Name: "perceptron", JSON: table("perceptron", "Perceptron", inputFolder+"iris.csv", 5,
			`{"form":"averaged","epochs":2}`, "")},
		{Name: "perceptron-mixed", JSON: table("perceptron-mixed", "Perceptron", inputFolder+"wine.csv", 14,
			`{"form":"averaged","epochs":2,"over":"mixed"}`, "")},
		{Name: "neighbors", JSON: table("neighbors", "NearestNeighbors", inputFolder+"wine.csv", 14,
			`{"mode":"classify","k":3,"store_base":true}`, split)},
		{Name: "kernels", JSON: table("kernels", "KernelNearestMean", inputFolder+"wine.csv", 14,
			`{"kernel":"rbf","gamma":0.01}`, split)},
		{Name: "shifting", JSON: glosses("shifting", Shifting, `{"alpha":0.1}`, ""), Shifts: true},
	}
	for i := range specs {
		parsed, err := protocol.ParseSpec([]byte(specs[i].JSON))
		if err == nil {
			parsed, err = all.Validate(parsed)
		}
		if err == nil {
			specs[i].Hash, err = parsed.Hash()
		}
		if err != nil {
			return nil, fmt.Errorf("spec %s: %w", specs[i].Name, err)
		}
	}
	return specs, nil
}

// Data is what the specs read.
type Data struct {
	objects  map[string][]byte
	versions [2][]byte // of Shifting
}

// ReadData makes it of the repository's testdata.
func ReadData(testdata string) (Data, error) {
	d := Data{objects: make(map[string][]byte)}
	for name, file := range map[string]string{"iris.csv": "iris.csv", "wine.csv": "wine_data.csv"} {
		text, err := os.ReadFile(filepath.Join(testdata, file))
		if err != nil {
			return d, err
		}
		_, rows, _ := bytes.Cut(text, []byte("\n")) // the first line holds counts and names
		d.objects[inputFolder+name] = rows
	}
	file, err := os.Open(filepath.Join(testdata, "wordnet30-glosses.tsv.gz"))
	if err != nil {
		return d, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return d, err
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return d, err
	}
	// A line in 200, from three places: glosses of every class.
	d.objects[inputFolder+"glosses.tsv"] = every(text, 200, 0)
	d.versions = [2][]byte{every(text, 100, 50), every(text, 100, 51)}
	return d, nil
}

// every takes one line of n, from the first given on.
func every(text []byte, n, first int) []byte {
	var out []byte
	at := 0
	for line := range bytes.Lines(text) {
		if at%n == first {
			out = append(out, line...)
		}
		at++
	}
	return out
}

// Put stores all objects, Shifting in its first version.
func (d Data) Put(ctx context.Context, store objstore.Store) error {
	for key, data := range d.objects {
		if _, err := store.Put(ctx, key, data); err != nil {
			return err
		}
	}
	return d.Shift(ctx, store, 0)
}

// Versions is how many versions the object that is replaced has.
const Versions = 2

// Shift puts a version of the object in the place of the one that is there.
func (d Data) Shift(ctx context.Context, store objstore.Store, version int) error {
	_, err := store.Put(ctx, Shifting, d.versions[version%Versions])
	return err
}
