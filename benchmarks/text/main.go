// Text writes the texts of the text benchmarks: WordNet's glosses, each several times, in a drawn order.
//
//	go run ./benchmarks/text FILE [TIMES [SEED]]
//
// FILE becomes a table of labels, words and glosses, separated by tabs: 2,353,180 lines and 232 MB, as each gloss is
// written twenty times unless TIMES says otherwise. The order is a race of the lines with SEED, 7 if it is not given.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"github.com/gram-compute/gram/kernelops/philox"
)

const glosses = "testdata/wordnet30-glosses.tsv.gz"

func main() {
	log.SetFlags(0)
	numbers := []int{20, 7}
	if len(os.Args) < 2 || len(os.Args) > 4 {
		log.Fatal("text: go run ./benchmarks/text FILE [TIMES [SEED]]")
	}
	for i, arg := range os.Args[2:] {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			log.Fatalf("text: TIMES and SEED are numbers above 0, not %q", arg)
		}
		numbers[i] = n
	}
	if err := write(os.Args[1], numbers[0], uint64(numbers[1])); err != nil {
		log.Fatal("text: ", err)
	}
}

// write writes every line of the glosses times over, in the order of a draw for each copy.
func write(path string, times int, seed uint64) (err error) {
	lines, err := read()
	if err != nil {
		return err
	}
	type copied struct {
		draw uint64
		line int
	}
	draws, order := philox.New(seed, "benchmarks/text"), make([]copied, 0, times*len(lines))
	for line := range lines {
		for i := range times {
			order = append(order, copied{draws.Uint64(uint64(line), uint64(i)), line})
		}
	}
	// total order: copies of a line that drew the same are the same bytes
	slices.SortFunc(order, func(a, b copied) int {
		return cmp.Or(cmp.Compare(a.draw, b.draw), cmp.Compare(a.line, b.line))
	})
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriterSize(file, 1<<20)
	for _, c := range order {
		if _, err := out.Write(lines[c.line]); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return out.Flush()
}

// read returns the lines of the glosses, each with its LF.
func read() ([][]byte, error) {
	file, err := os.Open(glosses)
	if err != nil {
		return nil, fmt.Errorf("from the root of the repository: %w", err)
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", glosses, err)
	}
	all, err := io.ReadAll(zip)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", glosses, err)
	}
	return slices.Collect(bytes.Lines(all)), nil
}
