package jobs

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// DType names an element type as the safetensors format does.
type DType string

// The element types that arrays may have.
const (
	F64 DType = "F64"
	F32 DType = "F32"
	I64 DType = "I64"
	I32 DType = "I32"
	U64 DType = "U64"
	U32 DType = "U32"
	U8  DType = "U8"
)

// Size is the number of bytes of one element, 0 for an unknown type.
func (d DType) Size() int {
	switch d {
	case F64, I64, U64:
		return 8
	case F32, I32, U32:
		return 4
	case U8:
		return 1
	}
	return 0
}

// Element is a Go type that an array can hold.
type Element interface {
	float64 | float32 | int64 | int32 | uint64 | uint32 | uint8
}

func dtypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case float64:
		return F64
	case float32:
		return F32
	case int64:
		return I64
	case int32:
		return I32
	case uint64:
		return U64
	case uint32:
		return U32
	}
	return U8
}

// Array is a block of elements, row-major.
type Array struct {
	DType DType
	Shape []int  // empty for a scalar
	Data  []byte // little-endian
}

// Len is the number of elements.
func (a Array) Len() int {
	if size := a.DType.Size(); size > 0 {
		return len(a.Data) / size
	}
	return 0
}

// shapeBytes is the size of an array, or an error where a dimension is negative or
// the size has no int.
func shapeBytes(d DType, shape []int) (int, error) {
	size := d.Size()
	if size == 0 {
		return 0, fmt.Errorf("unknown dtype %q", d)
	}
	empty := false
	for _, dim := range shape {
		switch {
		case dim < 0:
			return 0, fmt.Errorf("negative dimension in shape %v", shape)
		case dim == 0:
			empty = true
		case size > math.MaxInt/dim:
			return 0, fmt.Errorf("shape %v of %s overflows", shape, d)
		default:
			size *= dim
		}
	}
	if empty {
		return 0, nil
	}
	return size, nil
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf returns v as little-endian bytes; on a little-endian machine they share v's memory.
func bytesOf[T Element](v []T) []byte {
	if len(v) == 0 {
		return []byte{}
	}
	if littleEndian {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
	}
	data := make([]byte, 0, len(v)*int(unsafe.Sizeof(v[0])))
	data, err := binary.Append(data, binary.LittleEndian, v)
	if err != nil {
		panic("jobs: " + err.Error()) // not reached: Element has fixed sizes only
	}
	return data
}

// elementsOf returns little-endian data as elements; aligned data on a
// little-endian machine is not copied.
func elementsOf[T Element](data []byte) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	n := len(data) / size
	if n == 0 {
		return []T{}
	}
	first := unsafe.Pointer(unsafe.SliceData(data))
	if littleEndian && uintptr(first)%uintptr(size) == 0 {
		return unsafe.Slice((*T)(first), n)
	}
	v := make([]T, n)
	if _, err := binary.Decode(data, binary.LittleEndian, v); err != nil {
		panic("jobs: " + err.Error()) // not reached: len(data) covers n elements
	}
	return v
}

// Exact reports whether no count of a list is below least, and their sum is exact in float64.
func Exact(counts []int64, least int64) bool {
	sum := int64(0)
	for _, n := range counts {
		if n < least || n > 1<<53-sum {
			return false
		}
		sum += n
	}
	return true
}

// Finite reports whether no value is infinite or NaN.
func Finite[T float32 | float64](values []T) bool {
	for _, v := range values {
		if v-v != 0 {
			return false
		}
	}
	return true
}
