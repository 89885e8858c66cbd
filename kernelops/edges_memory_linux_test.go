package kernelops

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// edgeMemory hands out operands, each in pages of its own between two that may not be touched.
type edgeMemory struct {
	t     *testing.T
	where string
	atEnd bool
	next  *rand.Rand
	slots []*edgeSlot
	used  int
}

// edgeSlot is the memory of one operand.
type edgeSlot struct {
	mem      []byte
	from, to int // of the operand
	result   bool
	gap, row int // bytes between rows, bytes of a row; 0 without gaps
	before   []byte
}

const edgePages = 12

// edgeNaN is a NaN as float32, and twice as float64, on a little-endian machine.
const edgeNaN = "\x7f\x7f\xff\xff\x7f\x7f\xff\xff"

// run calls op on fresh operands, checks all that must not change, and returns the results' bytes.
func (m *edgeMemory) run(s *Set, op edgeOp, shape [3]int, atEnd bool) (results [][]byte) {
	m.t.Helper()
	m.used, m.atEnd, m.next = 0, atEnd, rand.New(rand.NewPCG(uint64(shape[0]), uint64(shape[1])))
	op(s, m, shape[0], shape[1], shape[2])
	for i, slot := range m.slots[:m.used] {
		if at := slot.changed(); at >= 0 {
			m.t.Fatalf("%s: changed operand %d at byte %d, which is no result; it has %d to %d", m.where, i, at,
				slot.from, slot.to)
		}
		if slot.result {
			results = append(results, slices.Clone(slot.mem[slot.from:slot.to]))
		}
	}
	return results
}

// changed returns a byte that was changed and is no result, or -1.
func (e *edgeSlot) changed() int {
	if bytes.Equal(e.mem, e.before) {
		return -1
	}
	for at, b := range e.mem {
		if b != e.before[at] && !e.holds(at) {
			return at
		}
	}
	return -1
}

// holds reports whether byte at may be written.
func (e *edgeSlot) holds(at int) bool {
	return e.result && at >= e.from && at < e.to && (e.gap == 0 || (at-e.from)%(e.gap+e.row) < e.row)
}

// take returns n elements, the next operand, in a zone of NaN: float32 and float64 ones.
func take[E any](m *edgeMemory, n int, result bool, fill func(i int) E) []E {
	if m.used == len(m.slots) {
		m.slots = append(m.slots, &edgeSlot{mem: edgePagesOf(m.t)})
	}
	slot := m.slots[m.used]
	m.used++
	size := n * int(unsafe.Sizeof(*new(E)))
	if size > len(slot.mem) {
		m.t.Fatalf("%s: %d bytes do not fit", m.where, size)
	}
	for at := copy(slot.mem, edgeNaN); at < len(slot.mem); at *= 2 {
		copy(slot.mem[at:], slot.mem[:at])
	}
	slot.from, slot.result, slot.gap, slot.row = 0, result, 0, 0
	if m.atEnd {
		slot.from = len(slot.mem) - size
	}
	slot.to = slot.from + size
	v := unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(slot.mem[slot.from:]))), n)
	for i := range v {
		v[i] = fill(i)
	}
	slot.before = append(slot.before[:0], slot.mem...)
	return v[:n:n]
}

func edgePagesOf(t *testing.T) []byte {
	t.Helper()
	page := os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, (edgePages+2)*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	inner := mem[page : (edgePages+1)*page : (edgePages+1)*page]
	for _, fence := range [][]byte{mem[:page], mem[(edgePages+1)*page:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return inner
}

// value is a small number whose products and sums tie.
func (m *edgeMemory) value() float32 {
	return float32(m.next.IntN(5)-2) * (1 + float32(m.next.IntN(9))*0x1p-23)
}

func (m *edgeMemory) float32s(n int) []float32 {
	return take(m, n, false, func(int) float32 { return m.value() })
}

func (m *edgeMemory) float64s(n int) []float64 {
	return take(m, n, false, func(int) float64 { return float64(m.value()) / 3 })
}

func (m *edgeMemory) int32s(n, below int) []int32 {
	return take(m, n, false, func(int) int32 { return int32(m.next.IntN(max(below, 1))) })
}

func (m *edgeMemory) words(n int) []uint64 {
	return take(m, n, false, func(int) uint64 { return m.next.Uint64() })
}

func (m *edgeMemory) results32(n int) []float32 {
	return take(m, n, true, func(int) float32 { return m.value() })
}

func (m *edgeMemory) results64(n int) []float64 {
	return take(m, n, true, func(int) float64 { return float64(m.value()) / 3 })
}

func (m *edgeMemory) resultsInt(n int) []int { return take(m, n, true, func(i int) int { return i }) }

func (m *edgeMemory) resultsInt32(n int) []int32 {
	return take(m, n, true, func(i int) int32 { return int32(i) })
}

// matrix returns rows that lie an odd number of elements apart, NaN between them.
func (m *edgeMemory) matrix(rows, cols int) Matrix { return m.matrixOf(rows, cols, false) }

func (m *edgeMemory) resultMatrix(rows, cols int) Matrix { return m.matrixOf(rows, cols, true) }

func (m *edgeMemory) matrixOf(rows, cols int, result bool) Matrix {
	stride := cols + 1 + cols%2*2
	if stride%2 == 0 {
		stride++
	}
	if rows%3 == 0 {
		stride = cols
	}
	n := 0
	if rows > 0 && cols > 0 {
		n = (rows-1)*stride + cols
	}
	data := take(m, n, result, func(i int) float32 {
		if i%stride >= cols {
			return math.Float32frombits(0xffff7f7f)
		}
		return m.value()
	})
	slot := m.slots[m.used-1]
	slot.gap, slot.row = 4*(stride-cols), 4*cols
	return Matrix{Data: data, Rows: rows, Cols: cols, Stride: stride}
}
