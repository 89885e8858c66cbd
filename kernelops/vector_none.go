//go:build !amd64 || purego

package kernelops

func avx2(supports) *Set { return nil }

func avx512(supports) *Set { return nil }
