//go:build !linux

package measure

// BindLast does nothing: there is no way to ask for a processor here.
func BindLast() (undo func() error, err error) {
	return func() error { return nil }, nil
}
