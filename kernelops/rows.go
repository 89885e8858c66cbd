package kernelops

// callElements bounds one call of an implementation. Assembly cannot be preempted;
// 2^15 float64 take some ten microseconds from memory, and the call itself a few nanoseconds.
const callElements = 1 << 15

// AddScaled adds a multiple of x to dst, each product rounded before it is added:
//
//	for i := range dst {
//		dst[i] += float64(a * x[i])
//	}
//
// dst and x have the same length; they are the same slice or do not overlap.
func (s *Set) AddScaled(dst, x []float64, a float64) {
	checkRows(dst, x)
	for len(dst) > callElements {
		s.addScaled(dst[:callElements], x[:callElements], a)
		dst, x = dst[callElements:], x[callElements:]
	}
	if len(dst) > 0 {
		s.addScaled(dst, x, a)
	}
}

// Add adds x to dst:
//
//	for i := range dst {
//		dst[i] += x[i]
//	}
//
// dst and x have the same length; they are the same slice or do not overlap.
func (s *Set) Add(dst, x []float64) {
	checkRows(dst, x)
	for len(dst) > callElements {
		s.add(dst[:callElements], x[:callElements])
		dst, x = dst[callElements:], x[callElements:]
	}
	if len(dst) > 0 {
		s.add(dst, x)
	}
}

func addScaledGeneric(dst, x []float64, a float64) {
	for i := range dst {
		dst[i] += float64(a * x[i])
	}
}

func addGeneric(dst, x []float64) {
	for i := range dst {
		dst[i] += x[i]
	}
}

// checkRows panics unless dst and x have one length and are the same or disjoint.
func checkRows[T any](dst, x []T) {
	if len(dst) != len(x) {
		panic("kernelops: rows have different lengths")
	}
	if overlapPartly(dst, x) {
		panic("kernelops: rows overlap")
	}
}

// overlapPartly reports whether x and y, of one length, share memory without being the same.
func overlapPartly[T any](x, y []T) bool {
	return len(x) > 0 && &x[0] != &y[0] && overlap(x, y)
}
