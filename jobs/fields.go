package jobs

import (
	"slices"
)

// Fields visits the fields of a stored type and either writes them into arrays or reads them from arrays. A type lists
// its fields once for both:
//
//	func (m *moments) Fields(f *jobs.Fields) {
//		jobs.List(f, "weight", &m.weight)
//		f.Dim("mean", 1, &m.width)
//		jobs.List(f, "mean", &m.mean, len(m.weight), m.width)
//	}
//
// Reading ends at the first field that is missing, malformed or rejected, so a field may depend on those before it.
// Writing does not change the value, so several goroutines may write the same value at once.
type Fields struct {
	arrays  Arrays
	reading bool
}

// Stored is a type that can be stored in arrays.
type Stored interface {
	// Fields lists the fields, for writing and for reading. Any other change of the value, such as an index built from
	// the fields, is made only if f.Reading().
	Fields(f *Fields)
}

// FieldsFunc adapts a function that lists fields to Stored.
type FieldsFunc func(f *Fields)

// Fields calls list.
func (list FieldsFunc) Fields(f *Fields) { list(f) }

// ArraysOf returns the fields of s as arrays; equal contents give equal arrays. The arrays share the memory of s, which
// must not change afterwards.
func ArraysOf(s Stored) Arrays {
	a := Arrays{}
	Add(a, s)
	return a
}

// Add adds the fields of s to arrays that may already hold others.
func Add(a Arrays, s Stored) { s.Fields(&Fields{arrays: a}) }

// Read fills s with the fields in a, in time and memory linear in their bytes, and returns s. The result shares the
// arrays' memory, which must not be written to. Errors are *protocol.Fault of CodeCorrupt.
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

// Load reads a new T, as Read does.
func Load[T any, S interface {
	*T
	Stored
}](a Arrays) (S, error) {
	return Read(a, S(new(T)))
}

// refusal ends a reading: Fields panics with it, and Read recovers.
type refusal struct{ err error }

// must ends the reading with an error.
func must(err error) {
	if err != nil {
		panic(refusal{err})
	}
}

// Reading reports whether the fields are being read, rather than written.
func (f *Fields) Reading() bool { return f.reading }

// Require ends a reading with a fault unless holds is true. It does nothing while writing.
func (f *Fields) Require(holds bool, format string, args ...any) {
	if f.reading && !holds {
		must(Malformed(format, args...))
	}
}

// Check ends a reading with the error of check, if it returns one. It does nothing while writing.
func (f *Fields) Check(check func() error) {
	if f.reading {
		must(check())
	}
}

// Kind lists the kind of a model and the version of its layout; reading rejects any other.
func (f *Fields) Kind(kind string, version int32) {
	if f.reading {
		must(f.arrays.CheckKind(kind, version))
		return
	}
	f.arrays.PutKind(kind, version)
}

// List lists an array of the given shape; without a shape it has one dimension. One dimension may be -1: its size then
// follows from the number of elements and the other dimensions.
func List[T Element](f *Fields, name string, list *[]T, shape ...int) {
	if !f.reading {
		Put(f.arrays, name, *list, spanned(shape, len(*list))...)
		return
	}
	var err error
	*list, err = Get[T](f.arrays, name, shape...)
	must(err)
}

// spanned returns shape with a dimension of -1 replaced by its size, given the number of elements.
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

// Optional is a List that is not written if it is nil; reading sets it to nil if the array is missing.
func Optional[T Element](f *Fields, name string, list *[]T, shape ...int) {
	if f.Has(name, *list != nil) {
		List(f, name, list, shape...)
	} else if f.reading {
		*list = nil
	}
}

// Has reports whether an array belongs to the value: while reading, whether the arrays hold that name; while writing,
// it returns given.
func (f *Fields) Has(name string, given bool) bool {
	if !f.reading {
		return given
	}
	_, ok := f.arrays[name]
	return ok
}

// Dim sets size, while reading, to a dimension of an array that is listed later. It does nothing while writing.
func (f *Fields) Dim(name string, dimension int, size *int) {
	if array := f.arrays[name]; f.reading && dimension < len(array.Shape) {
		*size = array.Shape[dimension]
	}
}

// Scalar lists an array without dimensions.
func Scalar[T Element](f *Fields, name string, v *T) {
	if !f.reading {
		PutScalar(f.arrays, name, *v)
		return
	}
	var err error
	*v, err = GetScalar[T](f.arrays, name)
	must(err)
}

// Int lists an I64 scalar between least and most, both included.
func (f *Fields) Int(name string, v *int, least, most int) {
	wide := int64(*v)
	Scalar(f, name, &wide)
	f.Require(int64(least) <= wide && wide <= int64(most), "array %q holds %d, not %d to %d", name, wide, least, most)
	if f.reading {
		*v = int(wide)
	}
}

// Enum lists an I32 scalar between first and last, both included.
func Enum[T ~int32 | ~int | ~uint8](f *Fields, name string, v *T, first, last T) {
	number := int32(*v)
	Scalar(f, name, &number)
	f.Require(int32(first) <= number && number <= int32(last), "array %q holds %d, not %d to %d",
		name, number, int32(first), int32(last))
	if f.reading {
		*v = T(number)
	}
}

// Flag lists a bool as a scalar of type T that is 1 or 0.
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

// Tuple lists several values as one array of one dimension.
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

// Text lists a string as its bytes.
func (f *Fields) Text(name string, text *string) {
	if !f.reading {
		f.arrays.PutText(name, *text)
		return
	}
	var err error
	*text, err = f.arrays.Text(name)
	must(err)
}

// Choice is a Text that is one of choices.
func (f *Fields) Choice(name string, text *string, choices ...string) {
	f.Text(name, text)
	f.Require(slices.Contains(choices, *text), "array %q holds %.40q, not one of %q", name, *text, choices)
}

// Named lists an index into names as the Text of that name.
func Named[T ~int32 | ~uint8](f *Fields, name string, v *T, names []string) {
	if !f.reading {
		f.arrays.PutText(name, names[*v])
		return
	}
	var text string
	f.Choice(name, &text, names...)
	*v = T(slices.Index(names, text))
}

// Strings lists a list of strings.
func (f *Fields) Strings(name string, list *Strings) {
	if !f.reading {
		f.arrays.PutStrings(name, *list)
		return
	}
	var err error
	*list, err = f.arrays.Strings(name)
	must(err)
}

// Make returns *v, which it first sets to a new T while reading.
func Make[T any](f *Fields, v **T) *T {
	if f.reading {
		*v = new(T)
	}
	return *v
}
