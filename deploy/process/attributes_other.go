//go:build !linux

package process

import "syscall"

// attributes has no signal for orphans here.
func attributes(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
