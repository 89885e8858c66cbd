package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// row is all that a reader says of one record.
type row struct {
	Offset      int64
	Label, Text string
	Weight      float32
	Vector      []float32
	Indices     []int32 // of the sparse
}

// formatInput is an input of the format with its defaults in.
func formatInput(format string, set func(*protocol.Input)) protocol.Input {
	in := protocol.Input{URI: "mem://test/", Format: format}
	if set != nil {
		set(&in)
	}
	return in.WithDefaults()
}

// absent stands for a missing number of a dense vector: no NaN equals another.
const absent = -0x1p99

// rowsOf copies the rows of a block, which must be of one shape and within its bounds.
func rowsOf(b *Block) (rows []row, err error) {
	n := len(b.IDs)
	all := func(have int) bool { return have == 0 || have == n }
	switch {
	case n+len(b.Skipped) == 0 || n+len(b.Skipped) > blockRecords:
		return nil, fmt.Errorf("a block of %d records and %d skipped", n, len(b.Skipped))
	case !all(len(b.Labels)) || !all(len(b.Texts)) || !all(len(b.Weights)) || len(b.Dense.Values) != n*b.Dense.Width:
		return nil, fmt.Errorf("%d records, %d labels, %d texts, %d weights, %d values", n, len(b.Labels), len(b.Texts),
			len(b.Weights), len(b.Dense.Values))
	case b.Sparse.Width > 0 && (len(b.Sparse.Indptr) != n+1 || len(b.Sparse.Indices) != b.Sparse.Indptr[n] ||
		len(b.Sparse.Values) != b.Sparse.Indptr[n]):
		return nil, fmt.Errorf("%d records, but the sparse rows %v of %d", n, b.Sparse.Indptr, len(b.Sparse.Values))
	case b.Sparse.Width == 0 && len(b.Sparse.Indptr)+len(b.Sparse.Indices)+len(b.Sparse.Values) > 0:
		return nil, fmt.Errorf("sparse rows %v of no width", b.Sparse.Indptr)
	case n > 1 && len(b.Dense.Values) > blockValues:
		return nil, fmt.Errorf("a block of %d values", len(b.Dense.Values))
	}
	for i, id := range b.IDs {
		r := row{Offset: id.Offset}
		if len(b.Labels) > 0 {
			r.Label = string(b.Labels[i])
		}
		if len(b.Texts) > 0 {
			r.Text = string(b.Texts[i])
		}
		if len(b.Weights) > 0 {
			r.Weight = b.Weights[i]
		}
		if b.Dense.Width > 0 {
			r.Vector = slices.Clone(b.Dense.Row(i))
			for j, v := range r.Vector {
				if v != v {
					r.Vector[j] = absent
				}
			}
		}
		if b.Sparse.Width > 0 {
			indices, values := b.Sparse.Row(i)
			r.Indices, r.Vector = slices.Clone(indices), slices.Clone(values)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func readRows(ctx context.Context, s *Source, shards []Shard) (rows []row, skipped []Skip, err error) {
	for _, shard := range shards {
		for b, err := range s.Blocks(ctx, shard) {
			if err != nil {
				return rows, skipped, err
			}
			more, err := rowsOf(b)
			if err != nil {
				return rows, skipped, err
			}
			rows, skipped = append(rows, more...), append(skipped, b.Skipped...)
		}
	}
	return rows, skipped, nil
}

// openInput plans all of a store and makes a source.
func openInput(store *datasettest.Store, in protocol.Input) (*Source, []Shard, error) {
	m, shards, err := Plan(context.Background(), store, "", in)
	if err != nil {
		return nil, nil, err
	}
	s, err := NewSource(store, "", m, in)
	return s, shards, err
}

// readFile reads one file in shards of any size up to its own and demands the same of each.
func readFile(t *testing.T, in protocol.Input, files map[string]string) (rows []row, skipped []Skip, err error) {
	t.Helper()
	longest := 0
	for _, data := range files {
		longest = max(longest, len(data))
	}
	for _, size := range slices.Compact([]int{longest, 1 + longest/2, 1 + longest/7, 5, 1}) {
		in.ShardBytes = protocol.ByteSize(size)
		s, shards, planErr := openInput(storeOf(t, files), in)
		if planErr != nil {
			return nil, nil, planErr
		}
		again, skippedAgain, errAgain := readRows(t.Context(), s, shards)
		if errAgain == nil {
			wantRanges(t, s, shards)
		}
		for i := range skippedAgain {
			skippedAgain[i].Line = 0 // known only to the first piece of an object
		}
		if size == longest {
			rows, skipped, err = again, skippedAgain, errAgain
			continue
		}
		same := errAgain == nil && equalRows(rows, again) && slices.Equal(skipped, skippedAgain)
		if (err == nil && !same) || (err != nil && (errAgain == nil || err.Error() != errAgain.Error())) {
			t.Errorf("shards of %d: %v %v %v; whole: %v %v %v", size, again, skippedAgain, errAgain, rows, skipped, err)
		}
	}
	return rows, skipped, err
}

func columns(numbers ...int) (c []protocol.Column) {
	for _, n := range numbers {
		c = append(c, protocol.Column{Number: n})
	}
	return c
}

// The records before one that cannot be read are handed over before the fault, in whichever block they are.
func TestRecordsBeforeAFault(t *testing.T) {
	csv := formatInput("csv", nil)
	for name, c := range map[string]struct {
		in   protocol.Input
		data string
		want int
	}{
		"csv":          {csv, "1,2\n3,4\n5,x\n", 2},
		"within a row": {csv, "1,2\n3,4\n5,6,7\n", 2},
		"sparse": {formatInput("libsvm", func(in *protocol.Input) { in.Width, in.IndexBase = 3, new(1) }),
			"a 1:1 2:2\nb 3:1\nb 1:1 2:x\n", 2},
		"the first":      {csv, "1,x\n", 0},
		"in a new block": {csv, strings.Repeat("1\n", blockRecords) + "x\n", blockRecords},
	} {
		s, shards, err := openInput(storeOf(t, map[string]string{"f": c.data}), c.in)
		if err != nil {
			t.Fatal(name, err)
		}
		rows, _, err := readRows(t.Context(), s, shards)
		if fault := new(protocol.Fault); !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord ||
			len(rows) != c.want {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
}
