package process

import "syscall"

// attributes: should the owner die without a word, the kernel asks its children to end.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
