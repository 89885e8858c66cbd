package process

import "syscall"

// attributes: should the owner die without a word, the kernel sends its children the signal.
func attributes(orphaned syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: orphaned}
}
