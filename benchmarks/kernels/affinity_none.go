//go:build !linux

package main

// bindLast does nothing: there is no way to ask for a processor here.
func bindLast() (undo func() error, err error) {
	return func() error { return nil }, nil
}
