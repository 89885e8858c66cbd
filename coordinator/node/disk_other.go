//go:build !unix

package node

import "math"

// FreeSpace is not known here: it never runs out.
func FreeSpace(string) (Space, error) { return Space{Free: math.MaxUint64, Size: math.MaxUint64}, nil }
