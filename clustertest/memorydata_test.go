package clustertest_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// bigData makes files of a size, each once and with the same bytes every time.
type bigData struct {
	dir   string
	bytes int64
	made  map[string]string
}

// uri makes a file by its name and returns where it is.
func (d *bigData) uri(t *testing.T, name string, write func(w *bufio.Writer, bytes int64) error) string {
	t.Helper()
	file := filepath.Join(d.dir, name)
	if d.made[name] != "" {
		return d.made[name]
	}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(w, d.bytes); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	d.made[name] = "file://" + file
	return d.made[name]
}

func noise() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// npy writes rows of float32, each of another length: rows of noise that are all as far from each other
// would make a search compare them all in float64.
func npy(width int) func(*bufio.Writer, int64) error {
	return func(w *bufio.Writer, bytes int64) error {
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
func csvRows(w *bufio.Writer, bytes int64) error {
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

// libsvmColumns is the width of the vectors that libsvmRows writes.
const libsvmColumns = 5_000

// libsvmRows writes sparse rows of two classes.
func libsvmRows(w *bufio.Writer, bytes int64) error {
	random, line := noise(), []byte(nil)
	for written := int64(0); written < bytes; written += int64(len(line)) {
		class := random.IntN(2)
		line = append(line[:0], [2]string{"-1", "+1"}[class]...)
		for column := class + 1; column <= libsvmColumns; column += 2 * (1 + random.IntN(100)) {
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

// corpus writes the WordNet glosses again and again.
func corpus(text []byte) func(*bufio.Writer, int64) error {
	return func(w *bufio.Writer, bytes int64) error {
		for written := int64(0); written < bytes; written += int64(len(text)) {
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
		return nil
	}
}
