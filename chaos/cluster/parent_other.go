//go:build !linux

package cluster

import "os/exec"

// dieWithParent has no counterpart here: Close alone ends the child.
func dieWithParent(*exec.Cmd) {}
