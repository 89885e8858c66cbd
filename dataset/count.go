package dataset

import (
	"context"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// countRows fills in the rows of objects whose format counts them: from their heads, or by reading a packed object that
// declares none. Every later read compares the count with what it finds. Of several faults, that of the first object
// is returned.
func (m *Manifest) countRows(ctx context.Context, store objstore.Store, prefix string, input protocol.Input) error {
	format, ok := newFormat(&input).(rowCounter)
	if !ok {
		return nil
	}
	src := &Source{store: store, prefix: prefix, manifest: *m, input: input}
	err := eachObject(0, len(m.Objects), func(i int) (err error) {
		if m.Objects[i].Size == 0 {
			return nil
		}
		r := &shardReader{src: src, ctx: ctx}
		m.Objects[i].Rows, err = r.countObject(i, format)
		return err
	})
	if err != nil {
		return err
	}
	m.Counted = true
	if err := m.checkRows(); err != nil {
		return inputFault(protocol.CodeInputLimit, m.URI, err, "the rows cannot be numbered", "")
	}
	return nil
}

// rowCounter is a format that counts rows.
type rowCounter interface {
	format
	count(r *shardReader, obj pinned, zipped bool) (int64, error)
}

// countObject counts the rows of an object.
func (r *shardReader) countObject(i int, format rowCounter) (int64, error) {
	o := r.src.manifest.Objects[i]
	zipped, err := isGzip(o.Key, r.src.input.Compression)
	if err != nil {
		return 0, err
	}
	obj := pinned{store: r.src.store, key: r.src.prefix + o.Key, obj: o}
	verify, err := r.src.prepare(r.ctx, &obj, Piece{Object: i, End: o.Size})
	if err != nil {
		return 0, err
	}
	rows, err := format.count(r, obj, zipped)
	if err != nil && (zipped || o.Size <= int64(r.src.input.ShardBytes)) {
		return 0, verify(err) // only bytes that are the stored ones are blamed
	}
	return rows, err
}

// count is the number of rows.
func (f rowFormat) count(r *shardReader, obj pinned, zipped bool) (rows int64, err error) {
	data, err := openRows(r, obj, zipped, &r.zip, f.head)
	if err != nil {
		return 0, err
	}
	defer data.close(&err)
	if data.rows >= 0 {
		return data.rows, nil
	}
	if err := data.seek(0, -1); err != nil {
		return 0, err
	}
	for {
		if _, ok, err := data.next(); err != nil || !ok {
			return data.at, err
		}
	}
}
