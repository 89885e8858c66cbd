package jobs

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/protocol"
)

// Arrays are named arrays: a state, a partial, a carry or a model. A nil Arrays
// stands for none. Encode writes them, Decode reads them; Fields lists the
// arrays of a type, and Get and Put read and write one array with its Go type.
type Arrays map[string]Array

// maxNameBytes bounds the name of an array.
const maxNameBytes = 128

// checkName accepts 1 to 128 letters, digits and ". _ - /", so that every reader agrees on the bytes.
func checkName(name string) error {
	if name == "" || len(name) > maxNameBytes {
		return fmt.Errorf("an array name has 1 to %d bytes, not %d", maxNameBytes, len(name))
	}
	for _, c := range []byte(name) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && !(c >= '0' && c <= '9') && c != '.' && c != '_' && c != '-' && c != '/' {
			return fmt.Errorf("an array name holds letters, digits, '.', '_', '-' and '/': %q", name)
		}
	}
	if name == "__metadata__" {
		return fmt.Errorf("the array name %q is reserved by the format", name)
	}
	return nil
}

// Put stores v under name; without a shape it has one dimension. The array shares
// v's memory: v must not change afterwards. A bad name, or a shape
// that v does not fill, is a programming error and panics.
func Put[T Element](a Arrays, name string, v []T, shape ...int) {
	if shape == nil {
		shape = []int{len(v)}
	}
	put(a, name, v, shape)
}

// PutScalar stores v as an array without dimensions.
func PutScalar[T Element](a Arrays, name string, v T) { put(a, name, []T{v}, []int{}) }

func put[T Element](a Arrays, name string, v []T, shape []int) {
	array := Array{DType: dtypeOf[T](), Shape: slices.Clone(shape), Data: bytesOf(v)}
	if err := checkName(name); err != nil {
		panic("jobs: " + err.Error())
	}
	if want, err := shapeBytes(array.DType, shape); err != nil || want != len(array.Data) {
		panic(fmt.Sprintf("jobs: array %q: shape %v does not hold %d elements", name, shape, len(v)))
	}
	a[name] = array
}

// Get returns the elements of an array of the given shape, where -1 stands for any
// dimension; without a shape it must have one dimension. The result may share
// the array's memory and must not be written to. A missing name, another type or
// another shape is a *protocol.Fault of CodeCorrupt.
func Get[T Element](a Arrays, name string, shape ...int) ([]T, error) {
	if shape == nil {
		shape = []int{-1}
	}
	array, err := a.lookup(name, dtypeOf[T](), shape)
	if err != nil {
		return nil, err
	}
	return elementsOf[T](array.Data), nil
}

// GetScalar returns the element of an array without dimensions; errors are those of Get.
func GetScalar[T Element](a Arrays, name string) (T, error) {
	array, err := a.lookup(name, dtypeOf[T](), nil)
	if err != nil {
		var zero T
		return zero, err
	}
	return elementsOf[T](array.Data)[0], nil
}

// PutText stores a string as its bytes.
func (a Arrays) PutText(name, text string) { Put(a, name, []byte(text)) }

// Text returns a string stored by PutText; errors are those of Get.
func (a Arrays) Text(name string) (string, error) {
	text, err := Get[uint8](a, name)
	return string(text), err
}

func (a Arrays) lookup(name string, d DType, shape []int) (Array, error) {
	array, ok := a[name]
	if !ok {
		return Array{}, Malformed("array %q is missing", name)
	}
	if array.DType != d {
		return Array{}, Malformed("array %q holds %s, not %s", name, array.DType, d)
	}
	if len(array.Shape) != len(shape) {
		return Array{}, Malformed("array %q has %d dimensions, not %d", name, len(array.Shape), len(shape))
	}
	for i, dim := range shape {
		if dim >= 0 && dim != array.Shape[i] {
			return Array{}, Malformed("array %q has shape %v, not %v", name, array.Shape, shape)
		}
	}
	if size, err := shapeBytes(d, array.Shape); err != nil || size != len(array.Data) {
		return Array{}, Malformed("array %q has shape %v and %d bytes", name, array.Shape, len(array.Data))
	}
	return array, nil
}

// Malformed is the fault of arrays that are not what they should be.
func Malformed(format string, args ...any) error {
	return protocol.TaskFault(protocol.CodeCorrupt, format, args...)
}

// Strings is a list of byte strings kept as two arrays, "<name>.bytes" (U8) and
// "<name>.offsets" (I64): string i is bytes[offsets[i]:offsets[i+1]].
type Strings struct {
	Bytes   []byte
	Offsets []int64 // Len()+1 of them; nil when empty
}

// StringsOf returns the list of the given strings.
func StringsOf[S string | []byte](list ...S) Strings {
	var s Strings
	for _, text := range list {
		s.Append([]byte(text))
	}
	return s
}

// Len is the number of strings.
func (s Strings) Len() int { return max(0, len(s.Offsets)-1) }

// At returns string i; it shares the list's memory.
func (s Strings) At(i int) []byte { return s.Bytes[s.Offsets[i]:s.Offsets[i+1]] }

// Append adds one string.
func (s *Strings) Append(text []byte) {
	if len(s.Offsets) == 0 {
		s.Offsets = append(s.Offsets, 0)
	}
	s.Bytes = append(s.Bytes, text...)
	s.Offsets = append(s.Offsets, int64(len(s.Bytes)))
}

// List copies the strings out.
func (s Strings) List() []string {
	list := make([]string, s.Len())
	for i := range list {
		list[i] = string(s.At(i))
	}
	return list
}

// StrictlyAscending reports whether the strings are distinct and in byte order.
func (s Strings) StrictlyAscending() bool {
	for i := 1; i < s.Len(); i++ {
		if bytes.Compare(s.At(i-1), s.At(i)) >= 0 {
			return false
		}
	}
	return true
}

// PutStrings stores a list under name.
func (a Arrays) PutStrings(name string, s Strings) {
	if len(s.Offsets) == 0 {
		s.Offsets = []int64{0}
	}
	Put(a, name+".bytes", s.Bytes)
	Put(a, name+".offsets", s.Offsets)
}

// Strings returns a list stored by PutStrings; errors are those of Get.
func (a Arrays) Strings(name string) (Strings, error) {
	text, err := Get[uint8](a, name+".bytes")
	if err != nil {
		return Strings{}, err
	}
	offsets, err := Get[int64](a, name+".offsets")
	if err != nil {
		return Strings{}, err
	}
	if len(offsets) == 0 || offsets[0] != 0 || offsets[len(offsets)-1] != int64(len(text)) {
		return Strings{}, Malformed("array %q does not span %q", name+".offsets", name+".bytes")
	}
	for i := 1; i < len(offsets); i++ {
		if offsets[i] < offsets[i-1] {
			return Strings{}, Malformed("array %q falls at %d", name+".offsets", i)
		}
	}
	return Strings{Bytes: text, Offsets: offsets}, nil
}
