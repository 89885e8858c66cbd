package state

import (
	"bytes"
	"slices"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// chunkMost is how many entries a chunk has at most. Adding one copies a chunk, some 5 KiB, and a chunk costs a
// node of the tree, some 500 bytes.
const chunkMost = 128

// sweptJobs are the retired jobs that are swept. Their ids stay taken for a month, so there may be very many: each
// costs its id and some fifteen bytes. They are packed into chunks, sorted by id. How they are divided depends on
// history, which no method shows. A sweptJobs is never changed: put and remove return another.
type sweptJobs struct {
	chunks *iradix.Tree[sweptChunk] // by the last id of each
	count  int
}

func newSweptJobs() sweptJobs { return sweptJobs{chunks: iradix.New[sweptChunk]()} }

// get returns the entry with this id.
func (j sweptJobs) get(id string) (Retired, bool) {
	c := j.chunkOf(id)
	from, end := c.find(id)
	if from == end {
		return Retired{}, false
	}
	e, _ := unpackSwept(c.packed[from:])
	return e.retired(), true
}

// put adds r, which is swept, or replaces the entry with its id.
func (j sweptJobs) put(r Retired) sweptJobs {
	c := j.chunkOf(r.ID)
	from, end := c.find(r.ID)
	txn := j.chunks.Txn()
	txn.Delete(c.last)
	added := 0
	for _, part := range splitSwept(slices.Concat(c.packed[:from], packSwept(nil, r), c.packed[end:])) {
		insertChunk(txn, part)
		added += part.count
	}
	return sweptJobs{txn.Commit(), j.count - c.count + added}
}

// remove drops the entry with this id.
func (j sweptJobs) remove(id string) sweptJobs {
	c := j.chunkOf(id)
	from, end := c.find(id)
	if from == end {
		return j
	}
	txn := j.chunks.Txn()
	txn.Delete(c.last)
	if rest := slices.Concat(c.packed[:from], c.packed[end:]); len(rest) > 0 {
		insertChunk(txn, joinNeighbors(txn, newSweptChunk(rest)))
	}
	return sweptJobs{txn.Commit(), j.count - 1}
}

// insertChunk copies the key: inner nodes keep parts of keys, and would keep the bytes of old chunks with them.
func insertChunk(txn *iradix.Txn[sweptChunk], c sweptChunk) { txn.Insert(bytes.Clone(c.last), c) }

// joinNeighbors moves the chunks beside c, which is not in the tree, into it, where all fit into half a chunk: many
// small ones would cost a node each.
func joinNeighbors(txn *iradix.Txn[sweptChunk], c sweptChunk) sweptChunk {
	before := txn.Root().ReverseIterator()
	before.SeekReverseLowerBound(c.last)
	if _, other, ok := before.Previous(); ok && other.count+c.count <= chunkMost/2 {
		txn.Delete(other.last)
		c = newSweptChunk(slices.Concat(other.packed, c.packed))
	}
	after := txn.Root().Iterator()
	after.SeekLowerBound(c.last)
	if _, other, ok := after.Next(); ok && other.count+c.count <= chunkMost/2 {
		txn.Delete(other.last)
		c = newSweptChunk(slices.Concat(c.packed, other.packed))
	}
	return c
}

// each visits the entries in order of id until visit returns false, and reports whether it visited all.
func (j sweptJobs) each(visit func(Retired) bool) bool {
	return j.eachChunk(func(c sweptChunk) bool { return c.each(visit) })
}

// eachBefore visits, in order of id, the entries that were retired before a time, until visit returns false.
func (j sweptJobs) eachBefore(at int64, visit func(Retired) bool) {
	j.eachChunk(func(c sweptChunk) bool {
		return c.oldest >= at || c.each(func(r Retired) bool { return r.RetiredAt >= at || visit(r) })
	})
}

func (j sweptJobs) eachChunk(visit func(sweptChunk) bool) bool {
	all := true
	j.chunks.Root().Walk(func(_ []byte, c sweptChunk) bool {
		all = visit(c)
		return !all
	})
	return all
}

// chunkOf returns the chunk in which an id is, or belongs: the first that does not end before it, or else the last.
func (j sweptJobs) chunkOf(id string) sweptChunk {
	it := j.chunks.Root().Iterator()
	it.SeekLowerBound([]byte(id))
	_, c, ok := it.Next()
	if !ok {
		_, c, _ = j.chunks.Root().Maximum()
	}
	return c
}
