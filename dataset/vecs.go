package dataset

import "bufio"

// vecsOf reads fvecs, bvecs and ivecs (H. Jegou and others, "Datasets for approximate nearest
// neighbor search"): each vector is its width in four little-endian bytes and then its numbers.
// All vectors of an object must have the width of the first.
func vecsOf(e element) parseHead {
	return func(head *bufio.Reader) (table, error) {
		lead, err := head.Peek(4)
		if err != nil {
			return table{}, err
		}
		width := int64(e.order.Uint32(lead))
		if width < 1 || width > 1<<31-1 {
			return table{}, headFlawf("the first vector declares %d numbers", width)
		}
		return table{rows: -1, stride: 4 + width*int64(e.size), width: int(width), lead: 4, element: e}, nil
	}
}
