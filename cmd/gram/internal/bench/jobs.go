package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// Train runs a job here, from its spec to its model, and returns the model's SHA-256.
type Train func(ctx context.Context, spec protocol.JobSpec) (digest string, err error)

// smallJob is a job that takes a part of a second, and its data.
type smallJob struct {
	id, title, kind, file string
	input, params         map[string]any
	write                 func(w io.Writer)
}

func smallJobs() []smallJob {
	return []smallJob{
		{"kmeans", "k-means, csv 50,000 x 16, k = 64", "KMeans", "points.csv",
			map[string]any{"format": "csv"},
			map[string]any{"k": 64, "init": "random", "max_rounds": 10, "tol": 0, "empty": "keep"}, writePoints},
		{"bayes", "naive Bayes, tsv, 40,000 texts", "NaiveBayes", "texts.tsv",
			map[string]any{"format": "tsv", "label": 1, "text": 2}, map[string]any{"alpha": 0.1}, writeTexts},
		{"linear", "linear SVM, libsvm 10,000 x 400", "LinearModel", "rows.libsvm",
			map[string]any{"format": "libsvm", "width": sparseWidth, "index_base": 1},
			map[string]any{"loss": "hinge", "tol": 0.01}, writeSparse},
	}
}

// writePoints writes numbers with three digits after the point, about uniform from -1 to 1.
func writePoints(w io.Writer) {
	key := philox.New(seed, "bench/csv")
	for i := range uint64(50_000) {
		for j := range uint64(16) {
			if j > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, "%.3f", float64(int64(key.Uint64(i, j)%2001)-1000)/1000)
		}
		fmt.Fprintln(w)
	}
}

// writeTexts writes texts of twenty words; the lower half of a random number makes frequent words, as in a language.
// A third of the words belong to the class.
func writeTexts(w io.Writer) {
	key := philox.New(seed, "bench/texts")
	for i := range uint64(40_000) {
		class := key.Uint64(i, 0) % 10
		fmt.Fprintf(w, "c%d\t", class)
		for j := range uint64(20) {
			z := key.Uint64(i, j+1)
			word := (z & 0xFFFF % 141) * (z >> 16 & 0xFFFF % 141)
			if z>>32%3 == 0 {
				word = 20_000 + class*500 + z>>40%500
			}
			fmt.Fprintf(w, "w%d ", word)
		}
		fmt.Fprintln(w)
	}
}

const sparseWidth = 400

// writeSparse writes rows of thirty ones, of which the five in the first hundred columns tell the class, most times.
func writeSparse(w io.Writer) {
	key := philox.New(seed, "bench/libsvm")
	for i := range uint64(10_000) {
		z := key.Uint64(i, 0)
		class := z & 1
		label := class
		if z>>1%10 == 0 {
			label = 1 - class // what no plane puts right
		}
		fmt.Fprintf(w, "%d", int(label)*2-1)
		for j := range uint64(5) {
			fmt.Fprintf(w, " %d:1", 1+j*20+class*10+key.Uint64(i, j+1)%10)
		}
		for j := range uint64(25) {
			fmt.Fprintf(w, " %d:1", 101+j*12+key.Uint64(i, j+6)%12)
		}
		fmt.Fprintln(w)
	}
}

// spec is the job over its file in a folder.
func (j smallJob) spec(folder string) (spec protocol.JobSpec, err error) {
	input := map[string]any{"uri": "file://" + filepath.Join(folder, j.file)}
	for name, value := range j.input {
		input[name] = value
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": j.kind,
		"metadata": map[string]any{"name": "bench-" + j.id},
		"spec": map[string]any{"input": input, "params": j.params, "repro": map[string]any{"seed": seed},
			"output": map[string]any{"uri": "file://" + filepath.Join(folder, "models") + "/"}}})
	if err != nil {
		return spec, err
	}
	return protocol.ParseSpec(text)
}

func (j smallJob) make(folder string) (err error) {
	file, err := os.Create(filepath.Join(folder, j.file))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := bufio.NewWriterSize(file, 1<<20)
	j.write(w)
	return w.Flush() // it keeps the first error
}

// Jobs runs the small jobs in turn, with their data in a folder. A first round warms up and is not counted.
func Jobs(ctx context.Context, folder string, train Train, p Pace) ([]Job, error) {
	all := smallJobs()
	found, seconds := make([]Job, len(all)), make([][]float64, len(all))
	for _, j := range all {
		if err := j.make(folder); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	for round := 0; round <= p.Rounds || time.Since(start) < p.Jobs; round++ {
		for i := range all {
			at := (i + round) % len(all)
			spec, err := all[at].spec(folder)
			if err != nil {
				return nil, err
			}
			begun := time.Now()
			digest, err := train(ctx, spec)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", all[at].title, err)
			}
			if round == 0 {
				found[at] = Job{ID: all[at].id, Title: all[at].title, Digest: digest}
				continue
			}
			if digest != found[at].Digest {
				return nil, fmt.Errorf("%s: two runs made different models: %s and %s", all[at].title,
					found[at].Digest, digest)
			}
			seconds[at] = append(seconds[at], time.Since(begun).Seconds())
		}
	}
	for i := range found {
		found[i].Seconds = measure.SpreadOf(seconds[i])
	}
	return found, nil
}
