//go:build !linux

package nemesis

import "errors"

func (n *Nemesis) fillScratch(Fault) (func() error, error) {
	return nil, errors.New("a file system of its own takes Linux")
}
