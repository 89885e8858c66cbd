//go:build !amd64 || purego

package decimal

// Fastest returns the Read of this CPU, or nil where it has none.
func Fastest() Read { return nil }
