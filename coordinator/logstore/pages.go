package logstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
)

// The layout of bbolt's file (go.etcd.io/bbolt/internal/common: page.go, meta.go, bucket.go), in the machine's byte
// order.
const (
	headerSize   = 16 // of a page: id, flags, count, overflow
	elementSize  = 16 // of a branch's or a leaf's table
	bucketSize   = 16 // of a bucket's value: root, sequence
	metaSize     = 64
	metaSum      = 56 // where its checksum begins
	metaMagic    = 0xED0CDAED
	metaVersion  = 2
	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freePage     = 0x10
	bucketFlag   = 0x01
	noFreelist   = math.MaxUint64
	maxPageSize  = 1 << 16
	maxFileDepth = 16 // a tree of log entries has four levels at most
)

var order = binary.NativeEndian

// File is what Pages found.
type File struct {
	Used    int64    // bytes of the pages in use
	Entries []uint64 // the indices of the log, ascending
	Stable  []string // the keys beside it
}

// Pages reads every page that the file's newest transaction refers to. Errors wrap ErrDamaged where the pages are not
// what bbolt writes. Entries and values are not decoded.
func Pages(file io.ReaderAt, size int64) (*File, error) {
	w := &walker{file: file, found: &File{}}
	root, err := w.metas(size)
	if err != nil {
		return nil, err
	}
	w.seen = make([]bool, w.end)
	if err := w.page(root, 0, nil, nil, w.bucket); err != nil {
		return nil, err
	}
	if err := w.freelist(); err != nil {
		return nil, err
	}
	return w.found, nil
}

type walker struct {
	file     io.ReaderAt
	pageSize int64
	end      uint64 // the first page that was never used
	free     uint64 // the free list's page
	seen     []bool
	found    *File
}

// damage names what is damaged, and is ErrDamaged. Its text leaves out that error's own, which would stand there twice
// if one damage is the cause of another.
type damage string

func (d damage) Error() string { return string(d) }

func (d damage) Is(target error) bool { return target == ErrDamaged }

func damaged(format string, args ...any) error { return damage(fmt.Sprintf(format, args...)) }

// metas checks both meta pages and returns the root of the newer transaction. One that is damaged may be the newer:
// going on with the other would forget what was acknowledged last.
func (w *walker) metas(size int64) (root uint64, err error) {
	head := make([]byte, headerSize+metaSize)
	newest := uint64(0)
	for id := range uint64(2) {
		if id == 1 && w.pageSize == 0 {
			return 0, damaged("meta page 0 has no page size")
		}
		if _, err := w.file.ReadAt(head, int64(id)*w.pageSize); err != nil {
			return 0, readError("meta page", id, err)
		}
		meta := head[headerSize:]
		sum := fnv.New64a()
		sum.Write(meta[:metaSum])
		if order.Uint32(meta) != metaMagic || order.Uint32(meta[4:]) != metaVersion ||
			order.Uint64(meta[metaSum:]) != sum.Sum64() ||
			order.Uint64(head) != id || order.Uint16(head[8:]) != metaPage {
			return 0, damaged("meta page %d does not have its checksum", id)
		}
		pageSize := int64(order.Uint32(meta[8:]))
		if pageSize < 512 || pageSize > maxPageSize || id == 1 && pageSize != w.pageSize {
			return 0, damaged("meta page %d: pages of %d bytes", id, pageSize)
		}
		w.pageSize = pageSize
		if txid := order.Uint64(meta[48:]); id == 0 || txid > newest {
			newest, root, w.free, w.end = txid, order.Uint64(meta[16:]), order.Uint64(meta[32:]),
				order.Uint64(meta[40:])
		}
	}
	if w.end < 3 || w.end > uint64(size/w.pageSize) {
		return 0, damaged("the file has %d bytes, fewer than its %d pages of %d", size, w.end, w.pageSize)
	}
	return root, nil
}

func readError(what string, id uint64, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return damaged("%s %d is cut off", what, id)
	}
	return fmt.Errorf("read %s %d: %w", what, id, err)
}

// take reads a page with its overflow, of which no part may be another's.
func (w *walker) take(id uint64) ([]byte, error) {
	if id < 2 || id >= w.end {
		return nil, damaged("page %d is outside the file's %d", id, w.end)
	}
	head := make([]byte, headerSize)
	if _, err := w.file.ReadAt(head, int64(id)*w.pageSize); err != nil {
		return nil, readError("page", id, err)
	}
	if own := order.Uint64(head); own != id {
		return nil, damaged("page %d calls itself %d", id, own)
	}
	pages := uint64(order.Uint32(head[12:])) + 1
	if pages > w.end-id {
		return nil, damaged("page %d reaches beyond the file", id)
	}
	for i := id; i < id+pages; i++ {
		if w.seen[i] {
			return nil, damaged("page %d is used twice", i)
		}
		w.seen[i] = true
	}
	page := make([]byte, int64(pages)*w.pageSize)
	if _, err := w.file.ReadAt(page, int64(id)*w.pageSize); err != nil {
		return nil, readError("page", id, err)
	}
	w.found.Used += int64(len(page))
	return page, nil
}

// leaf is called for every key of a tree, in order.
type leafFunc func(flags uint32, key, value []byte) error

// page walks a tree; its keys lie in [low, high), where nil is no bound.
func (w *walker) page(id uint64, depth int, low, high []byte, leaf leafFunc) error {
	if depth > maxFileDepth {
		return damaged("page %d lies %d levels deep", id, depth)
	}
	page, err := w.take(id)
	if err != nil {
		return err
	}
	table, err := elements(page, id)
	if err != nil {
		return err
	}
	needed := (table.size + w.pageSize - 1) / w.pageSize * w.pageSize
	if extra := int64(len(page)) - needed; extra < 0 || extra > w.pageSize {
		return damaged("page %d holds %d bytes on %d", id, table.size, len(page))
	}
	// An empty tree is one leaf without keys.
	if len(table.all) == 0 && (depth > 0 || table.branch) {
		return damaged("page %d is empty", id)
	}
	for i, e := range table.all {
		end := high
		if i+1 < len(table.all) {
			end = table.all[i+1].key
		}
		if bytes.Compare(e.key, low) < 0 || end != nil && bytes.Compare(e.key, end) >= 0 {
			return damaged("page %d: its keys are out of order", id)
		}
		if table.branch {
			err = w.page(e.child, depth+1, e.key, end, leaf)
		} else {
			err = leaf(e.flags, e.key, e.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type element struct {
	flags      uint32
	key, value []byte
	child      uint64
}

type elementTable struct {
	branch bool
	all    []element
	size   int64 // bytes that the page needs
}

// elements reads a page's table. bbolt writes keys and values right behind it, without gaps.
func elements(page []byte, id uint64) (t elementTable, err error) {
	flags, count := order.Uint16(page[8:]), int(order.Uint16(page[10:]))
	if flags != branchPage && flags != leafPage {
		return t, damaged("page %d is of kind %#x", id, flags)
	}
	t.branch = flags == branchPage
	at := headerSize + count*elementSize
	for i := range count {
		start := headerSize + i*elementSize
		if start+elementSize > len(page) {
			return t, damaged("page %d: %d elements do not fit", id, count)
		}
		raw := page[start:]
		var e element
		pos, keySize, valueSize := order.Uint32(raw), order.Uint32(raw[4:]), uint32(0)
		if t.branch {
			e.child = order.Uint64(raw[8:])
		} else {
			e.flags, pos, keySize, valueSize = pos, keySize, order.Uint32(raw[8:]), order.Uint32(raw[12:])
		}
		if int64(start)+int64(pos) != int64(at) || keySize == 0 ||
			int64(keySize)+int64(valueSize) > int64(len(page)-at) {
			return t, damaged("page %d: element %d is not where it should be", id, i)
		}
		e.key = page[at : at+int(keySize)]
		e.value = page[at+int(keySize) : at+int(keySize)+int(valueSize)]
		at += int(keySize) + int(valueSize)
		t.all = append(t.all, e)
	}
	t.size = int64(at)
	return t, nil
}

// bucket walks one of the two buckets that the file has.
func (w *walker) bucket(flags uint32, key, value []byte) error {
	name := string(key)
	if flags != bucketFlag || name != logsBucket && name != confBucket || len(value) < bucketSize {
		return damaged("the file has an unknown bucket %q", name)
	}
	root, sequence := order.Uint64(value), order.Uint64(value[8:])
	if sequence != 0 {
		return damaged("bucket %s has a sequence", name)
	}
	leaf := w.entry
	if name == confBucket {
		leaf = w.stable
	}
	if root != 0 {
		return w.page(root, 0, nil, nil, leaf)
	}
	return inline(value[bucketSize:], name, leaf)
}

// inline walks a bucket that is small enough to live in its parent's page.
func inline(page []byte, name string, leaf leafFunc) error {
	if len(page) < headerSize || order.Uint64(page) != 0 || order.Uint32(page[12:]) != 0 {
		return damaged("bucket %s has no page", name)
	}
	table, err := elements(page, 0)
	if err != nil || table.branch || table.size != int64(len(page)) {
		return damaged("bucket %s is not whole (%v)", name, err)
	}
	var before []byte
	for _, e := range table.all {
		if bytes.Compare(e.key, before) <= 0 {
			return damaged("bucket %s: its keys are out of order", name)
		}
		before = e.key
		if err := leaf(e.flags, e.key, e.value); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(flags uint32, key, _ []byte) error {
	if flags != 0 || len(key) != 8 {
		return damaged("the log has a key %x", key)
	}
	w.found.Entries = append(w.found.Entries, binary.BigEndian.Uint64(key))
	return nil
}

func (w *walker) stable(flags uint32, key, _ []byte) error {
	if flags != 0 || !slices.Contains(stableKeys, string(key)) {
		return damaged("bucket %s has an unknown key %q", confBucket, key)
	}
	w.found.Stable = append(w.found.Stable, string(key))
	return nil
}

// freelist checks the list of free pages of a file that has one: a page in use that it calls free would be written
// over.
func (w *walker) freelist() error {
	if w.free == noFreelist {
		return nil
	}
	page, err := w.take(w.free)
	if err != nil {
		return err
	}
	count := int(order.Uint16(page[10:]))
	if order.Uint16(page[8:]) != freePage || count == math.MaxUint16 || headerSize+8*count > len(page) {
		return damaged("page %d is no free list that this version reads", w.free)
	}
	for i := range count {
		if id := order.Uint64(page[headerSize+8*i:]); id < 2 || id >= w.end || w.seen[id] {
			return damaged("page %d is free and in use", id)
		}
	}
	return nil
}
