package state

import (
	"bytes"
	"encoding/binary"
	"math"
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

// sweptChunk is some of the swept jobs. It is never changed.
type sweptChunk struct {
	packed []byte // entries in order of id
	last   []byte // the last id
	count  int
	oldest int64 // the earliest time of retirement
}

// sweptEntry is an entry as it is unpacked: its id lies in the chunk.
type sweptEntry struct {
	id        []byte
	number    uint64
	retiredAt int64
	ownOutput bool
}

func (e sweptEntry) retired() Retired {
	return Retired{ID: string(e.id), Number: e.number, RetiredAt: e.retiredAt, OwnOutput: e.ownOutput, Swept: true}
}

// packSwept appends the id with its length, the number, the time and the flag.
func packSwept(to []byte, r Retired) []byte {
	to = binary.AppendUvarint(to, uint64(len(r.ID)))
	to = append(to, r.ID...)
	to = binary.AppendUvarint(to, r.Number)
	to = binary.AppendVarint(to, r.RetiredAt)
	if r.OwnOutput {
		return append(to, 1)
	}
	return append(to, 0)
}

// unpackSwept returns the entry with which packed begins, and its size.
func unpackSwept(packed []byte) (e sweptEntry, size int) {
	length, n := binary.Uvarint(packed)
	end := n + int(length)
	e.id = packed[n:end]
	e.number, n = binary.Uvarint(packed[end:])
	end += n
	e.retiredAt, n = binary.Varint(packed[end:])
	end += n
	e.ownOutput = packed[end] == 1
	return e, end + 1
}

func newSweptChunk(packed []byte) sweptChunk {
	c := sweptChunk{packed: packed, oldest: math.MaxInt64}
	for at := 0; at < len(packed); {
		e, size := unpackSwept(packed[at:])
		c.last, c.count, c.oldest, at = e.id, c.count+1, min(c.oldest, e.retiredAt), at+size
	}
	return c
}

// splitSwept makes a chunk of the entries, or two where they are too many for one.
func splitSwept(packed []byte) []sweptChunk {
	whole := newSweptChunk(packed)
	if whole.count <= chunkMost {
		return []sweptChunk{whole}
	}
	middle := 0
	for range whole.count / 2 {
		_, size := unpackSwept(packed[middle:])
		middle += size
	}
	return []sweptChunk{newSweptChunk(bytes.Clone(packed[:middle])), newSweptChunk(bytes.Clone(packed[middle:]))}
}

// find returns where the entry with this id lies in the chunk, or, if from is end, where it belongs.
func (c sweptChunk) find(id string) (from, end int) {
	if id > string(c.last) {
		return len(c.packed), len(c.packed) // as in a snapshot, which is in order
	}
	for from < len(c.packed) {
		e, size := unpackSwept(c.packed[from:])
		switch {
		case string(e.id) == id:
			return from, from + size
		case string(e.id) > id:
			return from, from
		}
		from += size
	}
	return from, from
}

// each visits the entries in order of id until visit returns false, and reports whether it visited all.
func (c sweptChunk) each(visit func(Retired) bool) bool {
	for at := 0; at < len(c.packed); {
		e, size := unpackSwept(c.packed[at:])
		if !visit(e.retired()) {
			return false
		}
		at += size
	}
	return true
}
