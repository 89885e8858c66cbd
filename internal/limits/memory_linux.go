package limits

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// Memory holds the data of a workload, on huge pages where the kernel grants them: NumPy asks
// for them too, and the page size alone moves some rates by a tenth.
type Memory struct{ mapped [][]byte }

// Allocate returns n elements of zero, valid until Free. They begin at a page.
func Allocate[T float32 | uint64](m *Memory, n int) []T {
	size := n * int(unsafe.Sizeof(T(0)))
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("map %d bytes: %v", size, err)) // as make does, if there is no memory
	}
	_ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) // a wish: kernels may be built without
	m.mapped = append(m.mapped, b)
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// Free gives the memory back.
func (m *Memory) Free() error {
	var errs []error
	for _, b := range m.mapped {
		errs = append(errs, syscall.Munmap(b))
	}
	m.mapped = nil
	return errors.Join(errs...)
}
