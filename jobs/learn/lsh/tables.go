package lsh

import (
	"math/bits"

	"github.com/gram-compute/gram/kernelops"
)

// Tables are hash tables of rows, by their keys. One goroutine; the zero value has no rows.
type Tables struct {
	tables, rows int
	shift        int      // of a key's product that leaves a slot
	keys         []uint64 // [tables, rows]
	heads        []int32  // [tables, slots]: 1 plus the first row of a slot, 0 of none
	next         []int32  // [tables, rows]: 1 plus the next row of the same slot
	seen         []uint32 // of each row, the last call of Colliding that found it
	call         uint32
	found        []int32
}

const (
	// tableBytes is what the tables of the rows of one block take, at most.
	tableBytes = 16 << 20
	// eachBytes is what a row takes in a table: key, next, and two heads at most.
	eachBytes = 8 + 4 + 2*4
)

// sampleKeys is how many keys the sampled queries have at most, about: the sample is drawn by a share.
const sampleKeys = 1 << 21

// SearchBytes bounds the memory of a search: tables, random rows, products and the keys of sampled queries.
const SearchBytes = tableBytes + 4*MaxNumbers + 4*productBytes + 8*sampleKeys

// RowsOfTables is how many rows a number of tables may hold.
func RowsOfTables(tables int) int { return max(1, tableBytes/eachBytes/tables) }

// Begin empties the tables, for up to rows rows of a number of tables.
func (t *Tables) Begin(tables, rows int) {
	slots := bits.Len(uint(max(1, rows) - 1)) // 2^slots >= rows
	t.tables, t.rows, t.shift, t.call = tables, rows, 64-slots, 0
	t.keys, t.next = kernelops.Resize(t.keys, tables*rows), kernelops.Resize(t.next, tables*rows)
	t.heads, t.seen = kernelops.Resize(t.heads, tables<<slots), kernelops.Resize(t.seen, rows)
	clear(t.heads)
	clear(t.seen)
}

// slot is the place of a key among the heads.
func (t *Tables) slot(table int, key uint64) int {
	return table<<(64-t.shift) + int(key*0x9e3779b97f4a7c15>>t.shift)
}

// Enter puts a row into all tables, by its key in each.
func (t *Tables) Enter(row int, keys []uint64) {
	for table, key := range keys {
		at, slot := table*t.rows+row, t.slot(table, key)
		t.keys[at], t.next[at] = key, t.heads[slot]
		t.heads[slot] = int32(row + 1)
	}
}

// Colliding returns the rows that share a key in any table, each once, in no order that matters, until the next call.
func (t *Tables) Colliding(keys []uint64) []int32 {
	if t.call++; t.call == 0 { // after 2^32 calls
		clear(t.seen)
		t.call = 1
	}
	t.found = t.found[:0]
	for table, key := range keys {
		from := table * t.rows
		for row := t.heads[t.slot(table, key)]; row != 0; row = t.next[from+int(row-1)] {
			if t.keys[from+int(row-1)] == key && t.seen[row-1] != t.call {
				t.seen[row-1] = t.call
				t.found = append(t.found, row-1)
			}
		}
	}
	return t.found
}
