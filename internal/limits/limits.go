// Package limits runs the loops that bound a kernel: fused multiply-adds and products of bytes on registers, and reads
// and writes of memory that do nothing else.
package limits

// Assembly cannot be preempted: a call takes about a tenth of a millisecond.
const (
	peakSteps = 50_000
	peakCalls = 100
	pass      = 1 << 17 // words a call
)

// MultiplyAdd is a loop of FMAs on registers.
type MultiplyAdd struct {
	Set  string // the kernel set whose instructions it uses
	loop func(n int, x, y float32, sums *[16]float32)
	flop int // a step
}

// MultiplyAdds returns the loops that this CPU runs, as kernelops judges it; none where no loop is written.
func MultiplyAdds() []MultiplyAdd { return multiplyAdds() }

// Run runs the loop for some milliseconds.
func (m MultiplyAdd) Run() {
	for range peakCalls {
		var sums [16]float32
		m.loop(peakSteps, 1e-7, 1, &sums)
	}
}

// Flop is the number of multiplications and additions of one Run.
func (m MultiplyAdd) Flop() float64 { return peakCalls * peakSteps * float64(m.flop) }

// MultiplyBytes is a loop of products of bytes on registers.
type MultiplyBytes struct {
	loop func(n int, x, y uint32, sums *[16]int32)
	ops  int // a step
}

// Bytes returns the loop of products of bytes, and false where this CPU has no instruction for them.
func Bytes() (MultiplyBytes, bool) {
	m := multiplyBytes()
	return m, m.loop != nil
}

// Run runs the loop for some milliseconds.
func (m MultiplyBytes) Run() {
	for range peakCalls {
		var sums [16]int32
		m.loop(peakSteps, 1, 1, &sums)
	}
}

// Ops is the number of multiplications and additions of one Run.
func (m MultiplyBytes) Ops() float64 { return peakCalls * peakSteps * float64(m.ops) }

// Bandwidth has the widest loops over memory of this CPU; a field is nil where no loop is written.
type Bandwidth struct {
	read          func(p []uint64, words *[8]uint64)
	store, stream func(p []uint64, word uint64)
}

// Widest returns the loops of the best kernel set.
func Widest() Bandwidth { return widest() }

// Known reports whether there are loops for this CPU.
func (b Bandwidth) Known() bool { return b.read != nil }

// Whole is the number of leading words that Read, Store and Stream pass over: whole calls alone.
func Whole(words []uint64) int { return len(words) / pass * pass }

// Read loads the words once.
func (b Bandwidth) Read(words []uint64) {
	var xor [8]uint64
	for at := 0; at < Whole(words); at += pass {
		b.read(words[at:at+pass], &xor)
	}
}

// Store sets the words by plain stores, for which the CPU reads each line first.
func (b Bandwidth) Store(words []uint64, word uint64) { each(words, word, b.store) }

// Stream sets the words past the caches. The first is aligned to 64 bytes, as those of Allocate are.
func (b Bandwidth) Stream(words []uint64, word uint64) { each(words, word, b.stream) }

func each(words []uint64, word uint64, set func([]uint64, uint64)) {
	for at := 0; at < Whole(words); at += pass {
		set(words[at:at+pass], word)
	}
}
