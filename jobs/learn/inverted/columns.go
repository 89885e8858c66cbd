package inverted

import (
	"math/bits"

	"github.com/gram-compute/gram/jobs/learn/rows"
)

// Columns are the columns in which row i is not 0, ascending, in the memory of buf.
func Columns(r *rows.Rows, i int, buf []int32) []int32 {
	buf = buf[:0]
	if r.Form == rows.Bits {
		for w, word := range r.Bits[i*r.Words : (i+1)*r.Words] {
			for ; word != 0; word &= word - 1 {
				buf = append(buf, int32(64*w+bits.TrailingZeros64(word)))
			}
		}
		return buf
	}
	indices, values := r.Row(i)
	for e, v := range values {
		switch {
		case v == 0:
		case indices == nil:
			buf = append(buf, int32(e))
		default:
			buf = append(buf, indices[e])
		}
	}
	return buf
}
