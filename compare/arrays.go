package compare

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// Array is how an array of one model differs from that of the other.
type Array struct {
	Name string `json:"name"`
	Type string `json:"type"` // and shape
	// Says is "the same", "only in the first", "only in the second", or "in the second" and its type and shape; else
	// how many elements differ.
	Says     string `json:"says"`
	Differ   int    `json:"elements_differ"`
	Elements int    `json:"elements"`
	// MaxULP and MeanULP, of floats, count the floats between two elements: the largest count, and the mean over all
	// elements. A NaN and a number are MaxInt64 apart.
	MaxULP  int64   `json:"max_ulp,omitempty"`
	MeanULP float64 `json:"mean_ulp,omitempty"`
	// Largest is the largest difference of two numbers, At its place.
	Largest float64 `json:"largest,omitempty"`
	At      int     `json:"at,omitempty"`
}

// arrays compares two models, by the names of their arrays.
func arrays(a, b jobs.Arrays) []Array {
	names := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(names)
	var found []Array
	for _, name := range slices.Compact(names) {
		found = append(found, array(name, a, b))
	}
	return found
}

func array(name string, a, b jobs.Arrays) Array {
	x, inA := a[name]
	y, inB := b[name]
	one := x
	if !inA {
		one = y
	}
	found := Array{Name: name, Type: fmt.Sprintf("%s %v", one.DType, one.Shape)}
	switch {
	case !inA:
		found.Says = "only in the second"
	case !inB:
		found.Says = "only in the first"
	case x.DType != y.DType || !slices.Equal(x.Shape, y.Shape):
		found.Says = fmt.Sprintf("in the second %s %v", y.DType, y.Shape)
	case bytes.Equal(x.Data, y.Data):
		found.Says, found.Elements = "the same", len(x.Data)/x.DType.Size()
	default:
		found.count(x, y)
	}
	return found
}

// count compares the elements of two arrays of one type and shape.
func (f *Array) count(x, y jobs.Array) {
	size, ulps := x.DType.Size(), 0.0
	f.Elements = len(x.Data) / size
	for i := range f.Elements {
		p, q := x.Data[i*size:(i+1)*size], y.Data[i*size:(i+1)*size]
		if bytes.Equal(p, q) {
			continue
		}
		f.Differ++
		between, difference := apart(x.DType, p, q)
		f.MaxULP = max(f.MaxULP, between)
		ulps += float64(between)
		if f.Differ == 1 || difference > f.Largest {
			f.Largest, f.At = difference, i
		}
	}
	f.MeanULP = ulps / float64(f.Elements)
	f.Says = fmt.Sprintf("%d of %d elements differ", f.Differ, f.Elements)
}

// apart returns how many floats lie between two elements, and how far apart they are.
func apart(d jobs.DType, p, q []byte) (ulps int64, difference float64) {
	switch d {
	case jobs.F64:
		x, y := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(q)
		return floatsBetween(math.Float64frombits(x), math.Float64frombits(y), ordered(int64(x), math.MinInt64),
			ordered(int64(y), math.MinInt64))
	case jobs.F32:
		x, y := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(q)
		return floatsBetween(float64(math.Float32frombits(x)), float64(math.Float32frombits(y)),
			ordered(int64(int32(x)), math.MinInt32), ordered(int64(int32(y)), math.MinInt32))
	}
	return 0, math.Abs(whole(d, p) - whole(d, q))
}

// ordered turns the bits of a float into a number that grows as the float does.
func ordered(bits, least int64) int64 {
	if bits < 0 {
		return least - bits
	}
	return bits
}

func floatsBetween(x, y float64, a, b int64) (ulps int64, difference float64) {
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.MaxInt64, 0
	}
	between := uint64(max(a, b)) - uint64(min(a, b)) // wraps around, and is right
	return int64(min(between, math.MaxInt64)), math.Min(math.Abs(x-y), math.MaxFloat64)
}

// whole is an element of an array of whole numbers.
func whole(d jobs.DType, p []byte) float64 {
	switch d {
	case jobs.I64:
		return float64(int64(binary.LittleEndian.Uint64(p)))
	case jobs.U64:
		return float64(binary.LittleEndian.Uint64(p))
	case jobs.I32:
		return float64(int32(binary.LittleEndian.Uint32(p)))
	case jobs.U32:
		return float64(binary.LittleEndian.Uint32(p))
	}
	return float64(p[0])
}
