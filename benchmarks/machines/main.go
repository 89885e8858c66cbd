// Machines writes a made-up set for a support vector machine, shaped like covtype: 54 columns, of which 10 are numbers
// and 44 are 0 or 1 (4 areas, 40 soils), and two classes that lie in many overlapping patches.
//
//	go run ./benchmarks/machines DIR [RECORDS]
//
// It writes DIR/patches.npy and DIR/patches-labels.npy, of 611,592 records unless it is told otherwise: with
// spec.input.split.test 0.05, about as many as covtype has, 581,012, are left to train with. Of any number of records
// there are as many to a patch, so that the part of them that are support vectors, and the error on test records, are
// about those of all.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gram-compute/gram/benchmarks/devcluster"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// allRecords are as many as covtype has, 581,012, and one more of twenty to test with.
const allRecords = 611_592

func main() {
	log.SetFlags(0)
	records := allRecords
	if len(os.Args) == 3 {
		n, err := strconv.Atoi(os.Args[2])
		if err != nil || n < 1 {
			log.Fatalf("machines: RECORDS is a number above 0, not %q", os.Args[2])
		}
		records = n
	} else if len(os.Args) != 2 {
		log.Fatal("machines: go run ./benchmarks/machines DIR [RECORDS]")
	}
	if err := write(os.Args[1], newPatches(records), records); err != nil {
		log.Fatal("machines: ", err)
	}
}

// write writes n records and their labels.
func write(dir string, p patches, n int) (err error) {
	rows, labels := make([]float32, n*columns), make([]int64, n)
	for i := range n {
		labels[i] = p.record(rows[i*columns:(i+1)*columns], uint64(i))
	}
	if err := devcluster.WriteNPY(filepath.Join(dir, "patches.npy"), rows, n, columns); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, "patches-labels.npy"))
	if err != nil {
		return fmt.Errorf("labels: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Write(parts.NPYHeader("<i8", int64(n), 0)); err != nil {
		return err
	}
	return binary.Write(file, binary.LittleEndian, labels)
}
