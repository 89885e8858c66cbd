package dataset

import (
	"errors"

	"github.com/gram-compute/gram/protocol"
)

// rowTables are the tables that hold the records of an object, a row each.
type rowTables struct{ data, labels, ids *rowStream } // labels and ids are nil where there are none

// tableRow is a record in these tables.
type tableRow struct{ data, label, id []byte }

// match verifies that the data have the rows that the manifest counts, and a label and an id, one value, for each. A
// packed table that declares no number of rows is taken to have those rows; its end is verified when it is read.
func (t rowTables) match() error {
	if t.data.rows < 0 {
		t.data.rows = t.data.obj.obj.Rows
	}
	if err := t.data.counted(t.data.rows); err != nil {
		return err
	}
	if err := t.labels.matches(t.data, "labels"); err != nil {
		return err
	}
	return t.ids.matches(t.data, "ids")
}

// matches verifies that the stream, if there is one, has one value for each row of data.
func (s *rowStream) matches(data *rowStream, what string) error {
	switch {
	case s == nil:
		return nil
	case s.width != 1:
		return headFault(s.obj, protocol.CodeBadRecord, "%s must be one value a row, not %d", what, s.width)
	case s.rows < 0:
		s.rows = data.rows
	case s.rows != data.rows:
		return headFault(s.obj, protocol.CodeBadRecord, "%d %s for the %d rows of %s", s.rows, what, data.rows,
			data.obj.obj.Key)
	}
	return nil
}

// seek goes to the row first of each table.
func (t rowTables) seek(first, last int64) error {
	for _, s := range []*rowStream{t.data, t.labels, t.ids} {
		if s == nil {
			continue
		}
		if err := s.seek(first, last); err != nil {
			return err
		}
	}
	return nil
}

// next returns the next row of each table, valid until the call after it; false at the end.
func (t rowTables) next() (row tableRow, ok bool, err error) {
	if row.data, ok, err = t.data.next(); err != nil || !ok {
		return row, false, err
	}
	for _, c := range []struct {
		table *rowStream
		row   *[]byte
	}{{t.labels, &row.label}, {t.ids, &row.id}} {
		if c.table == nil {
			continue
		}
		if *c.row, ok, err = c.table.next(); err != nil || !ok {
			return row, false, err
		}
	}
	return row, true, nil
}

// finish verifies the ends of the tables.
func (t rowTables) finish() error {
	return errors.Join(t.data.finish(), t.labels.finish(), t.ids.finish())
}
