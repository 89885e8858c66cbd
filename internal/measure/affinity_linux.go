package measure

import (
	"fmt"
	"syscall"
	"unsafe"
)

// processors is a set of processors as the kernel keeps it: processor i is bit i%64 of word i/64.
type processors [16]uint64

// affinity returns where the calling thread may run.
func affinity() (processors, error) {
	var set processors
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set),
		uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		return set, fmt.Errorf("read where this thread may run: %w", errno)
	}
	return set, nil
}

// setAffinity binds the calling thread, and the processes that it starts.
func setAffinity(set processors) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(set),
		uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		return fmt.Errorf("bind this thread: %w", errno)
	}
	return nil
}

// BindLast binds the calling thread to the last processor that it may use, and
// returns what undoes that.
func BindLast() (undo func() error, err error) {
	all, err := affinity()
	if err != nil {
		return nil, err
	}
	var one processors
	for w, bits := range all {
		for b := range 64 {
			if bits>>b&1 == 1 {
				one = processors{}
				one[w] = 1 << b
			}
		}
	}
	return func() error { return setAffinity(all) }, setAffinity(one)
}
