package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// What reading noticed of spec.input travels beside the partials of the first phase, as skips do, in one array of
// JSON. It is what each leaf found in its own shard, in its first whole pass, and is added up along the tree. It is
// absent where there is nothing to say; phases never see it, and no model depends on it.
const (
	notesPrefix = "reading."
	notesArray  = notesPrefix + "notes"
)

// Bounds of what notes hold.
const (
	maxNotedColumns = 1000
	maxNotedLabels  = 100
	maxLabelBytes   = 4 << 10
	maxBlankLabels  = 20
)

// notes are what was noticed below a node.
type notes struct {
	Records int64        `json:"records,omitempty"` // where records may be passed over: those that were not
	Columns []columnNote `json:"columns,omitempty"` // by column, ascending
	More    int64        `json:"more,omitempty"`    // columns that are left out, beyond maxNotedColumns
	Beyond  int64        `json:"beyond,omitempty"`  // see dataset.Notes
	labelNotes
	Offsets []dataset.Offset `json:"offsets,omitempty"`
	Vectors bool             `json:"vectors,omitempty"` // there were vectors, and Offsets is what was taken off them
}

// columnNote is how values of a column moved, and the moments of the column where they did.
type columnNote struct {
	Column int       `json:"column"`
	Name   string    `json:"name"`
	Moved  int64     `json:"moved"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Equal  [2]string `json:"equal"`
	N      int64     `json:"n"`
	Mean   float64   `json:"mean"`
	M2     float64   `json:"m2"`
}

// passState is how far the first whole pass over a shard has come.
type passState int

const (
	idle passState = iota
	reading
	over
)

// noteTaker takes the notes of a leaf's own shard.
type noteTaker struct {
	own     place
	counts  bool // records
	state   passState
	notes   notes
	columns map[int]*columnNote
	labels  labelTaker
}

func newNoteTaker(own place, counts bool) *noteTaker {
	return &noteTaker{own: own, counts: counts, columns: map[int]*columnNote{}}
}

// begin reports whether notes are taken of a pass over a shard, and forgets an earlier one that was not whole. Of
// passes that nest the outer one counts.
func (t *noteTaker) begin(at place) bool {
	if at != t.own || t.state != idle {
		return false
	}
	*t = *newNoteTaker(t.own, t.counts)
	t.state = reading
	return true
}

// abandon ends a pass that is not whole.
func (t *noteTaker) abandon() {
	if t.state == reading {
		t.state = idle
	}
}

// add takes a block of the pass.
func (t *noteTaker) add(block *dataset.Block) error {
	if len(block.IDs) == 0 {
		return nil
	}
	if t.counts {
		t.notes.Records += int64(len(block.IDs))
	}
	if block.Dense.Width > 0 || block.Sparse.Width > 0 {
		if t.notes.Vectors && !slices.Equal(t.notes.Offsets, block.Subtracted) {
			return offsetFault(block.IDs[0].Object, block.Subtracted, t.notes.Offsets, "the records before it")
		}
		t.notes.Vectors, t.notes.Offsets = true, block.Subtracted
	}
	for _, label := range block.Labels {
		t.labels.add(label)
	}
	if block.Notes == nil {
		return nil
	}
	t.notes.Beyond += block.Notes.Beyond
	for i, m := range blockMoments(block) {
		r := block.Notes.Rounded[i]
		one := columnNote{r.Column, r.Name, r.Moved, r.Low, r.High, r.Equal, m.n, m.mean, m.m2}
		if c := t.columns[r.Column]; c != nil {
			*c = c.plus(one)
		} else {
			t.columns[r.Column] = &one
		}
	}
	return nil
}

// end closes the first whole pass.
func (t *noteTaker) end() {
	t.state = over
	t.notes.labelNotes = t.labels.notes()
	for _, col := range slices.Sorted(maps.Keys(t.columns)) {
		if c := t.columns[col]; c.matters(1e-4) {
			t.notes.append(*c)
		}
	}
	if len(t.notes.Offsets) == 0 {
		t.notes.Vectors = false
	}
}

func (n *notes) append(c columnNote) {
	if len(n.Columns) < maxNotedColumns {
		n.Columns = append(n.Columns, c)
	} else {
		n.More++
	}
}

// plus adds the notes to the right of those of a.
func (a notes) plus(b notes) (sum notes, err error) {
	if a.Vectors && b.Vectors && !slices.Equal(a.Offsets, b.Offsets) {
		return notes{}, offsetFault("", b.Offsets, a.Offsets, "other records")
	}
	sum.Records, sum.More, sum.Beyond = a.Records+b.Records, a.More+b.More, a.Beyond+b.Beyond
	if sum.Vectors, sum.Offsets = a.Vectors || b.Vectors, a.Offsets; !a.Vectors {
		sum.Offsets = b.Offsets
	}
	sum.labelNotes = a.labelNotes.plus(b.labelNotes)
	left, right := a.Columns, b.Columns
	for len(left) > 0 || len(right) > 0 {
		switch {
		case len(right) == 0 || len(left) > 0 && left[0].Column < right[0].Column:
			sum.append(left[0])
			left = left[1:]
		case len(left) == 0 || left[0].Column > right[0].Column:
			sum.append(right[0])
			right = right[1:]
		default:
			sum.append(left[0].plus(right[0]))
			left, right = left[1:], right[1:]
		}
	}
	return sum, nil
}

func (n notes) none() bool {
	return n.Records == 0 && len(n.Columns) == 0 && n.Beyond == 0 && !n.Vectors && n.labelNotes.none()
}

// metrics are warnings in plain words, and the columns they speak of.
func (n notes) metrics(passed string) (all []jobs.Metric, err error) {
	var warnings []string
	if passed != "" {
		warnings = append(warnings, passed)
	}
	warnings = append(warnings, n.texts()...)
	var named []columnNote
	for _, c := range n.Columns {
		if c.named() {
			named = append(named, c)
			warnings = append(warnings, c.text())
		}
	}
	if n.More > 0 {
		warnings = append(warnings,
			fmt.Sprintf("rounding to float32 moved values of %d further columns, which were not looked at", n.More))
	}
	if len(named) > 0 {
		m, err := jobs.NewMetric("input.rounded", named)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if len(warnings) == 0 {
		return all, nil
	}
	m, err := jobs.NewMetric(jobs.WarningsMetric, warnings)
	return append(all, m), err
}

// attach returns partial with the array that tells n.
func (n notes) attach(partial jobs.Arrays) (jobs.Arrays, error) {
	if n.none() {
		return partial, nil
	}
	data, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	partial = maps.Clone(partial)
	jobs.Put(partial, notesArray, data)
	return partial, nil
}

// detachNotes is the inverse of attach.
func detachNotes(partial jobs.Arrays) (jobs.Arrays, notes, error) {
	var n notes
	if _, ok := partial[notesArray]; !ok {
		return partial, n, nil
	}
	data, err := jobs.Get[uint8](partial, notesArray)
	if err != nil {
		return nil, n, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	byColumn := func(a, b columnNote) int { return cmp.Compare(a.Column, b.Column) }
	if dec.Decode(&n) != nil || dec.More() || n.Records < 0 || len(n.Columns) > maxNotedColumns ||
		!slices.IsSortedFunc(n.Columns, byColumn) {
		return nil, notes{}, jobs.Malformed("array %q does not hold what reading noticed", notesArray)
	}
	partial = maps.Clone(partial)
	delete(partial, notesArray)
	return partial, n, nil
}
