package main

import "github.com/gram-compute/gram/internal/limits"

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
	words := limits.Allocate[uint64](e.memory, 1<<30/8)
	for i := range words {
		words[i] = uint64(i)
	}
	return words
}

// peaks are contenders that only multiply and add, on each of the threads.
func peaks(threads int) []contender {
	var all []contender
	for _, p := range limits.MultiplyAdds() {
		c := local("peak "+p.Set, func() { onThreads(threads, func(int) { p.Run() }) }, nil)
		c.amount = float64(threads) * p.Flop()
		c.unit, c.bound = gflops, true
		all = append(all, c)
	}
	return all
}

// bytePeaks are contenders that only multiply and add bytes, where the CPU does that in one instruction. Their unit is
// another than that of floats, so that nothing is held to it.
func bytePeaks(threads int) []contender {
	loop, ok := limits.Bytes()
	if !ok {
		return nil
	}
	c := local("peak of bytes", func() { onThreads(threads, func(int) { loop.Run() }) }, nil)
	c.amount = float64(threads) * loop.Ops()
	c.unit, c.bound = gops, true
	return []contender{c}
}

// reading is a contender that reads words once, in as many parts as threads, but for what
// does not fill a call.
func reading(name string, threads int, words []uint64) []contender {
	loops := limits.Widest()
	if !loops.Known() {
		return nil
	}
	part := limits.Whole(words[:len(words)/threads])
	c := local(name, func() {
		onThreads(threads, func(t int) { loops.Read(words[t*part : (t+1)*part]) })
	}, nil)
	c.amount = float64(threads * part * 8)
	c.unit, c.bound = gigabyte, true
	return []contender{c}
}
