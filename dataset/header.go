package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// compareHeaders refuses objects whose headers give other names to the columns that go by their position: a table whose
// files have their columns in another order would be read wrong in silence. A header that cannot be read is left to the
// read of its records, which compares digests and so tells damage from a fault.
func (m *Manifest) compareHeaders(ctx context.Context, store objstore.Store, prefix string, in protocol.Input) error {
	format, ok := newFormat(&in).(lineFormat)
	if !ok || !in.Header || len(m.Objects) == 1 {
		return nil
	}
	src := &Source{store: store, prefix: prefix, manifest: *m, input: in, format: format}
	names := func(i int) ([]headerName, error) {
		if m.Objects[i].Size == 0 {
			return nil, nil
		}
		all, err := format.headerNames(&shardReader{src: src, ctx: ctx}, i, false)
		return byPosition(&in, all), err
	}
	var first []headerName
	at, err := 0, error(nil)
	for ; at < len(m.Objects) && first == nil; at++ {
		if first, err = names(at); err != nil {
			return err
		}
	}
	differs := make([]bool, len(m.Objects))
	if err := eachObject(at, len(m.Objects), func(i int) error {
		other, err := names(i)
		differs[i] = other != nil && compareNames("", "", first, other) != nil
		return err
	}); err != nil {
		return err
	}
	if i := slices.Index(differs, true); i >= 0 {
		return format.confirm(&shardReader{src: src, ctx: ctx}, at-1, i)
	}
	return nil
}

// confirm reads two headers that differ again, and compares the bytes of their objects with their digests: what was
// damaged in the store or on the way says nothing of the header.
func (f lineFormat) confirm(r *shardReader, first, other int) error {
	keys := r.src.manifest.Objects
	want, err := f.headerNames(r, first, true)
	if err != nil {
		return err
	}
	have, err := f.headerNames(r, other, true)
	if err != nil {
		return err
	}
	in := f.input
	if err := compareNames(keys[first].Key, keys[other].Key, byPosition(in, want), byPosition(in, have)); err != nil {
		return err
	}
	return protocol.TaskFault(protocol.CodeInputDamaged, "its header, or that of %q, reads differently each time",
		keys[first].Key).In(keys[other].Key).WithHint("Check the store and the way to it; the task is tried again")
}

// headerName is a column that goes by its position, and what the header calls it.
type headerName struct {
	column int // of the object, from 1
	name   string
}

// headerNames reads the head of an object; all of it, to compare it with its digest, if whole. It returns nil where
// there is no line, or none that can be taken.
func (f lineFormat) headerNames(r *shardReader, object int, whole bool) (found [][]byte, err error) {
	piece := Piece{Object: object, End: r.src.manifest.Objects[object].Size}
	obj, zipped, err := r.src.object(piece)
	if err != nil {
		return nil, err
	}
	verify := func(err error) error { return err }
	if whole {
		if verify, err = r.src.prepare(r.ctx, &obj, piece); err != nil {
			return nil, err
		}
	}
	names, err := f.namesOf(r, obj, zipped)
	return names, verify(err)
}

func (f lineFormat) namesOf(r *shardReader, obj pinned, zipped bool) ([][]byte, error) {
	stored := newPieceReader(r.ctx, obj, 0, min(obj.obj.Size, firstTail))
	defer stored.Close()
	var in io.Reader = stored
	end := int64(1)
	if zipped {
		if err := r.zip.reset(obj.obj, stored); err != nil {
			return nil, beyondRecords(err)
		}
		in, end = &r.zip, math.MaxInt64
	}
	parser := f.parser(f.input, nil)
	p := &linePiece{shardReader: r, obj: obj, parser: parser,
		lines: newLines(in, make([]byte, 4<<10), 0, end, int(f.input.MaxRecordBytes))}
	p.lines.quoted = f.input.Multiline
	if err := p.header(p.lines); err != nil {
		return nil, beyondRecords(err)
	}
	if named, ok := parser.(headerParser); ok {
		return named.headerNames(), nil
	}
	return nil, nil
}

// headerParser is a lineParser of a format with headers.
type headerParser interface {
	// headerNames returns the names that header has kept; nil where it met no line.
	headerNames() [][]byte
}

// beyondRecords drops a fault of an object's own bytes: the read of its records meets it again.
func beyondRecords(err error) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) {
		switch fault.Code {
		case protocol.CodeBadRecord, protocol.CodeSpecInvalid, protocol.CodeInputDamaged:
			return nil
		}
	}
	return err
}

// byPosition picks the columns that the spec does not find by name: those it numbers and, where it lists no features,
// all others of a table of numbers.
func byPosition(in *protocol.Input, names [][]byte) []headerName {
	if names == nil {
		return nil
	}
	picked := []headerName{}
	used := make([]bool, len(names))
	for _, c := range in.Columns() {
		i, err := columnOf(c, names)
		if err != nil || i < 0 || i >= len(names) {
			continue
		}
		if used[i] = true; c.Name == "" {
			picked = append(picked, headerName{i + 1, string(names[i])})
		}
	}
	if in.Format != "csv" || len(in.Features) > 0 || !in.Text.IsZero() {
		return picked
	}
	for i, name := range names {
		if !used[i] {
			picked = append(picked, headerName{i + 1, string(name)})
		}
	}
	return picked
}

// compareNames finds the first column that goes by another name in the object key than in the object first.
func compareNames(first, key string, want, have []headerName) error {
	for i := range min(len(want), len(have)) {
		if w, h := want[i], have[i]; w.name != h.name {
			return headersDiffer(key, fmt.Sprintf("its header names column %d %.80q, and that of %q names column %d %.80q",
				h.column, h.name, first, w.column, w.name))
		}
	}
	if len(want) != len(have) {
		return headersDiffer(key, fmt.Sprintf("its header names %d columns that go by position, and that of %q names %d",
			len(have), first, len(want)))
	}
	return nil
}

func headersDiffer(key, says string) error {
	return inputFault(protocol.CodeSpecInvalid, key, nil, says,
		"Name the columns in spec.input.features, which finds them in each object; or correct the header").
		WithOffset(0).At(1, 0)
}
