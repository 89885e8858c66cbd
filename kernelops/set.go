// Package kernelops says what each vector operation means, in Go, and which
// implementation of it this CPU runs.
package kernelops

// Set is one implementation of every operation. It is a value: pick it once with
// Best or ByName and pass it on.
type Set struct {
	Name string
}
