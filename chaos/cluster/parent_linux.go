package cluster

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the child when the runner ends in a way that runs no cleanup.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
