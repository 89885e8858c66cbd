package kernelmean

import (
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/protocol"
)

// Rows of a base that is not held are read a chunk at a time.
const (
	chunkValues = 1 << 20
	chunkBytes  = 4 * 4 * chunkValues // of a chunk, what it grew out of, its copy by class, and a tile of it
)

// chunkRows is how many rows of a width a chunk has. It is part of the results of
// KernelDensityBayes, whose terms are relative to the greatest of a chunk.
func chunkRows(width int) int { return max(1, min(baseRows, chunkValues/max(1, width))) }

// chunks calls visit with the records that keep chooses, rows at a time and the rest, however they lie in blocks.
// A chunk is valid until the next.
func chunks(blocks iter.Seq2[*dataset.Block, error], space *features.Space, keep func(dataset.Identity) bool, rows int, visit func(*base) error) error {
	reader, chunk := space.NewReader(), newBase(space)
	for block, err := range blocks {
		if err != nil {
			return err
		}
		v, err := reader.Read(block, keep)
		if err != nil {
			return err
		}
		for from := 0; from < v.Rows; {
			to := min(v.Rows, from+rows-chunk.rows())
			chunk.add(span(v, from, to))
			if from = to; chunk.rows() < rows {
				continue
			}
			if err := visit(chunk); err != nil {
				return err
			}
			chunk.reset()
		}
	}
	if chunk.rows() == 0 {
		return nil
	}
	return visit(chunk)
}

// span is the rows of v from up to, not including, to.
func span(v features.Vectors, from, to int) features.Vectors {
	s := features.Vectors{Rows: to - from, Class: v.Class[from:to]}
	if v.Weights != nil {
		s.Weights = v.Weights[from:to]
	}
	if v.Sparse.Width == 0 {
		s.Dense = v.Dense.RowRange(from, to)
		return s
	}
	s.Sparse = v.Sparse
	s.Sparse.Indptr = v.Sparse.Indptr[from : to+1]
	return s
}

// reset drops the rows and keeps their memory.
func (b *base) reset() {
	b.class, b.weights, b.dense = b.class[:0], b.weights[:0], b.dense[:0]
	if b.isSparse() {
		b.sparse.Indptr, b.sparse.Indices, b.sparse.Values = b.sparse.Indptr[:1], b.sparse.Indices[:0], b.sparse.Values[:0]
	}
}

// gathered is the training records of a shard, class after class.
func gathered(blocks iter.Seq2[*dataset.Block, error], space *features.Space, keep func(dataset.Identity) bool) (*base, error) {
	all, reader := newBase(space), space.NewReader()
	for block, err := range blocks {
		if err != nil {
			return nil, err
		}
		v, err := reader.Read(block, keep)
		if err != nil {
			return nil, err
		}
		all.add(v)
	}
	return all.byClass(), nil
}

// asked are the queries of a tree.
type asked struct {
	rows    *base
	ids     []dataset.Identity
	numbers []int64 // of each query, its record within the shard
	shard   int64   // records of the shard
	known   bool    // all have labels
	labels  jobs.Strings
}

// readAsked gathers the records of blocks that keep chooses.
func readAsked(blocks iter.Seq2[*dataset.Block, error], space *features.Space, keep func(dataset.Identity) bool) (*asked, error) {
	q, reader := &asked{rows: newBase(space), known: true}, space.NewReader()
	for block, err := range blocks {
		if err != nil {
			return nil, err
		}
		v, err := reader.Read(block, keep)
		if err != nil {
			return nil, err
		}
		v.Weights = nil // they do not count
		q.rows.add(v)
		q.ids = append(q.ids, v.IDs...)
		q.known = q.known && (block.Labels != nil || len(block.IDs) == 0)
		for _, i := range v.Records {
			q.numbers = append(q.numbers, q.shard+int64(i))
			if q.known {
				q.labels.Append(block.Labels[i])
			}
		}
		q.shard += int64(len(block.IDs))
	}
	return q, nil
}

// Arrays of a partial that say what the queries of its tree are.
const (
	queryNumber = "query.number" // I64
	queryShard  = "query.shard"  // I64 scalar
	queryLabels = "query.labels" // strings, where they are known
)

func (q *asked) put(a jobs.Arrays) {
	jobs.Put(a, queryNumber, q.numbers)
	jobs.PutScalar(a, queryShard, q.shard)
	if q.known {
		a.PutStrings(queryLabels, q.labels)
	}
}

// getAsked reads what put stored, which is not the rows.
func getAsked(a jobs.Arrays) (q *asked, err error) {
	q = &asked{}
	if q.numbers, err = jobs.Get[int64](a, queryNumber); err != nil {
		return nil, err
	}
	if q.shard, err = jobs.GetScalar[int64](a, queryShard); err != nil {
		return nil, err
	}
	if _, q.known = a[queryLabels+".bytes"]; !q.known {
		return q, nil
	}
	if q.labels, err = a.Strings(queryLabels); err != nil {
		return nil, err
	}
	if q.labels.Len() != len(q.numbers) {
		return nil, jobs.Malformed("%d queries with %d labels", len(q.numbers), q.labels.Len())
	}
	return q, nil
}

// fitsPartial refuses more numbers than a partial may have: all queries of a tree have some for each class.
func fitsPartial(queries, each int, maxState protocol.ByteSize) error {
	size := 8 * int64(queries) * int64(each)
	if maxState == 0 || size <= int64(maxState) {
		return nil
	}
	return protocol.InputFault(protocol.CodeStateTooBig,
		"a shard has so many records to decide, and there are so many classes, that their sums are beyond "+
			"max_state_bytes").
		WithHint("Choose smaller shards (shard_bytes) of the records to decide, or raise run.max_state_bytes.")
}
