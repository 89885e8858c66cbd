// Command demo shows Gram at work on this machine: it drives the gram binary the way a
// person does, through its command line alone. `make demo` runs it.
//
//	go run ./deploy/demo -gram bin/gram ["a sentence to classify" ...]
package main

import (
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	binary := flag.String("gram", filepath.Join("bin", "gram"), "the gram `binary`")
	data := flag.String("data", filepath.Join("testdata", "wordnet30-glosses.tsv.gz"),
		"gzipped TSV `file`: label, word, text")
	flag.Parse()
	sentences := flag.Args()
	if len(sentences) == 0 {
		sentences = []string{
			"a large striped cat that hunts at night",
			"a sweet cake baked with butter and sugar",
			"run away from someone as fast as you can",
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *binary, *data, sentences); err != nil {
		fmt.Fprintln(os.Stderr, "demo: failed:", err)
		os.Exit(1)
	}
}

// run does the whole demonstration and leaves nothing behind.
func run(ctx context.Context, binary, data string, sentences []string) (err error) {
	start := time.Now()
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gram-demo-*")
	if err != nil {
		return err
	}
	d := &demo{binary: binary, dir: dir, cluster: newCluster(binary, dir)}
	facts, err := d.play(ctx, data, sentences)
	if err := errors.Join(err, d.cluster.stop(), os.RemoveAll(dir)); err != nil {
		return err
	}
	fmt.Printf("\ndemo: ok accuracy=%.4f macro_f1=%.4f model_sha256=%s seconds=%.1f\n",
		facts.evaluation.Accuracy, facts.evaluation.Macro.F1, facts.model, time.Since(start).Seconds())
	return nil
}

// decompress writes the plain text of a gzip file.
func decompress(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	plain, err := gzip.NewReader(in)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, plain)
	return errors.Join(err, out.Close())
}
