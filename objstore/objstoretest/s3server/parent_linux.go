package s3server

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the child when the test process ends in a
// way that runs no cleanup.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
