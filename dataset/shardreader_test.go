package dataset

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// A block has up to 4096 records, good and bad, and up to 2^18 values.
func TestBoundsOfABlock(t *testing.T) {
	skip := func(in *protocol.Input) { in.OnBadRecord.SkipMax = 1 << 20 }
	wide := "a" + strings.Join(pairs(blockValues/64), "") + "\n"
	for _, c := range []struct {
		name string
		in   protocol.Input
		data string
		want []int // records of each block, good and bad
	}{
		{"records", formatInput("csv", nil), strings.Repeat("1\n", blockRecords+1), []int{blockRecords, 1}},
		{"bad records", formatInput("csv", skip), "1\n" + strings.Repeat("x\n", blockRecords), []int{blockRecords, 1}},
		{"values", formatInput("npy", nil),
			string(datasettest.NPY("|u1", "(2049, 128)", make([]uint8, 2049*128))), []int{2048, 1}},
		{"values of rows that do not fill it", formatInput("npy", nil),
			string(datasettest.NPY("|u1", "(3, 131073)", make([]uint8, 3*131073))), []int{1, 1, 1}},
		{"sparse records", libsvmInput(1, 9), strings.Repeat("a 1:1\n", blockRecords+1), []int{blockRecords, 1}},
		{"sparse values", libsvmInput(1, 1<<20), strings.Repeat(wide, 65), []int{64, 1}},
	} {
		s, shards, err := openInput(storeOf(t, map[string]string{"f": c.data}), c.in)
		if err != nil {
			t.Fatal(err)
		}
		s.buffer = len(c.data) + 1 // a block of lines also ends where the buffer ends
		var got []int
		for block, err := range s.Blocks(t.Context(), Shard{Pieces: shards[0].Pieces}) {
			if err != nil {
				t.Fatal(c.name, err)
			}
			got = append(got, len(block.IDs)+len(block.Skipped))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: blocks of %v, want %v", c.name, got, c.want)
		}
	}
}

// pairs are " 1:1", " 2:1" and so on.
func pairs(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = " " + strconv.Itoa(i+1) + ":1"
	}
	return all
}
