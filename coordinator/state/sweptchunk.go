package state

import (
	"bytes"
	"encoding/binary"
	"math"
)

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
