//go:build !amd64 || purego

package kernelops

func byteSetsForTests() map[string]*byteSet { return nil }
