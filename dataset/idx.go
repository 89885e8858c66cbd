package dataset

import (
	"bufio"
	"encoding/binary"
	"io"
)

// idxTypes are the element types of the IDX format by their code (Y. LeCun, C. Cortes, C. Burges,
// "The MNIST database of handwritten digits", file formats); all are big-endian.
var idxTypes = map[byte]element{
	0x08: {'u', 1, binary.BigEndian}, 0x09: {'i', 1, binary.BigEndian}, 0x0b: {'i', 2, binary.BigEndian},
	0x0c: {'i', 4, binary.BigEndian}, 0x0d: {'f', 4, binary.BigEndian}, 0x0e: {'f', 8, binary.BigEndian},
}

// parseIDX reads the head of an IDX object: two zero bytes, the type, the number of dimensions,
// and each dimension in four bytes. The first counts rows; the others are flattened.
func parseIDX(head *bufio.Reader) (table, error) {
	var magic [4]byte
	if _, err := io.ReadFull(head, magic[:]); err != nil {
		return table{}, err
	}
	e, known := idxTypes[magic[2]]
	if magic[0] != 0 || magic[1] != 0 || !known || magic[3] == 0 {
		return table{}, headFlawf("% x is not how an IDX object begins", magic)
	}
	shape := make([]int64, magic[3])
	for i := range shape {
		var dim [4]byte
		if _, err := io.ReadFull(head, dim[:]); err != nil {
			return table{}, err
		}
		shape[i] = int64(binary.BigEndian.Uint32(dim[:]))
	}
	return tableOf(shape, e, int64(4+4*len(shape)))
}

// maxRowNumbers bounds a declared row far beyond max_record_bytes, so that sizes do not overflow.
const maxRowNumbers = 1 << 32

// tableOf flattens all dimensions but the first into rows.
func tableOf(shape []int64, e element, head int64) (table, error) {
	width := int64(1)
	for _, dim := range shape[1:] {
		if dim < 1 || dim > maxRowNumbers/width {
			return table{}, headFlawf("the header declares the shape %d", shape)
		}
		width *= dim
	}
	return table{head: head, rows: shape[0], stride: width * int64(e.size), width: int(width), element: e}, nil
}
