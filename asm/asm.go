// Package asm holds the vector operations in machine words, and nothing else.
//
// Each function is the Go loop in its comment, for one instruction set. It trusts
// its arguments: package kernelops checks lengths, overlap and the CPU once, before it
// calls. The assembly is written by the programs in _gen (avo, BSD licence) and checked
// in; on other architectures, and with the build tag purego, the package is empty.
//
// Assembly cannot be preempted, so one call must stay well below a millisecond;
// kernelops cuts long rows.
package asm

//go:generate go run -C _gen . -family rows -pkg asm -out ../rows_amd64.s -stubs ../rows_amd64.go
