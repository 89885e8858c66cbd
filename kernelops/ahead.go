package kernelops

// readAhead is memory to be read soon. Operations prefetch it line by line between their steps,
// so that it comes while they compute: rows of a matrix are many streams at once, which
// the hardware's own prefetching does not keep up with.
type readAhead struct{ left []float32 }

const (
	lineFloats = 16 // float32 of a cache line
	// aheadRows is how far ahead of its use x is fetched: far enough for memory to answer, near enough
	// that it is still in the second cache level when its turn comes.
	aheadRows = blockRows / 2
)

// after goes to the rows that are read while those of the block from row i on are computed.
func (a *readAhead) after(x Matrix, i int) {
	a.left = nil
	if from := i + aheadRows; from < x.Rows && x.Stride-x.Cols < lineFloats {
		a.left = x.RowRange(from, min(from+blockRows, x.Rows)).Data
	}
}

// take takes n lines, or what is left, and returns where they begin and how many bytes they are
// apart. Without any it is one line, over and over, of memory that is in use anyway.
func (a *readAhead) take(n int, otherwise *float32) (next *float32, step int) {
	if len(a.left) == 0 {
		return otherwise, 0
	}
	next = &a.left[0]
	a.left = a.left[min(n*lineFloats, len(a.left)):]
	return next, 4 * lineFloats
}
