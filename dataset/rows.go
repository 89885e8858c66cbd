package dataset

import (
	"bufio"
	"fmt"
	"math"
	"strconv"

	"github.com/gram-compute/gram/protocol"
)

// table is what the head of a binary object says: rows of equal length follow one another.
type table struct {
	head   int64 // bytes before the first row
	rows   int64 // declared; -1 for as many as there are
	stride int64 // bytes of a row
	width  int   // numbers in a row
	lead   int   // bytes of a row before its numbers: the width, again
	element
}

// parseHead reads an object's head; what is wrong with it is said as a headFlaw.
type parseHead func(head *bufio.Reader) (table, error)

// headFlaw is why an object's head cannot be used.
type headFlaw string

func (f headFlaw) Error() string { return string(f) }

func headFlawf(format string, args ...any) error { return headFlaw(fmt.Sprintf(format, args...)) }

// row reads one row into a vector. A flaw that is final says that this is no row.
func (t table) row(to []float32, row []byte, w *watch) flaw {
	numbers, bad := t.numbers(row)
	if bad.reason != "" {
		return bad
	}
	bad = t.decode(to, numbers, w)
	if w.shifts != nil && t.short() && bad.reason == "" {
		for col, offset := range w.shifts {
			if offset != 0 {
				to[col] = w.take(col, floatNumber(float64(to[col])))
			}
		}
	}
	return bad
}

// numbers are those of a row. A flaw says that this is no row.
func (t table) numbers(row []byte) ([]byte, flaw) {
	if t.lead > 0 && int64(t.order.Uint32(row)) != int64(t.width) {
		return nil, flaw{reason: otherWidth, final: true}
	}
	return row[t.lead:], flaw{}
}

// value appends what a row of one value holds, as decode makes text of it.
func (t table) value(decode func(to, value []byte) ([]byte, flaw), to, row []byte) ([]byte, flaw) {
	number, bad := t.numbers(row)
	if bad.reason != "" {
		return to, bad
	}
	return decode(to, number)
}

// bytes is the length of a whole object with the table's declared rows; -1 beyond 2^63.
func (t table) bytes() int64 {
	if t.rows > (math.MaxInt64-t.head)/t.stride {
		return -1
	}
	return t.head + t.rows*t.stride
}

// rowFormat reads formats that are one table.
type rowFormat struct{ head parseHead }

func (f rowFormat) whole() bool { return false }

func (f rowFormat) read(r *shardReader, obj pinned, piece Piece, zipped bool) (err error) {
	data, err := openRows(r, obj, zipped, &r.zip, f.head)
	if err != nil {
		return err
	}
	defer data.close(&err)
	with := rowTables{data: data}
	if r.src.input.LabelsURI != "" {
		o := r.src.manifest.Labels[piece.Object]
		if with.labels, err = f.companion(r, r.src.labels, o, labelsHead(f.head)); err != nil {
			return err
		}
		defer with.labels.close(&err)
	}
	if r.src.input.IDsURI != "" {
		o := r.src.manifest.IDs[piece.Object]
		if with.ids, err = f.companion(r, r.src.ids, o, idsHead(f.head)); err != nil {
			return err
		}
		defer with.ids.close(&err)
	}
	if err := with.match(); err != nil {
		return err
	}
	first, last := data.rowsOf(piece)
	return r.rows(with, first, last)
}

// companion opens an object that holds something of the rows of another.
func (f rowFormat) companion(r *shardReader, prefix string, o Object, head parseHead) (*rowStream, error) {
	zipped, err := isGzip(o.Key, r.src.input.Compression)
	if err != nil {
		return nil, err
	}
	obj := pinned{store: r.src.store, key: prefix + o.Key, obj: o}
	if loads(o) {
		if obj.data, err = obj.load(r.ctx); err != nil {
			return nil, err
		}
	}
	return openRows(r, obj, zipped, new(gunzip), head)
}

// rows reads the rows [first, last) into blocks.
func (r *shardReader) rows(from rowTables, first, last int64) error {
	data := from.data
	if err := from.seek(first, last); err != nil {
		return err
	}
	r.block.Dense.Width = data.width
	offsets, bad := offsetsOf(&r.src.input, func(key protocol.Column) (int, bool) {
		return key.Number - 1, key.Name == "" && key.Number <= data.width
	})
	if bad.reason != "" {
		return bad.fault(data.obj.obj.Key, line{})
	}
	r.block.Subtracted = offsets
	r.block.watch.begin(func(col int) string { return strconv.Itoa(col + 1) }, offsets)
	for {
		row, ok, err := from.next()
		if err != nil {
			return err
		}
		if !ok || r.past() && !data.packed {
			break
		}
		if r.outside() {
			continue
		}
		if !data.packed { // its head might promise anything
			r.block.Rest = int(last - data.at)
		}
		if err := r.row(from, row); err != nil {
			return err
		}
	}
	r.block.Rest = 0
	if err := r.flush(); err != nil {
		return err
	}
	return from.finish()
}

// row takes one row into the block, as a record or as skipped.
func (r *shardReader) row(from rowTables, row tableRow) error {
	data := from.data
	b, number, at := &r.block, data.at-1, data
	n := len(b.Dense.Values)
	b.Dense.Values = extend(b.Dense.Values, data.width)
	bad := b.watch.judge(data.row(b.Dense.Values[n:], row.data, &b.watch))
	if from.labels != nil && bad.reason == "" {
		var text []byte
		if text, bad = from.labels.value(from.labels.label, nil, row.label); bad.reason == "" {
			b.Labels = append(b.Labels, text)
		}
		at = from.labels
	}
	if from.ids != nil && bad.reason == "" {
		b.id, bad = from.ids.value(from.ids.id, b.id[:0], row.id)
		at = from.ids
	}
	switch {
	case bad.reason == "":
		return r.keep(number)
	case r.skips > 0 && !bad.final:
		return r.skip(Skip{ID: ByPlace(data.obj.obj.Key, number), Column: bad.column, Reason: bad.reason})
	}
	fault := bad.fault(at.obj.obj.Key, line{off: at.head + number*at.stride})
	if fault.What = fmt.Sprintf("row %d: %s", number, fault.What); bad.final {
		fault.What += fmt.Sprintf(", not the %d of the first row", data.width)
		fault.Hint = "All vectors of an object must be of one width; check the file"
	}
	return fault
}

// headFault is a fault of an object's header.
func headFault(obj pinned, code protocol.Code, format string, args ...any) *protocol.Fault {
	const hint = "Check that the object is whole and that spec.input.format is right"
	return inputFault(code, obj.obj.Key, nil, fmt.Sprintf(format, args...), hint).WithOffset(0)
}
