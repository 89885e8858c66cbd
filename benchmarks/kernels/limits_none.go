//go:build !amd64 || purego

package main

// Other machines have no loop yet: their goals against a limit are not measured.
func loops() []multiplyAdd { return nil }

func readLoop() func(p []uint64, words *[8]uint64) { return nil }

func byteLoop() func(n int, x, y uint32, sums *[16]int32) { return nil }
