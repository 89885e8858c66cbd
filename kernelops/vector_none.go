//go:build !amd64 || purego

package kernelops

func avx2() *Set { return nil }

func avx512() *Set { return nil }
