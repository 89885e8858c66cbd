package parts

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gram-compute/gram/jobs"
)

// Array holds the rows of a part that is one npy array. Exactly one of the slices is set, unless the array has no rows:
// Ints, though empty, make one of int64.
type Array struct {
	Name    string // what the numbers are
	Width   int    // numbers of a row; 0 for an array of one dimension
	Ints    []int64
	Singles []float32
}

// Rows is the number of rows.
func (a Array) Rows() int { return max(len(a.Ints), len(a.Singles)) / max(1, a.Width) }

// WriteArray is Write of an array, in format NPY.
func WriteArray(ctx context.Context, emit jobs.Emit, folder string, leaf int, a Array) (List, error) {
	var out bytes.Buffer
	descr, values := "<f4", any(a.Singles)
	if a.Ints != nil {
		descr, values = "<i8", a.Ints
	}
	out.Write(NPYHeader(descr, int64(a.Rows()), a.Width))
	if err := binary.Write(&out, binary.LittleEndian, values); err != nil {
		return nil, fmt.Errorf("parts: encode an array: %w", err)
	}
	file, err := emit(ctx, fmt.Sprintf("%s/part-%06d.%s", folder, leaf, NPY), out.Bytes())
	if err != nil {
		return nil, err
	}
	return List{{file, int64(a.Rows())}}, nil
}
