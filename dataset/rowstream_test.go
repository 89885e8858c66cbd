package dataset

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// The declared rows must agree with the object's size; rows that are not declared follow from it.
func TestCheckSizeByHand(t *testing.T) {
	for _, c := range []struct {
		rows, size int64 // rows of 8 bytes, behind a head of 11
		want       int64 // rows; -1 is a fault
		at         int64 // where it is
	}{
		{-1, 35, 3, 0}, {-1, 11, 0, 0}, {-1, 36, -1, 35}, {-1, 34, -1, 27},
		{3, 35, 3, 0}, {0, 11, 0, 0}, {3, 36, -1, 0}, {3, 34, -1, 0}, {0, 19, -1, 0}, {math.MaxInt64, 35, -1, 0},
	} {
		s := &rowStream{table: table{head: 11, rows: c.rows, stride: 8}, obj: pinned{obj: Object{Key: "f"}}}
		err := s.checkSize(c.size)
		var fault *protocol.Fault
		switch errors.As(err, &fault); {
		case c.want >= 0 && (err != nil || s.rows != c.want):
			t.Errorf("%+v: %d rows, %v", c, s.rows, err)
		case c.want < 0 && (fault == nil || fault.Code != protocol.CodeBadRecord || *fault != *fault.WithOffset(c.at)),
			c.at > 0 && !strings.Contains(fault.What, fmt.Sprintf("and the last has %d", c.size-c.at)):
			t.Errorf("%+v: %v, want BAD_RECORD at byte %d", c, err, c.at)
		}
	}
}

// The bytes of a table are counted as long as an int64 holds them.
func TestBytesOfATable(t *testing.T) {
	const most = (math.MaxInt64 - 7) / 8
	for rows, want := range map[int64]int64{0: 7, 2: 23, most: 7 + 8*most, most + 1: -1, math.MaxInt64: -1} {
		if got := (table{head: 7, rows: rows, stride: 8}).bytes(); got != want {
			t.Errorf("%d rows: %d, want %d", rows, got, want)
		}
	}
}

// The fault of a stream that ends too early names the row.
func TestRowsThatEndTooEarly(t *testing.T) {
	data := string(datasettest.NPY("<f4", "(4, 2)", make([]float32, 8)))
	head := int64(len(data) - 32)
	for missing, row := range map[int]int64{1: 3, 8: 3, 12: 2, 31: 0, 32: 0} {
		_, _, err := readFile(t, formatInput("npy", nil), map[string]string{"f.gz": zipped(data[:len(data)-missing])})
		var fault *protocol.Fault
		if !errors.As(err, &fault) || *fault != *fault.WithOffset(head + 8*row) ||
			!isFault(err, protocol.CodeBadRecord, fmt.Sprintf("within row %d", row)) {
			t.Errorf("%d bytes missing: %v, want row %d", missing, err, row)
		}
	}
}

// A row may have max_record_bytes.
func TestRowsUpToMaxRecordBytes(t *testing.T) {
	data := string(datasettest.NPY("<f4", "(2, 3)", one6))
	for most, want := range map[protocol.ByteSize]bool{12: true, 11: false} {
		in := formatInput("npy", func(in *protocol.Input) { in.MaxRecordBytes = most })
		rows, _, err := readFile(t, in, map[string]string{"f": data})
		if want && (err != nil || !equalRows(rows, matrix)) || !want && !isCode(err, protocol.CodeInputLimit) {
			t.Errorf("max_record_bytes %d: %v, %v", most, rows, err)
		}
	}
}

// Labels may be compressed beside data that is cut into shards, and plain beside compressed data. Both must end with
// the same row.
func TestCompressedLabels(t *testing.T) {
	data := string(datasettest.IDX(8, []uint32{2, 3}, integers[uint8]()))
	labels := string(datasettest.IDX(0x0c, []uint32{2}, []int32{7, 9}))
	for _, c := range []struct{ data, labels, dataKey, labelsKey string }{
		{data, zipped(labels), "d/f", "l/f.gz"},
		{zipped(data), labels, "d/f.gz", "l/f"},
		{zipped(data), zipped(labels), "d/f.gz", "l/f.gz"},
	} {
		rows, err := readPairAt(t, labelled("idx"), c.dataKey, c.data, c.labelsKey, c.labels)
		if err != nil || len(rows) != 2 || rows[0].Label != "7" || rows[1].Label != "9" {
			t.Errorf("%s and %s: %v, %v", c.dataKey, c.labelsKey, rows, err)
		}
	}
	rows, err := readPair(t, labelledGzip(), zipped(data), zipped(labels+"x"))
	if !isFault(err, protocol.CodeBadRecord, "more bytes follow the 2 rows") {
		t.Errorf("labels that go on: %v, %v", rows, err)
	}
}

func labelledGzip() protocol.Input {
	in := labelled("idx")
	in.Compression = "gzip"
	return in
}
