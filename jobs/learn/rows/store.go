package rows

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/protocol"
)

// Arrays of rows: those of their form.
const (
	ArrayDense   = "base.dense"  // F32 [rows, width]
	ArrayBits    = "base.bits"   // U64 [rows, words]
	ArrayIndptr  = "base.indptr" // I64 [rows+1], of sparse rows
	ArrayIndices = "base.indices"
	ArrayValues  = "base.values"
	ArrayTexts   = "base.texts" // strings, UTF-8
)

// Fields lists N rows of any form, of the given width; see Check. It takes time linear in their bytes.
func (r *Rows) Fields(f *jobs.Fields) {
	if f.Reading() {
		r.Form = r.formIn(f)
	}
	switch r.Form {
	case Bits:
		f.Dim(ArrayBits, 1, &r.Words)
		jobs.List(f, ArrayBits, &r.Bits, r.N, r.Words)
	case Sparse:
		r.sparseFields(f)
	case Texts:
		r.textFields(f)
	default:
		jobs.List(f, ArrayDense, &r.Dense, r.N, r.Width)
		f.Check(r.checkNumbers)
	}
}

// formIn is the form that there are arrays of.
func (r *Rows) formIn(f *jobs.Fields) Form {
	switch {
	case f.Has(ArrayBits, false):
		return Bits
	case f.Has(ArrayIndptr, false):
		return Sparse
	case f.Has(ArrayTexts+".bytes", false):
		return Texts
	}
	return Dense
}

func (r *Rows) sparseFields(f *jobs.Fields) {
	s := &r.Sparse
	ends := make([]int64, len(s.Indptr))
	for i, e := range s.Indptr {
		ends[i] = int64(e)
	}
	jobs.List(f, ArrayIndptr, &ends, r.N+1)
	jobs.List(f, ArrayIndices, &s.Indices)
	jobs.List(f, ArrayValues, &s.Values, len(s.Indices))
	if !f.Reading() {
		return
	}
	f.Require(Spans(ends, len(s.Indices)), "the rows of the base do not span their entries")
	s.Width, s.Indptr = r.Width, make([]int, len(ends))
	for i, e := range ends {
		s.Indptr[i] = int(e)
	}
	f.Check(func() error { return finite(s.Values) })
}

func (r *Rows) textFields(f *jobs.Fields) {
	var texts jobs.Strings
	for _, t := range r.Texts {
		texts.Append([]byte(string(t)))
	}
	f.Strings(ArrayTexts, &texts)
	if !f.Reading() {
		return
	}
	f.Require(texts.Len() == r.N, "%d texts of %d records", texts.Len(), r.N)
	for i := range texts.Len() {
		r.Texts = append(r.Texts, []rune(string(texts.At(i))))
	}
}

// Spans reports whether ends rise from 0 to n.
func Spans(ends []int64, n int) bool {
	return len(ends) > 0 && ends[0] == 0 && ends[len(ends)-1] == int64(n) && slices.IsSorted(ends)
}

func finite(values []float32) error {
	for i, v := range values {
		if v-v != 0 {
			return jobs.Malformed("value %d of the base is %v", i, v)
		}
	}
	return nil
}

// Check refuses rows that are not of a form and a width; the width of sparse ones and of bits was not known before.
func (r *Rows) Check(form Form, width int) error {
	if r.Form != form {
		return jobs.Malformed("a stored base is of another form than its space")
	}
	if want := New(form, width); r.Words != want.Words || form == Dense && r.Width != width {
		return jobs.Malformed("a stored base of width %d in a space of width %d", r.Width, width)
	}
	r.Width = width
	if form != Sparse {
		return nil
	}
	r.Sparse.Width = width
	for i := range r.N {
		indices, _ := r.Sparse.Row(i)
		for e, j := range indices {
			if j < 0 || int(j) >= width || e > 0 && j <= indices[e-1] {
				return jobs.Malformed("row %d of the base: columns do not ascend below %d", i, width)
			}
		}
	}
	return nil
}

// MaxSparseWidth bounds the memory of a sparse row that is filled up.
const MaxSparseWidth = 4 << 20

// ReadSpace reads the space of a state or a model. One whose sparse rows are too wide to be filled up is a
// *protocol.Fault of CodeInputLimit, which says what does so.
func ReadSpace(f *jobs.Fields, space **features.Space, what string) {
	s := jobs.Make(f, space)
	s.Fields(f)
	f.Check(func() error {
		if !s.Sparse || s.Width <= MaxSparseWidth {
			return nil
		}
		return protocol.InputFault(protocol.CodeInputLimit,
			"sparse vectors of width %d; %s widths up to %d", s.Width, what, MaxSparseWidth).
			WithHint("Choose fewer terms (features.text.max_features), or hash columns before the job.")
	})
}

// Bound is the most that a model may hold.
type Bound struct {
	Most       protocol.ByteSize // 0 for no bound
	What, Hint string            // what it holds, and what to do about too much of it
}

// Check refuses a size beyond the bound.
func (b Bound) Check(size int64) error {
	if b.Most == 0 || size <= int64(b.Most) {
		return nil
	}
	return protocol.InputFault(protocol.CodeStateTooBig,
		"%s %d bytes or more in the model; max_state_bytes is %d", b.What, size, b.Most).WithHint(b.Hint)
}
