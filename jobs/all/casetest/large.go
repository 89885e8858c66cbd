package casetest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// File is a file as large as a test wants it, with the same bytes every time.
type File struct {
	Name   string
	Fields string // of the spec's data set, besides its URI
	Write  func(t testing.TB, w *bufio.Writer, bytes int64) error
}

// Files of the memory suite.
var (
	points = &File{"points.npy", `"format":"npy"`, npy(64)}
	wide   = &File{"wide.npy", `"format":"npy"`, npy(8192)}
	// fewer are five sixteenths of the size: more than fits, at a third of the time.
	fewer = &File{"fewer.npy", `"format":"npy"`,
		func(t testing.TB, w *bufio.Writer, bytes int64) error { return npy(8192)(t, w, bytes*5/16) }}
	// widest has few rows for its size, for jobs that go by pairs of them.
	widest  = &File{"widest.npy", `"format":"npy"`, npy(32768)}
	table32 = &File{"table.csv", `"format":"csv","label":1,"split":{"test":0.1}`, csvRows}
	// rows32 are those of table32, all to train on, and few are some 200 of them.
	rows32 = &File{"table.csv", `"format":"csv","label":1`, csvRows}
	few    = &File{"few.csv", `"format":"csv","label":1`,
		func(t testing.TB, w *bufio.Writer, _ int64) error { return csvRows(t, w, 16<<10) }}
	sparse = &File{"sparse.svm", fmt.Sprintf(`"format":"libsvm","width":%d,"index_base":1`, libsvmColumns),
		libsvmRows(libsvmColumns)}
	// narrow has the most columns that solver newton takes, nearly.
	narrow = &File{"narrow.svm", fmt.Sprintf(`"format":"libsvm","width":%d,"index_base":1`, narrowColumns),
		libsvmRows(narrowColumns)}
	documents = &File{"documents.tsv", `"format":"tsv","label":1,"text":3,"split":{"test":0.1}`, corpus}
)

func noise() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// npy writes rows of float32, each of another length: rows of noise that are all as far from each other
// would make a search compare them all in float64.
func npy(width int) func(testing.TB, *bufio.Writer, int64) error {
	return func(_ testing.TB, w *bufio.Writer, bytes int64) error {
		rows := bytes / int64(4*width)
		header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, width)
		fmt.Fprintf(w, "\x93NUMPY\x01\x00\x76\x00%-117s\n", header)
		random, eight := noise(), make([]byte, 32)
		for n := range rows * int64(width) / 8 {
			length := 1 + float32(8*n/int64(width)%10_000)/1000
			for i, bits := 0, random.Uint64(); i < 8; i, bits = i+1, bits>>8 {
				binary.LittleEndian.PutUint32(eight[4*i:], math.Float32bits(float32(bits&255)*length))
			}
			if _, err := w.Write(eight); err != nil {
				return err
			}
		}
		return nil
	}
}

// csvColumns is the width of the vectors that csvRows writes.
const csvColumns = 32

// csvRows writes a label "a", "b" or "c" and small numbers, larger in the columns of the class.
func csvRows(_ testing.TB, w *bufio.Writer, bytes int64) error {
	random, line := noise(), []byte(nil)
	for written := int64(0); written < bytes; written += int64(len(line)) {
		class := random.IntN(3)
		line = append(line[:0], 'a'+byte(class))
		for j, bits := 0, random.Uint64(); j < csvColumns; j, bits = j+1, bits>>2 {
			value := int64(bits & 3)
			if j%3 == class {
				value += 10
			}
			line = strconv.AppendInt(append(line, ','), value, 10)
		}
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// Widths of the vectors that libsvmRows writes.
const (
	libsvmColumns = 5_000
	narrowColumns = 1_400
)

// libsvmRows writes sparse rows of two classes, of a number of columns.
func libsvmRows(columns int) func(testing.TB, *bufio.Writer, int64) error {
	return func(_ testing.TB, w *bufio.Writer, bytes int64) error {
		random, line := noise(), []byte(nil)
		for written := int64(0); written < bytes; written += int64(len(line)) {
			class := random.IntN(2)
			line = append(line[:0], [2]string{"-1", "+1"}[class]...)
			for column := class + 1; column <= columns; column += 2 * (1 + random.IntN(100)) {
				line = strconv.AppendInt(append(line, ' '), int64(column), 10)
				line = append(line, ":1"...)
			}
			line = append(line, '\n')
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	}
}

// corpus writes the WordNet glosses again and again.
func corpus(t testing.TB, w *bufio.Writer, bytes int64) error {
	text := Glosses(t, 1)
	for written := int64(0); written < bytes; written += int64(len(text)) {
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// Glosses returns the WordNet glosses, about a line in every nth.
func Glosses(t testing.TB, nth int) []byte {
	t.Helper()
	var some bytes.Buffer
	for i, line := range bytes.SplitAfter(gunzipped(t, "wordnet30-glosses.tsv.gz"), []byte("\n")) {
		if i%nth == 0 {
			some.Write(line)
		}
	}
	return some.Bytes()
}

// gunzipped returns what a compressed file of testdata holds.
func gunzipped(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.Open(testdata(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
