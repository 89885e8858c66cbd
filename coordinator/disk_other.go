//go:build !unix

package coordinator

import "math"

// freeSpace is not known here: it never runs out.
func freeSpace(string) (space, error) { return space{free: math.MaxUint64, size: math.MaxUint64}, nil }
