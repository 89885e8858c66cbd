package devcluster

import (
	"encoding/binary"
	"errors"
	"os"

	"github.com/gram-compute/gram/jobs/learn/parts"
)

// WriteNPY writes a matrix of rows x cols values, row after row, as an npy file that jobs can read.
func WriteNPY(path string, values []float32, rows, cols int) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Write(parts.NPYHeader("<f4", int64(rows), cols)); err != nil {
		return err
	}
	return binary.Write(file, binary.LittleEndian, values)
}
