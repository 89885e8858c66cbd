package dataset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// Identity names a record permanently: splits, samples, shuffles and ties go by it. ByID, ByRow and ByPlace make it,
// and Way tells which of them did. The records of a data set are all named in one way (WayOf).
type Identity struct {
	Object string
	Offset int64
}

// ByID names a record by the id that the data give it.
func ByID(id string) Identity { return Identity{Object: id, Offset: idOffset} }

// ByRow names a record by its row, counted from 0 over all objects of the data set in the order of the manifest.
func ByRow(row int64) Identity { return Identity{Offset: row} }

// ByPlace names a record by its object and by its first byte in the decoded stream.
func ByPlace(object string, offset int64) Identity { return Identity{Object: object, Offset: offset} }

// idOffset marks an Identity as an id: no place has it.
const idOffset = -1

// Way is what records are named by.
type Way int

// The ways. Where several are possible, the last of them is taken.
const (
	Place Way = iota // object and offset
	Row
	ID
)

// WayOf is how the records of an input are named: by ids where the spec has them, else by rows where the format counts
// them, else by places.
func WayOf(in *protocol.Input) Way {
	switch {
	case in.HasIDs():
		return ID
	case CountsRows(in.Format):
		return Row
	}
	return Place
}

// Way is what the record is named by.
func (id Identity) Way() Way {
	switch {
	case id.Offset == idOffset:
		return ID
	case id.Object == "":
		return Row
	}
	return Place
}

// Compare is a total order: places by object and offset, rows by number, ids by length and then by their bytes, so that
// whole numbers come in numeric order. Of identities of different ways, places come first and ids last.
func (id Identity) Compare(other Identity) int {
	way := id.Way()
	if c := cmp.Compare(way, other.Way()); c != 0 {
		return c
	}
	if way == ID {
		if c := cmp.Compare(len(id.Object), len(other.Object)); c != 0 {
			return c
		}
	}
	if c := strings.Compare(id.Object, other.Object); c != 0 {
		return c
	}
	return cmp.Compare(id.Offset, other.Offset)
}

// CompareIDs is the order of ids, as in Compare: by length, then by bytes.
func CompareIDs(a, b []byte) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return bytes.Compare(a, b)
}

// String names the record briefly.
func (id Identity) String() string {
	switch id.Way() {
	case ID:
		return fmt.Sprintf("id %q", id.Object)
	case Row:
		return fmt.Sprintf("row %d", id.Offset)
	}
	return fmt.Sprintf("%q at %d", id.Object, id.Offset)
}

// Fault returns a fault of the record: BAD_RECORD.
func (id Identity) Fault(format string, args ...any) *protocol.Fault {
	fault := protocol.InputFault(protocol.CodeBadRecord, format, args...)
	if id.Way() == Place {
		return fault.In(id.Object).WithOffset(id.Offset)
	}
	return fault.Of(id.recordName())
}

// recordName is what a fault calls a record that is not named by its place.
func (id Identity) recordName() protocol.Record {
	if id.Way() == ID {
		return protocol.Record{ID: id.Object}
	}
	return protocol.Record{Row: id.Offset, Counted: true}
}

// OfRecord is the identity that a fault names in place of a place; false where it names none.
func OfRecord(r protocol.Record) (Identity, bool) {
	switch {
	case r.ID != "":
		return ByID(r.ID), true
	case r.Counted:
		return ByRow(r.Row), true
	}
	return Identity{}, false
}

// identityJSON is an identity other than an id.
type identityJSON struct {
	Object string `json:"Object,omitempty"`
	Offset int64  `json:"Offset"`
	Row    *int64 `json:"Row,omitempty"`
}

// MarshalJSON writes an id as a string, a row as {"Row": n}, and a place as {"Object": key, "Offset": n}.
func (id Identity) MarshalJSON() ([]byte, error) {
	switch id.Way() {
	case ID:
		return json.Marshal(id.Object)
	case Row:
		return json.Marshal(struct{ Row int64 }{id.Offset})
	}
	return json.Marshal(struct {
		Object string
		Offset int64
	}{id.Object, id.Offset})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (id *Identity) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		id.Offset = idOffset
		return json.Unmarshal(data, &id.Object)
	}
	var v identityJSON
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	switch {
	case v.Row != nil && (v.Object != "" || v.Offset != 0 || *v.Row < 0), v.Offset < 0:
		return fmt.Errorf("%.80q does not name a record", data)
	case v.Row != nil:
		*id = ByRow(*v.Row)
	default:
		*id = ByPlace(v.Object, v.Offset)
	}
	return nil
}

// Draws gives records their random numbers under a key. It is the only way from an identity to a number. It hashes
// an object's key once in a row of its records, and is not safe for concurrent use.
type Draws struct {
	key    philox.Key
	name   string
	object philox.Object
}

// NewDraws returns the draws of a key.
func NewDraws(key philox.Key) *Draws { return &Draws{key: key, object: key.Object("")} }

// Uint64 returns 64 random bits for a record.
func (d *Draws) Uint64(id Identity) uint64 { return d.of(id).Uint64(id.Offset) }

// Float64 returns a number in [0, 1) with 53 random bits for a record.
func (d *Draws) Float64(id Identity) float64 { return d.of(id).Float64(id.Offset) }

func (d *Draws) of(id Identity) philox.Object {
	if id.Object != d.name {
		d.name, d.object = id.Object, d.key.Object(id.Object)
	}
	return d.object
}

// RowOf is the object that holds a row of the data set, and the row's number in it.
func (m Manifest) RowOf(row int64) (object string, within int64, ok bool) {
	for _, o := range m.Objects {
		if row < o.Rows {
			return o.Key, row, row >= 0
		}
		row -= o.Rows
	}
	return "", 0, false
}

// KeyOf is the key of the object that places call by a name.
func (m Manifest) KeyOf(name, compression string) (key string, ok bool) {
	for _, o := range m.Objects {
		if placeName(o.Key, compression) == name {
			return o.Key, true
		}
	}
	return "", false
}
