package peers

// Word returns the i-th word of a stream: SplitMix64 at a counter, so that the peers'
// process, in another language, makes the same data from a seed (data.py).
func Word(seed, stream, i uint64) uint64 {
	const golden, first, second = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
	z := seed*first + stream*second + (i+1)*golden
	z = (z ^ z>>30) * first
	z = (z ^ z>>27) * second
	return z ^ z>>31
}

// Normals fills x with the first numbers of a stream: about normal, variance 4/3, the sum of a
// word's four 16-bit parts, centered and scaled by a power of two. Every step is exact.
func Normals(x []float32, seed, stream uint64) {
	for i := range x {
		z := Word(seed, stream, uint64(i))
		sum := int32(z&0xFFFF + z>>16&0xFFFF + z>>32&0xFFFF + z>>48)
		x[i] = float32(sum-131070) / (1 << 15)
	}
}

// Columns returns ascending column numbers, filled a row: one in each of as many equal strips.
func Columns(seed, stream uint64, rows, filled, width int) []int32 {
	strip := width / filled
	at := make([]int32, rows*filled)
	for i := range at {
		within := Word(seed, stream, uint64(i)) >> 32 * uint64(strip) >> 32
		at[i] = int32(within) + int32(i%filled*strip)
	}
	return at
}
