package jobs

import (
	"slices"
)

// Fields goes through the fields of a stored type in one of two directions: it writes them into arrays, or reads them
// from arrays. So a type lists its fields once:
//
//	func (m *moments) Fields(f *jobs.Fields) {
//		jobs.List(f, "weight", &m.weight)
//		f.Dim("mean", 1, &m.width)
//		jobs.List(f, "mean", &m.mean, len(m.weight), m.width)
//	}
//
// Reading ends at the first field that is missing, malformed or refused, so a field may depend on those before it. What
// is written is only looked at: several goroutines may write a value at once.
type Fields struct {
	arrays  Arrays
	reading bool
}

// Stored is a type that arrays can hold.
type Stored interface {
	// Fields lists the fields, for both directions. What is more than a list is done where f.Reading() says so.
	Fields(f *Fields)
}

// FieldsFunc is a list of fields without a type of its own.
type FieldsFunc func(f *Fields)

// Fields calls list.
func (list FieldsFunc) Fields(f *Fields) { list(f) }

// ArraysOf writes the fields of s: one set of arrays per content. They share its memory, which must not change
// afterwards.
func ArraysOf(s Stored) Arrays {
	a := Arrays{}
	Add(a, s)
	return a
}

// Add writes the fields of s beside what the arrays hold.
func Add(a Arrays, s Stored) { s.Fields(&Fields{arrays: a}) }

// Read fills s with the fields in a, in time and memory linear in their bytes, and returns it. It shares the arrays'
// memory, which must not be written to. Errors are *protocol.Fault of CodeCorrupt.
func Read[S Stored](a Arrays, s S) (read S, err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case refusal:
			err = cause.err
		default:
			panic(cause)
		}
	}()
	s.Fields(&Fields{arrays: a, reading: true})
	return s, nil
}

// refusal ends a reading: Fields panics with it, and Read recovers.
type refusal struct{ err error }

// must ends the reading with an error.
func must(err error) {
	if err != nil {
		panic(refusal{err})
	}
}

// Reading reports the direction: whether fields are read, and not written.
func (f *Fields) Reading() bool { return f.reading }

// Require refuses what was read unless it holds. Nothing is refused that is written.
func (f *Fields) Require(holds bool, format string, args ...any) {
	if f.reading && !holds {
		must(Malformed(format, args...))
	}
}

// Check refuses what was read for which check returns an error.
func (f *Fields) Check(check func() error) {
	if f.reading {
		must(check())
	}
}

// Kind is the kind of a model, and the version of its layout.
func (f *Fields) Kind(kind string, version int32) {
	if f.reading {
		must(f.arrays.CheckKind(kind, version))
		return
	}
	f.arrays.PutKind(kind, version)
}

// List is an array of the given shape; without a shape it has one dimension. One dimension may be -1: it is as long as
// the other ones leave it.
func List[T Element](f *Fields, name string, list *[]T, shape ...int) {
	if !f.reading {
		Put(f.arrays, name, *list, spanned(shape, len(*list))...)
		return
	}
	var err error
	*list, err = Get[T](f.arrays, name, shape...)
	must(err)
}

// spanned is a shape with the length of a dimension of -1, for as many elements.
func spanned(shape []int, elements int) []int {
	open, others := -1, 1
	for i, size := range shape {
		if size < 0 {
			open = i
			continue
		}
		others *= size
	}
	if open < 0 {
		return shape
	}
	shape = slices.Clone(shape)
	shape[open] = elements / max(1, others)
	return shape
}

// Optional is a List that is left out where it is nil; read, nil is what was left out.
func Optional[T Element](f *Fields, name string, list *[]T, shape ...int) {
	if f.Has(name, *list != nil) {
		List(f, name, list, shape...)
	} else if f.reading {
		*list = nil
	}
}

// Has reports whether the array of a name is there: of what is read, by the arrays; of what is written, as given.
func (f *Fields) Has(name string, given bool) bool {
	if !f.reading {
		return given
	}
	_, ok := f.arrays[name]
	return ok
}

// Dim is a dimension of an array that is yet to come: read, it is set by the array.
func (f *Fields) Dim(name string, dimension int, size *int) {
	if array := f.arrays[name]; f.reading && dimension < len(array.Shape) {
		*size = array.Shape[dimension]
	}
}

// Scalar is an array without dimensions.
func Scalar[T Element](f *Fields, name string, v *T) {
	if !f.reading {
		PutScalar(f.arrays, name, *v)
		return
	}
	var err error
	*v, err = GetScalar[T](f.arrays, name)
	must(err)
}

// Int is an I64 scalar of at least and at most the given values.
func (f *Fields) Int(name string, v *int, least, most int) {
	wide := int64(*v)
	Scalar(f, name, &wide)
	f.Require(int64(least) <= wide && wide <= int64(most), "array %q holds %d, not %d to %d", name, wide, least, most)
	if f.reading {
		*v = int(wide)
	}
}

// Enum is an I32 scalar of at least and at most the given values.
func Enum[T ~int32 | ~int | ~uint8](f *Fields, name string, v *T, first, last T) {
	number := int32(*v)
	Scalar(f, name, &number)
	f.Require(int32(first) <= number && number <= int32(last), "array %q holds %d, not %d to %d",
		name, number, int32(first), int32(last))
	if f.reading {
		*v = T(number)
	}
}

// Flag is a scalar that is 1 or 0.
func Flag[T int32 | uint8](f *Fields, name string, v *bool) {
	var number T
	if *v {
		number = 1
	}
	Scalar(f, name, &number)
	f.Require(number>>1 == 0, "array %q holds %d, not 0 or 1", name, number)
	if f.reading {
		*v = number == 1
	}
}

// Tuple is an array of one dimension that holds a few values.
func Tuple[T Element](f *Fields, name string, values ...*T) {
	list := make([]T, len(values))
	for i, v := range values {
		list[i] = *v
	}
	List(f, name, &list, len(list))
	if !f.reading {
		return
	}
	for i, v := range values {
		*v = list[i]
	}
}

// Text is a string, as its bytes.
func (f *Fields) Text(name string, text *string) {
	if !f.reading {
		f.arrays.PutText(name, *text)
		return
	}
	var err error
	*text, err = f.arrays.Text(name)
	must(err)
}

// Choice is a Text that is one of a few.
func (f *Fields) Choice(name string, text *string, choices ...string) {
	f.Text(name, text)
	f.Require(slices.Contains(choices, *text), "array %q holds %.40q, not one of %q", name, *text, choices)
}

// Named is a Text that is one of a few names, as the index of the name.
func Named[T ~int32 | ~uint8](f *Fields, name string, v *T, names []string) {
	if !f.reading {
		f.arrays.PutText(name, names[*v])
		return
	}
	var text string
	f.Choice(name, &text, names...)
	*v = T(slices.Index(names, text))
}

// Strings is a list of strings.
func (f *Fields) Strings(name string, list *Strings) {
	if !f.reading {
		f.arrays.PutStrings(name, *list)
		return
	}
	var err error
	*list, err = f.arrays.Strings(name)
	must(err)
}

// Make makes the value that a pointer is to point to, where it is read.
func Make[T any](f *Fields, v **T) *T {
	if f.reading {
		*v = new(T)
	}
	return *v
}
