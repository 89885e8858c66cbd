package main

// limit says what bounds a workload.
type limit string

const (
	arithmetic limit = "arithmetic" // fused multiply-adds a second
	bandwidth  limit = "bandwidth"  // bytes read from memory a second
	nothing    limit = ""
	// byteArithmetic is arithmetic, and products of bytes: exact search does most of its work in either.
	byteArithmetic limit = "arithmetic, or products of bytes"
)

// contenders are the loops that nothing can beat.
func (l limit) contenders(e env) []contender {
	switch l {
	case arithmetic:
		return peaks(e.threads)
	case byteArithmetic:
		return append(peaks(e.threads), bytePeaks(e.threads)...)
	case bandwidth:
		return reading("read", e.threads, e.beyondCache())
	}
	return nil
}

// beyondCache is 1 GiB, more than caches hold, and written: pages that were not would all be one page of zeros.
func (e env) beyondCache() []uint64 {
	words := allocate[uint64](e.memory, 1<<30/8)
	for i := range words {
		words[i] = uint64(i)
	}
	return words
}

// Sizes of one call and one run of the limiting loops. Assembly cannot be preempted:
// a call takes about a tenth of a millisecond.
const (
	peakSteps = 50_000
	peakCalls = 100
	readWords = 1 << 17 // a call
)

// multiplyAdd is a loop of FMAs on registers, and what a step of it does.
type multiplyAdd struct {
	name string // of the set
	loop func(n int, x, y float32, sums *[16]float32)
	flop int // a step
}

// peaks are contenders that only multiply and add, on each of the threads.
func peaks(threads int) []contender {
	var all []contender
	for _, p := range loops() {
		c := local("peak "+p.name, func() {
			onThreads(threads, func(int) {
				for range peakCalls {
					var sums [16]float32
					p.loop(peakSteps, 1e-7, 1, &sums)
				}
			})
		}, nil)
		c.amount = float64(threads) * peakCalls * peakSteps * float64(p.flop)
		c.unit, c.bound = gflops, true
		all = append(all, c)
	}
	return all
}

// bytePeaks are contenders that only multiply and add bytes, where the CPU does that in one instruction. Their unit is
// another than that of floats, so that nothing is held to it.
func bytePeaks(threads int) []contender {
	loop := byteLoop()
	if loop == nil {
		return nil
	}
	c := local("peak of bytes", func() {
		onThreads(threads, func(int) {
			for range peakCalls {
				var sums [16]int32
				loop(peakSteps, 1, 1, &sums)
			}
		})
	}, nil)
	c.amount = float64(threads) * peakCalls * peakSteps * 12 * 16 * 4 * 2
	c.unit, c.bound = gops, true
	return []contender{c}
}

// reading is a contender that reads words once, in as many parts as threads, but for what
// does not fill a call.
func reading(name string, threads int, words []uint64) []contender {
	read := readLoop()
	if read == nil {
		return nil
	}
	part := len(words) / threads / readWords * readWords
	c := local(name, func() {
		onThreads(threads, func(t int) {
			var xor [8]uint64
			for at := t * part; at < (t+1)*part; at += readWords {
				read(words[at:at+readWords], &xor)
			}
		})
	}, nil)
	c.amount = float64(threads * part * 8)
	c.unit, c.bound = gigabyte, true
	return []contender{c}
}
