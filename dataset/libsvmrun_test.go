package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/kernelops/decimal"
	"github.com/gram-compute/gram/protocol"
)

// run reads a line as the general loop does, to the bit: a line of short entries, and one with something else anywhere.
func TestRunOfEntries(t *testing.T) {
	base, width := 1, 400
	in := formatInput("libsvm", func(in *protocol.Input) { in.IndexBase, in.Width = &base, width })
	r := rand.New(rand.NewPCG(4, 7))
	odd := []string{"1e-3", "16777216", "16777215", "0.00000000001", "-0", "-.5", "+1", "5.", "00000000000000000000001",
		"0.1\t", "7 ", "9  ", "-", ".", "1:2", "x", "", "nan", "184467440737095516160", "1.2.3", "--1"}
	for range 3000 {
		var line strings.Builder
		line.WriteString("1")
		index := 1
		for range r.IntN([]int{9, 150}[r.IntN(2)]) {
			value := fmt.Sprintf("%.*f", r.IntN(7), r.NormFloat64()*5)
			if r.IntN(12) == 0 {
				value = odd[r.IntN(len(odd))]
			}
			fmt.Fprintf(&line, " %d:%s", index, value)
			if index += r.IntN(40); r.IntN(6) > 0 {
				index++
			}
		}
		quiet := r.IntN(2) == 0
		var got [2]Block
		var bad [2]flaw
		for at := range got {
			p := newLibSVM(&in, decimal.Fastest()).(*libsvmParser)
			got[at].watch.begin(strconv.Itoa, nil)
			if got[at].watch.quiet = quiet; at == 1 {
				p.offsets = []Offset{{Column: width}} // beyond all columns: nothing is taken off, and run is left out
			}
			bad[at] = p.record(&got[at], p.content(behind(line.String(), " 9:7")))
		}
		a, b := &got[0], &got[1]
		if bad[0].reason != bad[1].reason || bad[0].column != bad[1].column ||
			!slices.Equal(a.Sparse.Indices, b.Sparse.Indices) ||
			!slices.EqualFunc(a.Sparse.Values, b.Sparse.Values, sameFloat32) || a.watch.moved != b.watch.moved {
			t.Fatalf("%q: %+v %+v and %+v %+v", line.String(), a.Sparse, bad[0], b.Sparse, bad[1])
		}
	}
}

func sameFloat32(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
